// ClusterWarmUp: the checks of the cluster on a thread of their own, and their last result for whoever asks.
//
// It looks only while somebody asks: a warming sale is asked for about once a second. Nobody who asks waits:
// until there is a result, or when the last one has become old, the answer is that it is being looked at.
//
// Thread safety: start and stop from one thread; findings_of from any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "store/warm_up.hpp"
#include "store_cluster/postgres_epochs.hpp"

namespace doorbuster {

class ClusterWarmUp {
public:
    struct Options {
        milliseconds check_every{2'000};
        milliseconds wanted_for{10'000};  // behind the last question
        milliseconds good_for{30'000};    // a result; checks of stores that do not answer take long
    };
    using Check = std::function<WarmUpFindings()>;                     // may block; on the thread
    using Lease = std::function<std::shared_ptr<const EpochLease>()>;  // the newest; must not block

    ClusterWarmUp(const Options& options, Check check, Lease lease)
        : options_(options), check_(std::move(check)), lease_(std::move(lease)) {}
    ~ClusterWarmUp() { stop(); }
    ClusterWarmUp(const ClusterWarmUp&) = delete;
    ClusterWarmUp& operator=(const ClusterWarmUp&) = delete;

    void start();
    void stop();  // within the bound of one check

    // What the sale desk asks: the last result of the checks, and whether the sale's books are loaded.
    [[nodiscard]] WarmUpFindings findings_of(const SaleRecord&);

private:
    using Timepoint = std::chrono::steady_clock::time_point;
    struct Result {
        WarmUpFindings findings;
        Timepoint at;
    };
    void run();

    const Options options_;
    const Check check_;
    const Lease lease_;

    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Result> last_;  // guarded by mutex_
    Timepoint wanted_until_{};    // guarded by mutex_
    bool stopping_ = false;       // guarded by mutex_
    std::thread thread_;
};

}  // namespace doorbuster
