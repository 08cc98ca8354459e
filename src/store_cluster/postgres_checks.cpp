#include "store_cluster/postgres_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store_cluster/pg_schema.hpp"

namespace doorbuster {

namespace {

constexpr int64_t postgres_version_min = 150'000;

// A session may see less of others' sessions than a monitor; that there is one it always sees.
constexpr std::string_view facts_of_the_server =
    "SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery(), "
    "current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean, "
    "(SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'), "
    "current_setting('synchronous_standby_names'), "
    "(SELECT count(*) FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum')), "
    "current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint, "
    "(SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND "
    "application_name <> current_setting('application_name'))";

constexpr std::string_view nodes_with_a_lease =
    "SELECT greatest(count(*), 1) FROM epoch_leases WHERE expires_at > clock_timestamp()";

// An order slot each where payment takes the unit.
constexpr std::string_view acceptances_to_come =
    "SELECT coalesce(sum(CASE WHEN s.stock_policy <> 'at_payment' THEN i.units_available "
    "WHEN i.orders_max > 0 THEN i.orders_max ELSE 2 * i.units_total END), 0)::bigint "
    "FROM items i JOIN sales s ON s.id = i.sale "
    "WHERE s.state IN ('warming', 'ready', 'open', 'paused')";

}  // namespace

StoreResult<PostgresFacts> read_postgres_facts(pg::Connection& connection) {
    return pg::guarded("looking at PostgreSQL", [&] {
        const pg::Rows rows = connection.run(facts_of_the_server);
        const pg::Row row = rows.front();
        PostgresFacts facts{.version = row.integer(0),
                            .schema = pg::schema_version(connection),
                            .schema_known = static_cast<int64_t>(pg::migrations.size()),
                            .is_in_recovery = row.flag(1),
                            .fsync = row.flag(2),
                            .full_page_writes = row.flag(3),
                            .synchronous_commit = std::string(row.text(4)),
                            .standby_names = std::string(row.text(5)),
                            .standbys = row.integer(6),
                            .connections_max = row.integer(7),
                            .connections_of_others = row.integer(8)};
        if (facts.schema != facts.schema_known) return facts;
        facts.nodes = connection.read_integer(nodes_with_a_lease);
        facts.acceptances_expected = connection.read_integer(acceptances_to_come);
        return facts;
    });
}

WarmUpFindings judge_postgres(const PostgresFacts& facts, size_t connections_per_node) {
    WarmUpFindings found;
    const auto fail = [&](std::string check, std::string what, std::string mend) {
        found.push_back({.check = std::move(check), .what = std::move(what), .mend = std::move(mend)});
    };
    const auto warn = [&](std::string check, std::string what, std::string mend) {
        fail(std::move(check), std::move(what), std::move(mend));
        found.back().severity = Severity::warning;
    };
    if (facts.version < postgres_version_min) {
        fail("postgres.version", fmt::format("PostgreSQL has version {}", facts.version / 10'000),
             fmt::format("install PostgreSQL {} or later", postgres_version_min / 10'000));
    }
    if (facts.is_in_recovery) {
        fail("postgres.recovery", "this PostgreSQL is a standby, or still recovering: nothing can be written",
             "set postgres.url to the primary, or promote this one: `SELECT pg_promote()`");
    }
    if (facts.schema != facts.schema_known) {
        fail("postgres.schema",
             fmt::format("the schema in PostgreSQL has version {}, and this program knows {}", facts.schema,
                         facts.schema_known),
             facts.schema < facts.schema_known
                 ? "restart this server: it carries the schema forward when it starts"
                 : "run the newer doorbuster that wrote it on every node");
    }
    if (!facts.fsync) {
        fail("postgres.fsync", "fsync is off: a power cut loses orders that were committed, or all of them",
             "`ALTER SYSTEM SET fsync = on` and `SELECT pg_reload_conf()`");
    }
    if (!facts.full_page_writes) {
        fail("postgres.full_page_writes",
             "full_page_writes is off: a page that was half written when the power went cannot be mended",
             "`ALTER SYSTEM SET full_page_writes = on` and `SELECT pg_reload_conf()`");
    }
    const std::string& commit = facts.synchronous_commit;
    if (commit == "off" || commit == "local" || commit == "remote_write") {
        warn("postgres.synchronous_commit",
             fmt::format("synchronous_commit is {}: this program's own sessions turn it on, whatever else "
                         "writes here does not",
                         commit),
             "`ALTER SYSTEM SET synchronous_commit = on` and `SELECT pg_reload_conf()`, and look at "
             "ALTER ROLE and ALTER DATABASE");
    }
    if (facts.standby_names.empty()) {
        warn("postgres.standby",
             "no synchronous standby is named: with the disk of this one machine the orders are gone",
             "set up a standby, and `ALTER SYSTEM SET synchronous_standby_names = 'ITS NAME'`");
    } else if (facts.standbys == 0) {
        fail(
            "postgres.standby_away",
            fmt::format("synchronous_standby_names is {} and no such standby is connected: no commit returns",
                        facts.standby_names),
            "start the standby (`SELECT * FROM pg_stat_replication` lists those connected), or take its "
            "name out of synchronous_standby_names");
    }
    const int64_t wanted =
        facts.nodes * static_cast<int64_t>(connections_per_node) + facts.connections_of_others;
    if (wanted > facts.connections_max) {
        fail("postgres.connections",
             fmt::format("{} nodes may open {} connections each and others have {}, and PostgreSQL allows {}",
                         facts.nodes, connections_per_node, facts.connections_of_others,
                         facts.connections_max),
             fmt::format("`ALTER SYSTEM SET max_connections = {}` or more, and restart PostgreSQL; or give "
                         "the nodes fewer",
                         wanted + 10));
    }
    return found;
}

WarmUpFinding postgres_unanswered(const StoreError& error) {
    return {.check = "postgres.reachable",
            .what = "PostgreSQL does not answer: " + error.detail,
            .mend = "start it, or set postgres.url to the primary"};
}

}  // namespace doorbuster
