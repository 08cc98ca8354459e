// MemoryTable: rows in memory as a table that SQL reads.
//
// One statement then inserts a whole batch: the trees stay open between its rows, and nothing is bound or
// begun anew for each.
//
// Thread safety: none; it belongs to its connection's thread.
// Lifetime: it outlives its connection.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string_view>

#include "store_sqlite/sqlite.hpp"

namespace doorbuster::sqlite {

class MemoryTable {
public:
    MemoryTable() = default;
    virtual ~MemoryTable() = default;
    MemoryTable(const MemoryTable&) = delete;
    MemoryTable& operator=(const MemoryTable&) = delete;

    // Makes it readable under this name.
    void attach(Connection& connection, const char* name);

    // `CREATE TABLE …`: its columns and their order.
    virtual const char* columns() const = 0;
    virtual size_t size() const = 0;
    // The texts and blobs that are given stay as they are until the statement is over.
    virtual void give(sqlite3_context* to, size_t row, int column) const = 0;

protected:
    static void give_text(sqlite3_context* to, std::string_view text) {
        sqlite3_result_text(to, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }
    static void give_number(sqlite3_context* to, int64_t number) { sqlite3_result_int64(to, number); }
    template <class Bytes>
    static void give_blob(sqlite3_context* to, const Bytes& bytes) {
        sqlite3_result_blob(to, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    }
};

}  // namespace doorbuster::sqlite
