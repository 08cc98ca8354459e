#include "store_cluster/postgres_worker_presence.hpp"

#include "store_cluster/pg_contention.hpp"

namespace doorbuster {

using pg::Params;
using pg::Rows;
using pg::Transaction;

StoreResult<PartitionsOffered> announce_worker(pg::Connection& connection, const PartitionLease::Terms& terms,
                                               uint64_t partitions) {
    return pg::guarded("announcing a worker", [&] {
        Transaction transaction(connection);
        connection.queue(
            "INSERT INTO workers(owner, expires_at) VALUES($1, clock_timestamp() + $2 * interval '1 ms') "
            "ON CONFLICT(owner) DO UPDATE SET expires_at = excluded.expires_at",
            Params().add(terms.owner).add(terms.lasts.count()));
        connection.queue(
            "DELETE FROM workers WHERE owner IN (SELECT owner FROM workers "
            "WHERE expires_at < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED)");
        const size_t counted =
            connection.queue("SELECT count(*) FROM workers WHERE expires_at > clock_timestamp()");
        const size_t listed = connection.queue(
            "SELECT one::bigint FROM generate_series(0, $1::bigint - 1) AS one "
            "LEFT JOIN partition_leases l ON l.partition = one "
            "WHERE l.partition IS NULL OR l.expires_at <= clock_timestamp() ORDER BY one",
            Params().add(partitions));
        const std::vector<Rows> answers = connection.settle();
        PartitionsOffered offered{
            .workers = std::max<uint64_t>(1, static_cast<uint64_t>(answers[counted].front().integer(0))),
            .free = {}};
        for (size_t i = 0; i < answers[listed].size(); ++i) {
            offered.free.push_back(static_cast<uint64_t>(answers[listed][i].integer(0)));
        }
        transaction.commit();
        return offered;
    });
}

StoreResult<void> withdraw_worker(pg::Connection& connection, const std::string& owner) {
    return pg::guarded("withdrawing a worker", [&] {
        Transaction transaction(connection);
        connection.queue("DELETE FROM workers WHERE owner = $1", Params().add(owner));
        transaction.commit();
    });
}

}  // namespace doorbuster
