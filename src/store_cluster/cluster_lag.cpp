#include "store_cluster/cluster_lag.hpp"

#include "base/log.hpp"
#include "base/threads.hpp"

namespace doorbuster {

ClusterLag::~ClusterLag() {
    CHECK(!thread_.joinable());
}

void ClusterLag::start() {
    thread_ = std::thread([this] {
        set_thread_up("lag", -1);
        constexpr std::chrono::seconds look_every{1};
        bool was_told = false;
        while (!stopping_.load(std::memory_order_acquire)) {
            const auto looked = look();
            if (!looked && !was_told)
                log_warn("the ledger's lag is not known", {{"error", looked.error().text()}});
            was_told = looked.has_error();
            wakeup_.sleep(look_every);
        }
    });
}

void ClusterLag::stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
}

StoreResult<void> ClusterLag::look() {
    const auto asked = ask();
    if (!asked) return asked.error();
    std::lock_guard lock(mutex_);
    figures_ = *asked;
    return {};
}

// The positions first: the ledger's end is never before them then.
StoreResult<ClusterLag::Figures> ClusterLag::ask() {
    const auto cut = orders_->cut();
    if (!cut) return cut.error();
    const auto end = ledger_->end();
    if (!end) return end.error();
    Figures figures{.records = cut->left_to(*end)};
    for (uint64_t partition = 0; partition < end->partitions(); ++partition) {
        if (cut->of(partition) >= end->of(partition)) continue;
        const auto next = ledger_->read_after(LedgerPlace{partition, cut->of(partition)}.number(), 1);
        if (!next) return next.error();
        // A seal, or what cannot be read, has no age: the worker passes it when it comes there.
        if (next->empty() || !next->front().entry) continue;
        const Instant accepted_at = next->front().entry->acceptance.accepted_at;
        figures.oldest = std::min(figures.oldest.value_or(accepted_at), accepted_at);
    }
    return figures;
}

ClusterLag::Figures ClusterLag::figures() const {
    std::lock_guard lock(mutex_);
    return figures_;
}

}  // namespace doorbuster
