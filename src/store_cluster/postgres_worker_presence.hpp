// Which workers there are, so that each knows its share of the partitions. Nothing rests on these rows: who
// may place what is decided by the partitions' leases alone.
#pragma once

#include <vector>

#include "store_cluster/postgres_partition_lease.hpp"

namespace doorbuster {

struct PartitionsOffered {
    uint64_t workers = 1;        // whose time is not over, the asking one included
    std::vector<uint64_t> free;  // those that nobody has
};

// The worker is there for as long as one of its leases lasts.
[[nodiscard]] StoreResult<PartitionsOffered> announce_worker(pg::Connection& connection,
                                                             const PartitionLease::Terms& terms,
                                                             uint64_t partitions);
[[nodiscard]] StoreResult<void> withdraw_worker(pg::Connection& connection, const std::string& owner);

}  // namespace doorbuster
