// PurchaseChanges: purchases whose view has changed, whichever process changed it, for those who follow them.
//
// Reads the events behind the last ones. Several processes write them, and a lower number may become
// visible behind a higher one: so the last thousand are read again, and those that were seen before are
// passed over. What is missed all the same is seen with the next heartbeat of whoever follows.
//
// Thread safety: none.
#pragma once

#include <set>
#include <vector>

#include "sale/ids.hpp"
#include "store_cluster/pg_pool.hpp"

namespace doorbuster {

class PurchaseChanges {
public:
    static constexpr size_t overlap = 1'000;
    static constexpr size_t events_max = 4'000;  // of one call; the next one has the rest

    explicit PurchaseChanges(pg::Pool& pool) : pool_(pool) {}

    // Since the last call; the first one only finds out where to begin.
    [[nodiscard]] StoreResult<std::vector<PurchaseId>> take();

private:
    pg::Pool& pool_;
    int64_t last_ = -1;       // the greatest that was seen; negative: none yet
    std::set<int64_t> seen_;  // of those that are read again; bound: overlap and events_max
};

}  // namespace doorbuster
