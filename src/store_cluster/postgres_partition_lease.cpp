#include "store_cluster/postgres_partition_lease.hpp"

#include "store_cluster/pg_contention.hpp"

namespace doorbuster {

using pg::Params;
using pg::Rows;
using pg::Transaction;

StoreResult<std::optional<PartitionLease>> PartitionLease::take(pg::Connection& connection,
                                                                uint64_t partition, Terms terms) {
    return pg::guarded("taking a partition", [&]() -> std::optional<PartitionLease> {
        const pg::BootTime asked_at = pg::boot_time();
        Transaction transaction(connection);
        const Rows taken = connection.run(
            "INSERT INTO partition_leases AS l(partition, owner, generation, expires_at) "
            "VALUES($1, $2, 1, clock_timestamp() + $3 * interval '1 ms') "
            "ON CONFLICT(partition) DO UPDATE SET owner = excluded.owner, generation = l.generation + 1, "
            "expires_at = excluded.expires_at WHERE l.expires_at <= clock_timestamp() RETURNING generation",
            Params().add(partition).add(terms.owner).add(terms.lasts.count()));
        if (taken.empty()) return std::nullopt;
        const pg::WorkerPlace place{partition, static_cast<uint64_t>(taken.front().integer(0))};
        // Waits for a batch of the one before that is about to commit: it landed, or it never will.
        connection.queue(
            "INSERT INTO partition_offsets(partition, position, generation) VALUES($1, 0, $2) "
            "ON CONFLICT(partition) DO UPDATE SET generation = excluded.generation",
            Params().add(partition).add(place.generation));
        transaction.commit();
        const pg::LeaseTime time(asked_at, terms.lasts);
        return PartitionLease(place, std::move(terms), time);
    });
}

StoreResult<void> PartitionLease::renew(pg::Connection& connection) {
    return pg::guarded("renewing a partition's lease", [&] {
        const pg::BootTime asked_at = pg::boot_time();
        Transaction transaction(connection);
        const Rows renewed = connection.run(
            "UPDATE partition_leases SET expires_at = clock_timestamp() + $3 * interval '1 ms' "
            "WHERE partition = $1 AND generation = $2",
            Params().add(place_.partition).add(place_.generation).add(terms_.lasts.count()));
        if (renewed.changed() != 1) {
            throw pg::Failure(StoreErrc::conflict, "another worker has taken the partition over");
        }
        transaction.commit();
        time_ = pg::LeaseTime(asked_at, terms_.lasts);
    });
}

StoreResult<void> PartitionLease::give_back(pg::Connection& connection) {
    time_ = {};
    return pg::guarded("giving a partition back", [&] {
        Transaction transaction(connection);
        connection.queue(
            "UPDATE partition_leases SET expires_at = clock_timestamp() WHERE partition = $1 AND generation "
            "= $2",
            Params().add(place_.partition).add(place_.generation));
        transaction.commit();
    });
}

}  // namespace doorbuster
