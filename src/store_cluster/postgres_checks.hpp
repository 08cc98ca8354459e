// What a PostgreSQL must be before a sale is opened on it, looked at and judged.
//
// Failures: what would lose a committed order, or let no order be written. Warnings: that one machine has
// all of it, and settings that this program overrides for itself but not for others.
#pragma once

#include <string>

#include "store/warm_up.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

struct PostgresFacts {
    int64_t version = 0;  // 150004: 15.4
    int64_t schema = 0, schema_known = 0;
    bool is_in_recovery = false;
    bool fsync = true, full_page_writes = true;
    std::string synchronous_commit;  // as set for this role and database; our own sessions demand more
    std::string standby_names;
    int64_t standbys = 0;  // that confirm commits now
    int64_t connections_max = 0, connections_of_others = 0, nodes = 1;
    int64_t acceptances_expected = 0;  // in all sales that are warming or on; 0 where the schema is not ours
};

[[nodiscard]] StoreResult<PostgresFacts> read_postgres_facts(pg::Connection&);

// `connections_per_node`: as many as one process opens at most.
[[nodiscard]] WarmUpFindings judge_postgres(const PostgresFacts&, size_t connections_per_node);

[[nodiscard]] WarmUpFinding postgres_unanswered(const StoreError&);

}  // namespace doorbuster
