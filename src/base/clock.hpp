// Clock: the time, handed in, never running backwards.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

namespace doorbuster {

using std::chrono::milliseconds;
using Instant = std::chrono::sys_time<milliseconds>;

inline int64_t to_ms(Instant at) {
    return at.time_since_epoch().count();
}
inline Instant from_ms(int64_t ms) {
    return Instant(milliseconds(ms));
}

// Time that only passes, for waits and rates: no relation to the time of day.
using Uptime = std::chrono::duration<int64_t, std::micro>;

class Clock {
public:
    virtual ~Clock() = default;

    // Never less than an earlier answer to any thread.
    virtual Instant now() = 0;

    virtual Uptime uptime() = 0;
};

// Holds back a source that steps back: time goes on at half its speed until the source has
// caught up, so that a sale does not un-open, an order id is not given twice, and what waits
// for a time of day (an order that expires, a webhook that is tried again) waits at most twice
// as long.
//
// Thread safety: any thread; lock-free but for the while that the source is far behind.
class MonotonicClock final : public Clock {
public:
    using Source = Instant (*)();
    using UptimeSource = Uptime (*)();

    static Instant system_now() {
        return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    }

    static Uptime system_uptime() {
        return std::chrono::duration_cast<Uptime>(std::chrono::steady_clock::now().time_since_epoch());
    }

    explicit MonotonicClock(Source source = &system_now, UptimeSource uptime_source = &system_uptime)
        : source_(source), uptime_(uptime_source) {}

    Instant now() override {
        const int64_t seen = to_ms(source_()), last = last_ms_.load(std::memory_order_relaxed);
        if (seen < last) return last - seen <= crossing_ms_max ? from_ms(last) : held_back();
        if (is_held_back_.load(std::memory_order_relaxed)) is_held_back_ = false;
        return advance_to(seen);
    }

    Uptime uptime() override { return uptime_(); }

private:
    // Two threads that ask at once may be answered in the other order: that is no step.
    static constexpr int64_t crossing_ms_max = 100;

    Instant advance_to(int64_t ms) {
        int64_t last = last_ms_.load(std::memory_order_relaxed);
        while (ms > last && !last_ms_.compare_exchange_weak(last, ms, std::memory_order_relaxed)) {
        }
        return from_ms(std::max(ms, last));
    }

    Instant held_back() {
        std::lock_guard lock(mutex_);
        if (!is_held_back_) {
            held_at_ms_ = last_ms_;
            held_since_ = uptime_();
            is_held_back_ = true;
        }
        const auto passed = std::chrono::duration_cast<milliseconds>(uptime_() - held_since_);
        return advance_to(held_at_ms_ + passed.count() / 2);
    }

    const Source source_;
    const UptimeSource uptime_;
    std::atomic<int64_t> last_ms_{0};

    std::atomic<bool> is_held_back_{false};  // the source is behind what was answered
    std::mutex mutex_;
    int64_t held_at_ms_ = 0;  // guarded by mutex_; what was answered when it fell behind
    Uptime held_since_{};     // guarded by mutex_
};

}  // namespace doorbuster
