// PartitionLease: which worker places the records of one partition of the ledger.
//
// Each taking has a generation of its own, and the partition's position moves only under the newest:
// a worker that slept through the end of its lease finds no row to move, and stops.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>

#include "store_cluster/pg_lease_time.hpp"
#include "store_cluster/pg_placing.hpp"

namespace doorbuster {

class PartitionLease {
public:
    struct Terms {
        std::string owner;  // for people: host and process
        milliseconds lasts{10'000};
    };

    // Nothing if another worker has the partition and its time is not over.
    [[nodiscard]] static StoreResult<std::optional<PartitionLease>> take(pg::Connection& connection,
                                                                         uint64_t partition, Terms terms);

    // What the worker's PostgresOrders is opened with.
    pg::WorkerPlace place() const { return place_; }
    // Whether records may be placed under it now. Not a promise: the generation is what guards.
    bool holds(pg::BootTime now = pg::boot_time()) const { return time_.holds(now); }

    // conflict: another worker has taken it over.
    [[nodiscard]] StoreResult<void> renew(pg::Connection& connection);
    // Lets the next one in at once.
    [[nodiscard]] StoreResult<void> give_back(pg::Connection& connection);

private:
    PartitionLease(pg::WorkerPlace place, Terms terms, pg::LeaseTime time)
        : place_(place), terms_(std::move(terms)), time_(time) {}

    pg::WorkerPlace place_;
    Terms terms_;
    pg::LeaseTime time_;
};

}  // namespace doorbuster
