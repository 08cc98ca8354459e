// PrimaryClock: the time of day as PostgreSQL's primary has it, counted on from when it was last heard.
//
// Several processes decide what is due and date the rows that others decide by: one clock has to count. What
// passes between two readings is counted by a clock that nobody can set, so a machine whose time of day is
// wrong, or is set meanwhile, goes by the same time as all the others. It never runs backwards: where the
// primary's clock is set back, or a primary that is behind takes over, it goes at half speed until that has
// caught up.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "store_cluster/pg_connection.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster::pg {

// What the primary answered, somewhere between two moments here.
struct TimeHeard {
    Instant told;
    BootTime asked_at, answered_at;

    BootTime round_trip() const { return answered_at - asked_at; }
    BootTime told_at() const { return asked_at + round_trip() / 2; }
};

inline TimeHeard hear_time(Connection& connection) {
    const BootTime asked_at = boot_time();
    const int64_t told_ms =
        connection.read_integer("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
    return {from_ms(told_ms), asked_at, boot_time()};
}

class PrimaryClock final : public Clock {
public:
    // By half of it a reading may be wrong.
    static constexpr milliseconds round_trip_max{1'000};

    // The first one counts, however long it took. `process`: for what only passes.
    PrimaryClock(Clock& process, const TimeHeard& first) : process_(process), heard_(first) {}

    void hear(const TimeHeard& heard) {
        std::lock_guard lock(mutex_);
        if (heard.round_trip() <= round_trip_max) heard_ = heard;
    }

    Instant now() override { return now(boot_time()); }
    Instant now(BootTime at) {
        std::lock_guard lock(mutex_);
        const BootTime passed = std::max(BootTime(0), at - last_at_);
        last_ = std::max(heard_.told + (at - heard_.told_at()), last_ + passed / 2);
        last_at_ = std::max(last_at_, at);
        return std::chrono::floor<milliseconds>(last_);
    }
    Uptime uptime() override { return process_.uptime(); }

private:
    Clock& process_;
    std::mutex mutex_;
    // Guarded by mutex_.
    TimeHeard heard_;
    std::chrono::sys_time<std::chrono::nanoseconds> last_{};  // as answered, at last_at_
    BootTime last_at_{};
};

}  // namespace doorbuster::pg
