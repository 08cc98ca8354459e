#include "store_cluster/pg_schema.hpp"

#include <fmt/format.h>

namespace doorbuster::pg {

namespace {

// Any number that no other user of the database is likely to lock: "door".
constexpr int64_t migration_lock = 0x646f6f72;

}  // namespace

int64_t schema_version(Connection& connection) {
    const Rows table = connection.run("SELECT to_regclass('doorbuster.migrations') IS NOT NULL");
    if (!table.front().flag(0)) return 0;
    return connection.read_integer("SELECT coalesce(max(version), 0)::bigint FROM doorbuster.migrations");
}

void prepare(Connection& connection, std::span<const char* const> steps) {
    const auto newest = static_cast<int64_t>(steps.size());
    for (;;) {
        const int64_t seen = schema_version(connection);
        if (seen > newest) {
            throw Failure(
                StoreErrc::newer_schema,
                fmt::format(
                    "the database has schema version {}, this program knows versions up to {}; run the newer "
                    "doorbuster that wrote it",
                    seen, newest));
        }
        if (seen == newest) return;
        // The lock goes with the transaction, and what it finds then decides: another process may have
        // taken the same step meanwhile.
        const std::string script = fmt::format(
            R"sql(
            BEGIN;
            SELECT pg_advisory_xact_lock({0});
            CREATE SCHEMA IF NOT EXISTS doorbuster;
            CREATE TABLE IF NOT EXISTS doorbuster.migrations(
                version    integer     PRIMARY KEY,
                applied_at timestamptz NOT NULL DEFAULT now()
            );
            DO $step$ BEGIN
                IF (SELECT coalesce(max(version), 0) FROM doorbuster.migrations) = {1} THEN
                    EXECUTE $migration${2}$migration$;
                    INSERT INTO doorbuster.migrations VALUES({1} + 1);
                END IF;
            END $step$;
            COMMIT;
            )sql",
            migration_lock, seen, steps[static_cast<size_t>(seen)]);
        try {
            connection.run_script(script);
        } catch (...) {
            if (!connection.is_broken()) connection.run_script("ROLLBACK");
            throw;
        }
    }
}

}  // namespace doorbuster::pg
