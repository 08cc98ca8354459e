// NodeNumber: a number of this process's own, leased from PostgreSQL, and the ids that are made with it.
//
// Thread safety: none; keep() on one thread, ids() on another.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "base/snowflake.hpp"
#include "store_cluster/postgres_node_lease.hpp"

namespace doorbuster {

class NodeNumber {
public:
    // Long: while PostgreSQL is away nobody can write an id, and whoever cannot renew for all this time ends.
    static constexpr milliseconds lasts{std::chrono::minutes(10)};
    static constexpr milliseconds renewed_every{std::chrono::seconds(60)};

    // `last_id`: the greatest that the records hold, asked for when whoever had the number before has no more
    // to add to them.
    [[nodiscard]] static StoreResult<NodeNumber> take(pg::Connection& connection, const std::string& owner,
                                                      const std::function<StoreResult<int64_t>()>& last_id) {
        auto lease = NodeLease::take(connection, {.owner = owner, .lasts = lasts});
        if (!lease) return lease.error();
        const auto last = last_id();
        if (!last) return last.error();
        return NodeNumber(*std::move(lease), *last);
    }

    Snowflake& ids() { return *ids_; }
    bool holds() const { return lease_.holds(); }

    // Renews it when it is time to. False: it is lost, and no id may be made any more.
    [[nodiscard]] bool keep(pg::Connection& connection, pg::BootTime now = pg::boot_time()) {
        if (now < renew_at_) return true;
        const auto renewed = lease_.renew(connection);
        if (renewed) {
            renew_at_ = now + renewed_every;
            return true;
        }
        return renewed.error().code != StoreErrc::conflict && lease_.holds(now);
    }

    // REQUIRES: no id is made any more.
    void give_back(pg::Connection& connection) {
        if (const auto given = lease_.give_back(connection); !given)
            log_warn("a node's number will run out by itself", {{"error", given.error().text()}});
    }

private:
    NodeNumber(NodeLease lease, int64_t last_id)
        : lease_(std::move(lease)),
          ids_(std::make_unique<Snowflake>(lease_.node(), last_id)),
          renew_at_(pg::boot_time() + renewed_every) {}

    NodeLease lease_;
    std::unique_ptr<Snowflake> ids_;  // has an address that stays
    pg::BootTime renew_at_;
};

}  // namespace doorbuster
