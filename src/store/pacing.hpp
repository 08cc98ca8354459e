// Pacing: how fast purchases go to the books, and how long one may expect to wait for them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/pace.hpp"

namespace doorbuster {

// What may change while people buy.
struct Pacing {
    milliseconds wait_max{2000};
    uint32_t rate_per_second_max = 0;  // purchases put to the books; 0: as many as they can take
};

// Thread safety: any thread; take and wait are the books' thread's alone.
class PurchasePace {
public:
    explicit PurchasePace(const Pacing& pacing)
        : wait_max_(pacing.wait_max),
          rate_per_second_max_(pacing.rate_per_second_max),
          pace_(pacing.rate_per_second_max, burst_of(pacing.rate_per_second_max)) {}

    void set(const Pacing& pacing) {
        wait_max_.store(pacing.wait_max, std::memory_order_relaxed);
        rate_per_second_max_.store(pacing.rate_per_second_max, std::memory_order_relaxed);
    }

    milliseconds wait_max() const { return wait_max_.load(std::memory_order_relaxed); }

    // What the pace alone makes the last of so many wait.
    std::chrono::nanoseconds wait_of(size_t queued) const {
        const uint32_t rate = rate_per_second_max_.load(std::memory_order_relaxed);
        return std::chrono::nanoseconds(rate == 0 ? 0 : static_cast<int64_t>(queued) * 1'000'000'000 / rate);
    }

    // How many of `wanted` may go now; counts as done. Who hurries to an end waits for no pace: it may have
    // been lowered since those who wait were let in.
    size_t take(size_t wanted, Uptime now, bool hurries) {
        const uint32_t rate = hurries ? 0 : rate_per_second_max_.load(std::memory_order_relaxed);
        pace_.set(rate, burst_of(rate));
        return pace_.take(wanted, now);
    }

    // Until one more may go.
    std::chrono::microseconds wait() const { return std::max(pace_.wait(), std::chrono::microseconds(1)); }

private:
    // A hundredth of a second's worth at a time: even enough for a disk, coarse enough for batches.
    static size_t burst_of(uint32_t rate_per_second) { return std::max<size_t>(1, rate_per_second / 100); }

    std::atomic<milliseconds> wait_max_;
    std::atomic<uint32_t> rate_per_second_max_;
    Pace pace_;
};

}  // namespace doorbuster
