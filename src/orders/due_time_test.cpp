#include "orders/due_time.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(DueTime, FollowsAClockThatRuns) {
    DueTime due;
    for (int s = 0; s < 100; ++s) {
        due.observe(t0 + s * 1s + (s % 3) * 1ms, s * 1s);
        EXPECT_EQ(due.ahead(), 0s);
    }
}

TEST(DueTime, ALongPauseBetweenTwoLooksIsTimeThatPassed) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0 + 1h, 1h);
    EXPECT_EQ(due.of(t0 + 1h).trusted, t0 + 1h);
}

TEST(DueTime, WhatAClockGainedAtOnceDoesNotCountForADay) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0 + 1h + 1s, 1s);
    EXPECT_EQ(due.of(t0 + 1h + 1s).trusted, t0 + 1s);
    due.observe(t0 + 1h + 15min, 15min);
    EXPECT_EQ(due.of(t0 + 1h + 15min).trusted, t0 + 15min) << "a quarter of an hour is one";
    due.observe(t0 + 24h + 59min, 24h - 1min);
    EXPECT_EQ(due.ahead(), 1h);
    due.observe(t0 + 25h + 2s, 24h + 2s);
    EXPECT_EQ(due.ahead(), 0s);
}

TEST(DueTime, WhatIsMadeAfterAStepHasItsTimeByTheClockAsItIs) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0 + 1h, 0s);
    OrderRecord before, after;
    before.created_at = t0;
    before.pay_by = t0 + 15min;
    after.created_at = t0 + 1h;
    after.pay_by = t0 + 1h + 15min;
    due.observe(t0 + 1h + 14min, 14min);
    EXPECT_FALSE(due.of(t0 + 1h + 14min).is_over(before));
    EXPECT_FALSE(due.of(t0 + 1h + 14min).is_over(after));
    due.observe(t0 + 1h + 15min, 15min);
    EXPECT_TRUE(due.of(t0 + 1h + 15min).is_over(before));
    EXPECT_TRUE(due.of(t0 + 1h + 15min).is_over(after));
}

TEST(DueTime, TwoStepsAddUpAndADayIsCountedFromTheSecond) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0 + 1h, 0s);
    due.observe(t0 + 14h, 12h);
    EXPECT_EQ(due.ahead(), 2h);
    due.observe(t0 + 27h, 25h);
    EXPECT_EQ(due.ahead(), 2h);
    due.observe(t0 + 38h, 36h);
    EXPECT_EQ(due.ahead(), 0s);
}

TEST(DueTime, AStepForwardThatIsTakenBackLeavesNothing) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0 + 1h, 1s);  // by mistake, and set right at once: the clock stands still
    for (int minute = 1; minute <= 60; ++minute) {
        due.observe(t0 + 1h, minute * 1min);
        EXPECT_EQ(due.of(t0 + 1h).trusted, t0 + minute * 1min) << "for buyers time goes on as it does";
    }
    due.observe(t0 + 2h, 2h);
    EXPECT_EQ(due.ahead(), 0s);
}

TEST(DueTime, AClockThatStandsStillBringsNothingForward) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0, 30min);
    EXPECT_EQ(due.of(t0).trusted, t0);
}

TEST(DueTime, AClockThatStoodStillMayGoOnWhereItWas) {
    DueTime due;
    due.observe(t0, 0s);
    due.observe(t0, 30min);
    due.observe(t0 + 1s, 30min + 1s);
    EXPECT_EQ(due.ahead(), 0s);
}

}  // namespace
}  // namespace doorbuster
