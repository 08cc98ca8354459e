#include "store_cluster/cluster_warm_up.hpp"

#include "base/threads.hpp"
#include "store_cluster/cluster_checks.hpp"

namespace doorbuster {

using std::chrono::steady_clock;

void ClusterWarmUp::start() {
    thread_ = std::thread([this] {
        set_thread_up("warm-up", -1);
        run();
    });
}

void ClusterWarmUp::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void ClusterWarmUp::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [&] { return stopping_ || steady_clock::now() < wanted_until_; });
        if (stopping_) return;
        lock.unlock();
        WarmUpFindings found = check_();
        lock.lock();
        last_ = Result{std::move(found), steady_clock::now()};
        wake_.wait_for(lock, options_.check_every, [&] { return stopping_; });
    }
}

WarmUpFindings ClusterWarmUp::findings_of(const SaleRecord& record) {
    const auto lease = lease_();
    WarmUpFindings found = check_books(record.sale, lease.get());
    const auto now = steady_clock::now();
    std::lock_guard lock(mutex_);
    wanted_until_ = now + options_.wanted_for;
    wake_.notify_all();
    if (!last_ || now - last_->at > options_.good_for) {
        found.push_back({.check = "checks.under_way",
                         .what = "the stores are still being looked at",
                         .mend = "wait a moment; if this stays, one of them does not answer"});
        return found;
    }
    found.insert(found.begin(), last_->findings.begin(), last_->findings.end());
    return found;
}

}  // namespace doorbuster
