// ClusterLag: how far the workers of all processes are behind the ledger, for the metrics.
//
// Kafka and PostgreSQL are asked on a thread of its own, once a second; whoever wants the figures waits for
// neither. Where one of them does not answer, the figures of the last look stand.
//
// Thread safety: figures from any thread; look from one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/wakeup.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class ClusterLag {
public:
    struct Figures {
        uint64_t records = 0;             // in all partitions, behind the workers' positions
        std::optional<Instant> oldest{};  // acceptance among the first ones of each partition
    };

    // Readers of its own; the ledger's of all partitions.
    ClusterLag(std::unique_ptr<LedgerReader> ledger, std::unique_ptr<OrdersReader> orders)
        : ledger_(std::move(ledger)), orders_(std::move(orders)) {}
    ~ClusterLag();

    void start();
    void stop();  // waits for a look that is under way

    [[nodiscard]] StoreResult<void> look();
    Figures figures() const;

private:
    StoreResult<Figures> ask();

    const std::unique_ptr<LedgerReader> ledger_;
    const std::unique_ptr<OrdersReader> orders_;
    mutable std::mutex mutex_;
    Figures figures_;  // guarded by mutex_
    Wakeup wakeup_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace doorbuster
