#include "store_cluster/postgres_node_lease.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "store_cluster/pg_contention.hpp"

namespace doorbuster {

using pg::Params;
using pg::Rows;
using pg::Transaction;

StoreResult<NodeLease> NodeLease::take(pg::Connection& connection, Terms terms) {
    CHECK(terms.nodes_max >= 1 && terms.nodes_max <= Snowflake::nodes_max);
    return pg::guarded("taking a node's number", [&] {
        const pg::BootTime asked_at = pg::boot_time();
        Transaction transaction(connection);
        connection.queue("LOCK TABLE node_leases IN SHARE ROW EXCLUSIVE MODE");  // one takes at a time
        // One that was never given, else the one that has been free the longest.
        Rows given = connection.run(
            "INSERT INTO node_leases(node, owner, generation, expires_at) "
            "SELECT n, $1, 1, clock_timestamp() + $2 * interval '1 ms' FROM generate_series(0, $3 - 1) n "
            "WHERE NOT EXISTS (SELECT 1 FROM node_leases WHERE node = n) ORDER BY n LIMIT 1 "
            "RETURNING node, generation",
            Params().add(terms.owner).add(terms.lasts.count()).add(terms.nodes_max));
        if (given.empty()) {
            given = connection.run(
                "UPDATE node_leases SET owner = $1, generation = generation + 1, "
                "expires_at = clock_timestamp() + $2 * interval '1 ms' WHERE node = (SELECT node FROM "
                "node_leases "
                "WHERE node < $3 AND expires_at + $2 * interval '1 ms' <= clock_timestamp() "
                "ORDER BY expires_at LIMIT 1) RETURNING node, generation",
                Params().add(terms.owner).add(terms.lasts.count()).add(terms.nodes_max));
        }
        if (given.empty()) {
            throw pg::Failure(StoreErrc::in_use,
                              fmt::format("all {} node numbers are taken", terms.nodes_max));
        }
        const auto node = static_cast<uint32_t>(given.front().integer(0));
        const int64_t generation = given.front().integer(1);
        transaction.commit();
        const pg::LeaseTime time(asked_at, terms.lasts);
        return NodeLease(node, generation, std::move(terms), time);
    });
}

StoreResult<void> NodeLease::renew(pg::Connection& connection) {
    return pg::guarded("renewing a node's number", [&] {
        const pg::BootTime asked_at = pg::boot_time();
        Transaction transaction(connection);
        const Rows renewed = connection.run(
            "UPDATE node_leases SET expires_at = clock_timestamp() + $3 * interval '1 ms' "
            "WHERE node = $1 AND generation = $2",
            Params().add(node_).add(generation_).add(terms_.lasts.count()));
        if (renewed.changed() != 1)
            throw pg::Failure(StoreErrc::conflict, "another node has this number now");
        transaction.commit();
        time_ = pg::LeaseTime(asked_at, terms_.lasts);
    });
}

StoreResult<void> NodeLease::give_back(pg::Connection& connection) {
    time_ = {};
    return pg::guarded("giving a node's number back", [&] {
        Transaction transaction(connection);
        // So much is left of the time that it is kept from others behind its end.
        connection.run(
            "UPDATE node_leases SET expires_at = least(expires_at, "
            "clock_timestamp() + ($4 - $3) * interval '1 ms') WHERE node = $1 AND generation = $2",
            Params().add(node_).add(generation_).add(terms_.lasts.count()).add(rests_for.count()));
        transaction.commit();
    });
}

}  // namespace doorbuster
