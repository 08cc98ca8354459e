// Schemas with versions: a database is carried forward, never back.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

struct Schema {
    std::string_view name;                    // for messages: "ledger.db"
    int32_t application_id;                   // tells our files from others
    std::span<const char* const> migrations;  // migrations[n] leads from version n to n + 1
    uint32_t cache_kib = 2048;                // of pages, in memory
    uint32_t log_kib_max = 64 * 1024;         // what the write-ahead log may hold before it is copied
    uint32_t page_bytes = 4096;               // of a new database
};

extern const Schema ledger_schema;
extern const Schema orders_schema;

// Checks that the file is ours and not newer than this program before anything is
// written, then migrates, one transaction per step, and sets the connection up for
// durable writing. Throws Failure.
void prepare(Connection& connection, const Schema& schema);

}  // namespace doorbuster::sqlite
