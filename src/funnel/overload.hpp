// Overload: told by how long work waits, not by how busy the machine is.
//
// A busy core that answers at once is a good one; a queue that never empties is not. So, after
// CoDel: an interval is bad if even the SHORTEST wait in it was above the target. Bursts that
// drain do not count. Three parts:
//
//   DelaySensor       one per gate: how late a timer ran that is due every 10 ms (not while the gate rests)
//   OverloadDetector  decides, from plain numbers, one interval at a time
//   OverloadWatch     samples, asks the detector, sets the level
//
// The detector goes up one level after `bad_intervals` bad ones in a row and down one after
// `good_intervals` good ones, at most to purchase_only: closing is for people. From there two
// steps down take 2 * 2 * 100 ms: half a second after a flood everything is served again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "funnel/level.hpp"

namespace doorbuster {

// How long work waits for one gate thread.
//
// Thread safety: ticked by the gate's thread; taken by the watch's.
class DelaySensor {
public:
    static constexpr Uptime period = milliseconds(10);

    // The gate's timer that was due at `due` runs at `now`.
    void ticked(Uptime due, Uptime now);
    // It will be due then.
    void expects(Uptime due) { next_due_us_.store(due.count(), std::memory_order_relaxed); }
    // The gate has nothing to do: nobody waits, and as no timer runs, none can be overdue.
    void rests();

    // The shortest delay since the last take. Where the timer has not run at all, how long it is
    // overdue: a thread that hangs sends no figures.
    Uptime take(Uptime now);

private:
    static constexpr int64_t none = INT64_MAX;
    std::atomic<int64_t> shortest_us_{none};
    std::atomic<int64_t> next_due_us_{none};  // none while no timer runs
};

struct OverloadTargets {
    Uptime gate_delay_max = milliseconds(20);
    Uptime queue_delay_max = milliseconds(500);
    uint32_t bad_intervals = 3;
    uint32_t good_intervals = 2;
};

// Thread safety: none. Deterministic: the same samples give the same levels.
class OverloadDetector {
public:
    // The shortest waits of one interval.
    struct Sample {
        Uptime gate_delay{};   // of the worst gate
        Uptime queue_delay{};  // for the book
    };

    explicit OverloadDetector(const OverloadTargets& targets) : targets_(targets) {}

    bool is_bad(const Sample&) const;
    Level step(const Sample&);
    Level level() const { return level_; }

    // Takes effect from the next step on.
    void set_targets(const OverloadTargets& targets) { targets_ = targets; }

private:
    OverloadTargets targets_;
    Level level_ = Level::normal;
    uint32_t bad_ = 0, good_ = 0;  // in a row
};

// Thread safety: tick and set_targets from one thread; the totals from any.
class OverloadWatch {
public:
    static constexpr Uptime interval = milliseconds(100);
    // How often the queue is looked at, so that the shortest wait of an interval is seen.
    static constexpr Uptime period = milliseconds(20);

    // How long the book's work makes a purchase wait. Not what a pace adds: that is no overload.
    using QueueDelay = std::function<Uptime()>;

    OverloadWatch(std::vector<DelaySensor*> gates, QueueDelay queue_delay, LevelSwitch& level,
                  const OverloadTargets& targets);

    // Samples the queue; once per interval steps the detector and sets the level.
    void tick(Uptime uptime, Instant now);

    // How long until tick wants to be called again, right behind a call. Nothing is shorter than no wait at
    // all: once it was seen, the rest of the interval has nothing to add.
    Uptime rest(Uptime uptime) const;

    // Off: the level that the detector asked for is taken back, nothing is sampled.
    void set_targets(const OverloadTargets&, bool is_on, Instant now);

    uint64_t bad_intervals_total() const { return bad_intervals_total_.load(std::memory_order_relaxed); }

private:
    void finish_interval(Uptime uptime, Instant now);

    const std::vector<DelaySensor*> gates_;
    const QueueDelay queue_delay_;
    LevelSwitch& level_;
    OverloadDetector detector_;
    bool is_on_ = true;
    bool has_begun_ = false;
    Uptime interval_ends_{};
    Uptime shortest_queue_delay_ = Uptime::max();
    std::atomic<uint64_t> bad_intervals_total_{0};
};

}  // namespace doorbuster
