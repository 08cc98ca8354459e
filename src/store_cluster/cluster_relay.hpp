// Relay: units that PostgreSQL has taken back, on their way into Redis. Where payment takes the unit, also
// those that are sold: their orders give their slots back.
//
// What returns units writes a release row in the same transaction, with the epoch that the stock row showed.
// The relay applies it under exactly that epoch, keyed by the purchase (a restock: by the row), so that it
// may be repeated; a row is marked when Redis has answered. Where the stock row's epoch is newer, the cut
// has counted or will count the units, and the row is marked without asking Redis. Whatever Redis refuses
// stays, and is tried again.
//
// Thread safety: none.
#pragma once

#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/redis_session.hpp"

namespace doorbuster {

class Relay {
public:
    struct Turn {
        size_t applied = 0;   // Redis has answered
        size_t absorbed = 0;  // the epoch is over
        size_t kept = 0;      // not leased, fenced, or no answer
    };
    static constexpr size_t rows_max = 1000;  // of one turn

    explicit Relay(pg::Connection& connection) : connection_(connection) {}

    // Rows that wait, oldest first; those of a sale that is over have nowhere to go, and stand in nobody's
    // way. Only `unavailable` PostgreSQL is an error: a Redis that does not answer keeps its rows.
    [[nodiscard]] StoreResult<Turn> step(const EpochLease& lease, RedisCalls& redis, Instant now);

private:
    pg::Connection& connection_;
};

}  // namespace doorbuster
