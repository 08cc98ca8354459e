// PostgresReplica: orders for their buyers, from a copy of the database that only reads.
//
// A copy may be behind: an order that it does not have is looked for on the primary, so nobody hears "not
// found" for one that is there. What it has may be as old as `behind_max`: a list may lack what was ordered
// since, and an order may still show its state of before. Purchases never come from here.
//
// The primary answers instead where the copy has replayed nothing for `behind_max` (it is behind, or there is
// nothing going on, and the primary has the time), is no copy any more, or does not answer: then it is left
// alone for `away_for`.
//
// Thread safety: none, like every reader.
#pragma once

#include <chrono>
#include <functional>

#include "store_cluster/postgres_orders.hpp"

namespace doorbuster {

class PostgresReplica final : public OrderViews {
public:
    struct Options {
        milliseconds behind_max{5'000};
        milliseconds away_for{5'000};
    };

    // REQUIRES: both pools outlive this.
    PostgresReplica(pg::Pool& replica, pg::Pool& primary, const Options& options)
        : options_(options), replica_(replica), primary_(primary) {}

    StoreResult<std::optional<OrderRecord>> find_order(OrderId) override;
    StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&, std::optional<OrderId> before,
                                                    size_t count_max) override;

private:
    // Whether `read` was done, from a copy that is good enough.
    bool ask_replica(const std::function<bool(OrdersReader&)>& read);

    const Options options_;
    pg::Pool& replica_;
    PostgresOrdersReader primary_;
    std::chrono::steady_clock::time_point asks_again_at_{};
};

}  // namespace doorbuster
