// NodeLease: the number under which a node makes order ids, so that no two nodes share one.
//
// A number is given again only when its lease is over and as much time again has passed: PostgreSQL's
// clock may be set forward while the holder's goes on. One that was given back makes no more ids, and waits
// only for what may be on its way of those: a commit whose answer was lost. Its next holder begins behind the
// last id that the records hold (base/snowflake.hpp), so nothing depends on the nodes' clocks.
//
// Thread safety: none.
#pragma once

#include <string>

#include "base/snowflake.hpp"
#include "store_cluster/pg_connection.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster {

class NodeLease {
public:
    struct Terms {
        std::string owner;  // for people: host and process
        milliseconds lasts{60'000};
        uint32_t nodes_max = Snowflake::nodes_max;
    };

    // in_use: every number is taken.
    [[nodiscard]] static StoreResult<NodeLease> take(pg::Connection& connection, Terms terms);

    uint32_t node() const { return node_; }
    // Whether ids may be made with it now.
    bool holds(pg::BootTime now = pg::boot_time()) const { return time_.holds(now); }

    // conflict: it was given to another node: no id may be made with it any more.
    [[nodiscard]] StoreResult<void> renew(pg::Connection& connection);

    // The number is free a minute later: by then PostgreSQL has ended every statement that an id went with.
    // REQUIRES: no id is made with it any more.
    static constexpr milliseconds rests_for{60'000};
    [[nodiscard]] StoreResult<void> give_back(pg::Connection& connection);

private:
    NodeLease(uint32_t node, int64_t generation, Terms terms, pg::LeaseTime time)
        : node_(node), generation_(generation), terms_(std::move(terms)), time_(time) {}

    uint32_t node_;
    int64_t generation_;
    Terms terms_;
    pg::LeaseTime time_;
};

}  // namespace doorbuster
