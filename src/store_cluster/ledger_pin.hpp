// How many partitions the ledger has: written down by whoever comes first, and never changed.
#pragma once

#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

// As pinned; `wanted` if it was not yet.
[[nodiscard]] StoreResult<uint32_t> pin_partitions(pg::Connection& connection, uint32_t wanted);

}  // namespace doorbuster
