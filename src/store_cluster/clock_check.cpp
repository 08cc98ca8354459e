#include "store_cluster/clock_check.hpp"

#include <fmt/format.h>

namespace doorbuster {

namespace {

bool differ(milliseconds ahead, milliseconds uncertainty) {
    return std::chrono::abs(ahead) > clock_skew_max + uncertainty;
}

std::string mend_on(std::string_view machines) {
    return fmt::format(
        "let chrony or another NTP client keep the clock of {}; `chronyc tracking` shows how far "
        "off it is",
        machines);
}

}  // namespace

WarmUpFindings judge_clocks(const ClockReading& redis, const ClockReading& postgres) {
    WarmUpFindings found;
    for (const ClockReading* one : {&redis, &postgres}) {
        if (!differ(one->ahead, one->uncertainty)) continue;
        found.push_back({.check = one == &redis ? "clock.redis" : "clock.postgres",
                         .what = fmt::format("the clock of {} is {} ms {} this node's, more than {}",
                                             one->whose, std::chrono::abs(one->ahead).count(),
                                             one->ahead > milliseconds(0) ? "ahead of" : "behind",
                                             clock_skew_max.count()),
                         .mend = mend_on("both machines")});
    }
    const milliseconds apart = redis.ahead - postgres.ahead;
    if (differ(apart, redis.uncertainty + postgres.uncertainty)) {
        found.push_back(
            {.check = "clock.stores",
             .what = fmt::format("the clocks of Redis and PostgreSQL are {} ms apart, more than {}",
                                 std::chrono::abs(apart).count(), clock_skew_max.count()),
             .mend = mend_on("both machines")});
    }
    return found;
}

}  // namespace doorbuster
