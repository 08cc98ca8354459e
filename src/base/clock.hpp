// Clock: the time, handed in, never running backwards.
#pragma once

#include <atomic>
#include <chrono>

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

    // Never less than an earlier answer to any thread. May stand still for as long as the
    // time of day was set back, so nothing may wait for it.
    virtual Instant now() = 0;

    virtual Uptime uptime() = 0;
};

// Holds back a source that steps back: time stands still until the source has
// caught up, so that a sale does not un-open and an order id is not given twice.
class MonotonicClock final : public Clock {
public:
    using Source = Instant (*)();

    static Instant system_now() {
        return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
    }

    explicit MonotonicClock(Source source = &system_now) : source_(source) {}

    Instant now() override {
        const int64_t seen = to_ms(source_());
        int64_t last = last_ms_.load(std::memory_order_relaxed);
        while (seen > last) {
            if (last_ms_.compare_exchange_weak(last, seen, std::memory_order_relaxed)) return from_ms(seen);
        }
        return from_ms(last);
    }

    Uptime uptime() override {
        return std::chrono::duration_cast<Uptime>(std::chrono::steady_clock::now().time_since_epoch());
    }

private:
    const Source source_;
    std::atomic<int64_t> last_ms_{0};
};

}  // namespace doorbuster
