// EmbeddedBackend: everything in this process: two databases in the data folder, the books in memory with
// their owner thread, the order worker on the orders thread.
#pragma once

#include <atomic>

#include "server/backend.hpp"
#include "server/embedded_store.hpp"
#include "server/money_watch.hpp"
#include "shard/owner.hpp"

namespace doorbuster {

class EmbeddedBackend final : public Backend {
public:
    [[nodiscard]] static OpenedBackend open(const Config& config, Clock& clock, Hooks hooks);

    Clock& clock() override { return clock_; }
    Orders& orders() override { return *store_.orders; }
    Settings& settings() override { return store_.orders->settings(); }
    Outbox& outbox() override { return store_.orders->outbox(); }
    AuditStore& audit() override { return store_.orders->audit(); }
    LedgerReader& ledger() override { return *store_.worker_ledger; }
    StoreResult<std::optional<Instant>> oldest_in_flight() override {
        return oldest_behind(store_.orders->reader(), *store_.worker_ledger);
    }
    Snowflake& ids() override { return ids_; }
    PurchaseDesk& purchases() override { return owner_; }
    BookControl& books() override { return owner_; }
    OrderWorker* worker() override { return &worker_; }
    OrderTally& tally() override { return tally_; }
    StoreResult<std::vector<Lookups::Readers>> lookup_readers(size_t threads) override {
        return store_.lookup_readers(threads);
    }
    StoreResult<audit::AuditDesk::Readers> audit_readers() override { return store_.audit_readers(); }

    bool mend(const StoreError& error) override;
    void set_sinks(std::vector<ReplySink*> sinks) override { owner_.set_sinks(std::move(sinks)); }
    StoreResult<void> rebuild() override;
    void start() override { owner_.start(); }
    void stop_selling() override { owner_.stop(); }
    StoreResult<void> stop() override;
    OrderFigures order_figures() const override;
    void describe(MetricsSnapshot&) const override {}

private:
    EmbeddedBackend(EmbeddedStore store, int64_t last_id, const Config& config, Clock& clock, Hooks hooks);

    const Hooks hooks_;
    Clock& clock_;
    const std::string path_;
    EmbeddedStore store_;
    Shard shard_;
    Owner owner_;
    Snowflake ids_;
    OrderTally tally_;
    OrderWorker worker_;
    std::atomic<uint64_t> ledger_position_at_start_{0};
};

}  // namespace doorbuster
