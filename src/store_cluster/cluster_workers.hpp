// ClusterWorkers: the order workers of one process, one for each partition of the ledger that it holds.
//
// Partitions are held by lease, each process at most its share: all of them divided by the workers that are
// there, rounded up. One that has more gives the rest back; one that has fewer takes what is free.
//
// No trouble of a store is ever a reason to cancel a purchase: a partition that meets one begins anew, at the
// position that PostgreSQL has, after a second or so, without end. Only three things stop it, and
// that partition alone: another worker has it; the ledger has a record of a later version; the ledger does
// not have the position. The last two are told as errors, and the partition is left to others for a while.
//
// The rate cap is one for all partitions: a batch that was placed lets all of them wait for as long as its
// orders are worth.
//
// Steppable: no uptime of its own; the time of day is asked for with each batch, whatever came before it.
// Thread safety: none, but for the figures.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <random>

#include "orders/worker.hpp"
#include "store_cluster/kafka_ledger.hpp"
#include "store_cluster/postgres_orders.hpp"
#include "store_cluster/postgres_worker_presence.hpp"

namespace doorbuster {

class ClusterWorkers {
public:
    struct Options {
        pg::ConnectionOptions postgres;
        KafkaReader::Options kafka;
        std::function<Instant()> now;  // what orders are dated with: the primary's
        uint64_t partitions = 1;       // as pinned
        PartitionLease::Terms lease;
        uint32_t rate_per_second_max = 5000;
        size_t batch_max = 32'768;
        milliseconds again_max{
            2'000};  // until a partition that met trouble begins anew; at random, up to this
        milliseconds leave_for{30'000};  // one that cannot be read here
        milliseconds idle_wait{10};      // between two looks at a ledger that had nothing new
        // Reads a partition; none: from Kafka. A simulation has its own, and a seed for the waits.
        std::function<StoreResult<std::unique_ptr<LedgerReader>>(uint64_t partition)> open_ledger{};
        std::optional<uint32_t> seed{};
    };

    // `hooks` as OrderWorker's.
    ClusterWorkers(const Options& options, Snowflake& ids, OrderWorker::Hooks hooks = {});

    // Looks after the leases when it is time to, and lets every partition move one batch. Answers when to
    // come again; not later than `uptime`: at once.
    Uptime step(Uptime uptime);

    // Lets the next ones in at once.
    void give_all_back();

    // Any thread.
    struct Figures {
        std::atomic<uint64_t> partitions_held{0}, ordered{0}, cancelled{0}, dead_letters{0};
        std::atomic<uint64_t> lost{0};        // partitions that another worker has taken over
        std::atomic<uint64_t> troubles{0};    // times that a partition had to begin anew
        std::atomic<uint64_t> unreadable{0};  // times that a partition was left to others
    };
    const Figures& figures() const { return figures_; }

private:
    struct Held {
        explicit Held(PartitionLease taken) : lease(std::move(taken)) {}
        PartitionLease lease;
        std::unique_ptr<LedgerReader> ledger;
        std::unique_ptr<PostgresOrders> orders;
        std::unique_ptr<OrderWorker> worker;  // none: it has to begin, at begins_at
        Uptime begins_at{};
        uint64_t ordered = 0, cancelled = 0, dead_letters = 0;  // of the worker, as counted so far
    };

    void look(Uptime uptime);
    void take_free(const PartitionsOffered& offered, uint64_t share, Uptime uptime);
    // Whether there may be more to do at once.
    bool run(uint64_t partition, Held& held, Uptime uptime);
    StoreResult<std::unique_ptr<LedgerReader>> open_ledger(uint64_t partition) const;
    StoreResult<void> begin(uint64_t partition, Held& held);
    void stumble(uint64_t partition, Held& held, const StoreError& error, Uptime uptime);
    void count(Held& held);
    void let_go(uint64_t partition, bool gives_back);

    const Options options_;
    Snowflake& ids_;
    const OrderWorker::Hooks hooks_;
    pg::Connection connection_;  // of the leases

    std::map<uint64_t, Held> held_;         // bound: the partitions
    std::map<uint64_t, Uptime> left_till_;  // partitions that could not be read here
    Uptime looks_at_{}, places_at_{};
    uint64_t placed_last_ = 0;
    std::minstd_rand random_;
    Figures figures_;
};

}  // namespace doorbuster
