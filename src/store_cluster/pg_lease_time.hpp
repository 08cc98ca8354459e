// The end of a lease as its holder sees it.
//
// PostgreSQL counts from the moment it grants, on its own clock; the holder from before it asked, on a
// clock that nobody can set and that goes on while the machine sleeps. So the holder's end comes first.
#pragma once

#include <time.h>

#include <chrono>

#include "base/clock.hpp"
#include "store_cluster/virtual_time.hpp"

namespace doorbuster::pg {

inline BootTime boot_time() {
    if (virtual_time != nullptr) return virtual_time->now();
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

class LeaseTime {
public:
    LeaseTime() = default;
    // `asked_at`: before the request that was granted went out.
    LeaseTime(BootTime asked_at, milliseconds lasts) : ends_at_(asked_at + lasts) {}

    bool holds(BootTime now = boot_time()) const { return now < ends_at_; }
    BootTime ends_at() const { return ends_at_; }

private:
    BootTime ends_at_{};
};

}  // namespace doorbuster::pg
