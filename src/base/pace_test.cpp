#include "base/pace.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

TEST(Pace, PassesTheRateAndNoMoreThanABurstAfterALongRest) {
    Pace pace(100, 10);
    EXPECT_EQ(pace.take(1000, 3600s), 10u);
    EXPECT_EQ(pace.take(1000, 3600s), 0u);
    EXPECT_EQ(pace.take(1000, 3600s + 50ms), 5u);
    size_t taken = 0;
    for (Uptime now = 3601s; now <= 3611s; now += 1ms) taken += pace.take(1, now);
    EXPECT_GE(taken, 1000u);
    EXPECT_LE(taken, 1010u);
}

TEST(Pace, SaysWhenTheNextOneIsDue) {
    Pace pace(4, 1);
    EXPECT_EQ(pace.take(1, 10s), 1u);
    EXPECT_EQ(pace.take(1, 10s), 0u);
    EXPECT_GE(pace.wait(), 250ms);
    EXPECT_LE(pace.wait(), 251ms);
    EXPECT_EQ(pace.take(1, 10s + pace.wait()), 1u);
}

TEST(Pace, WithoutARateEverythingPasses) {
    Pace pace(0, 1);
    EXPECT_EQ(pace.take(12345, 0s), 12345u);
    EXPECT_EQ(pace.wait(), 0us);
}

TEST(Pace, AClockThatStandsStillGivesNothingTwice) {
    Pace pace(10, 5);
    EXPECT_EQ(pace.take(9, 10s), 5u);
    EXPECT_EQ(pace.take(9, 9s), 0u);
    EXPECT_EQ(pace.take(9, 10s), 0u);
}

}  // namespace
}  // namespace doorbuster
