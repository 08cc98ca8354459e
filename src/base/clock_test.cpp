#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

Instant source_at{};
Uptime uptime_at{};

TEST(MonotonicClock, GoesOnAtHalfItsSpeedWhileItsSourceIsBehind) {
    MonotonicClock clock([] { return source_at; }, [] { return uptime_at; });
    auto at = [&](int64_t source_ms, int64_t uptime_ms) {
        source_at = from_ms(source_ms);
        uptime_at = milliseconds(uptime_ms);
        return to_ms(clock.now());
    };
    EXPECT_EQ(at(10'000, 0), 10'000);
    EXPECT_EQ(at(4'000, 0), 10'000);
    EXPECT_EQ(at(5'000, 1'000), 10'500);
    EXPECT_EQ(at(6'000, 2'000), 11'000);
    EXPECT_EQ(at(15'999, 11'999), 15'999) << "caught up";
    EXPECT_EQ(at(17'000, 13'000), 17'000);
    EXPECT_EQ(at(16'000, 13'100), 17'000) << "set back once more: counted from here";
    EXPECT_EQ(at(16'200, 13'300), 17'100);
}

}  // namespace
}  // namespace doorbuster
