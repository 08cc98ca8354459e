// ClusterBackend: sales in PostgreSQL, books in Redis, the ledger in Kafka, shared by any number of
// processes.
//
// Every process has the books of its boards and a lease on their epochs; beyond that it does what its roles
// say, each on threads of its own:
//   gate      answers buyers
//   worker    makes orders of the ledger's partitions that it holds (cluster_workers)
//   sweeper   brings released units and abandoned takes on (cluster_relay, cluster_sweeper), rebuilds books
//             (cluster_coordinator), and watches the clock and the money when it is its turn (postgres_duty)
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "server/backend.hpp"
#include "server/cluster_places.hpp"
#include "server/cluster_sweeping.hpp"
#include "server/node_number.hpp"
#include "server/step_thread.hpp"
#include "store_cluster/cluster_books.hpp"
#include "store_cluster/cluster_checks.hpp"
#include "store_cluster/cluster_lag.hpp"
#include "store_cluster/cluster_lookup.hpp"
#include "store_cluster/cluster_warm_up.hpp"
#include "store_cluster/cluster_workers.hpp"
#include "store_cluster/lease_keeper.hpp"
#include "store_cluster/postgres_duty.hpp"
#include "store_cluster/postgres_rebuilds.hpp"
#include "store_cluster/postgres_replica.hpp"
#include "store_cluster/primary_clock.hpp"
#include "store_cluster/purchase_changes.hpp"
#include "store_cluster/redis_funnel.hpp"

namespace doorbuster {

class ClusterBackend final : public Backend {
public:
    [[nodiscard]] static OpenedBackend open(const Config& config, Clock& clock, Hooks hooks);
    ~ClusterBackend() override;

    Clock& clock() override { return primary_clock_; }
    Orders& orders() override { return *orders_; }
    Settings& settings() override { return orders_->settings(); }
    Outbox& outbox() override { return orders_->outbox(); }
    AuditStore& audit() override { return orders_->audit(); }
    LedgerReader& ledger() override { return ledger_; }
    StoreResult<std::optional<Instant>> oldest_in_flight() override { return lag_.figures().oldest; }
    Snowflake& ids() override { return node_.ids(); }
    PurchaseDesk& purchases() override { return books_; }
    BookControl& books() override { return books_; }
    OrderWorker* worker() override { return nullptr; }
    OrderTally& tally() override { return tally_; }
    StoreResult<std::vector<Lookups::Readers>> lookup_readers(size_t threads) override;
    StoreResult<audit::AuditDesk::Readers> audit_readers() override;

    WarmUp warm_up() override {
        return [this](const SaleRecord& sale) { return warm_up_.findings_of(sale); };
    }
    BooksRebuild* rebuilds() override { return &rebuilds_; }
    SharedMarks* marks() override { return &funnel_; }
    void share(Strikes& strikes) override;

    bool answers_buyers() const override { return places_.roles.gate; }
    bool is_shared() const override { return true; }
    StoreResult<bool> look_at_others() override;
    bool is_on_duty() const override { return places_.roles.sweeper && duty_.is_on(); }
    bool mend(const StoreError& error) override;
    void set_sinks(std::vector<ReplySink*> sinks) override { books_.set_sinks(std::move(sinks)); }
    StoreResult<void> rebuild() override { return {}; }  // a coordinator does it, for all
    void start() override;
    void stop_selling() override;
    StoreResult<void> stop() override;
    OrderFigures order_figures() const override;
    void describe(MetricsSnapshot& snapshot) const override;

private:
    // What is opened before the rest can be made.
    struct Opened {
        std::unique_ptr<PostgresOrders> orders;
        std::unique_ptr<KafkaRecords> records;
        std::unique_ptr<KafkaWholeLedger> ledger, lag_ledger;  // each for one thread
        NodeNumber node;
        std::optional<NodeNumber> worker_node;
        pg::TimeHeard time;
    };

    ClusterBackend(ClusterPlaces places, Opened opened, Clock& clock, Hooks hooks);
    ClusterLookup::CurrentLease current_lease() const;
    void take_lease(std::shared_ptr<const EpochLease> lease);
    ClusterCheckTerms check_terms();
    StoreResult<void> count_orders();
    void doubt(const ItemEpoch& item, const std::string& why);
    void tell_doubts(pg::Connection& connection);
    ClusterWorkers::Options worker_options();
    const ClusterWorkers::Figures& worker_figures() const {
        return workers_ ? workers_->figures() : figures_of_none_;
    }
    milliseconds keep_up();
    milliseconds place_orders();
    void give_numbers_back();

    const ClusterPlaces places_;
    const Hooks hooks_;
    Clock& clock_;
    pg::PrimaryClock primary_clock_;

    mutable std::mutex lease_mutex_;
    std::shared_ptr<const EpochLease> lease_;  // guarded by lease_mutex_; the newest
    bool has_started_ = false;

    // The orders thread's.
    std::unique_ptr<PostgresOrders> orders_;
    Uptime looked_at_{}, counted_at_{};
    int64_t sales_seen_ = -1;
    pg::Connection rebuilds_connection_;
    PostgresRebuilds rebuilds_;
    bool is_in_trouble_ = false;

    std::unique_ptr<KafkaRecords> records_;
    pg::Pool pool_;
    std::unique_ptr<pg::Pool> replica_pool_;  // none: buyers' orders are read from the primary
    ClusterLag lag_;
    ClusterLookup ledger_;  // the orders thread's
    OrderTally tally_;

    struct Doubted {
        ItemEpoch item;
        std::string why;
    };
    std::mutex doubts_mutex_;
    std::vector<Doubted> doubts_;  // guarded by doubts_mutex_; at most doubts_max

    PurchaseChanges changes_;  // the orders thread's
    ClusterBooks books_;
    LeaseKeeper keeper_;
    Strikes* strikes_ = nullptr;  // set before start
    RedisFunnel funnel_;
    ClusterWarmUp warm_up_;

    // The thread that keeps this process's place.
    NodeNumber node_;  // its ids are the orders thread's
    Duty duty_;
    StepThread upkeep_;

    // The worker's; none: this process is none.
    std::optional<NodeNumber> worker_node_;
    std::optional<ClusterWorkers> workers_;
    const ClusterWorkers::Figures figures_of_none_{};
    StepThread worker_thread_;

    ClusterSweeping sweeping_;
};

}  // namespace doorbuster
