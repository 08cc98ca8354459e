// The schema `doorbuster` in a PostgreSQL database, with a version: carried forward, never back.
#pragma once

#include <span>

#include "store_cluster/pg_connection.hpp"

namespace doorbuster::pg {

// migrations[n] leads from version n to n + 1.
extern const std::span<const char* const> migrations;

// 0: there is none. Throws Failure.
int64_t schema_version(Connection& connection);

// Migrates, one transaction per step; of several processes that start at once one does it and the
// others wait. A schema that is newer than this program is refused and left as it is. Throws Failure.
void prepare(Connection& connection, std::span<const char* const> steps = migrations);

}  // namespace doorbuster::pg
