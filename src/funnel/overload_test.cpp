#include "funnel/overload.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace doorbuster {
namespace {

using enum Level;
using Sample = OverloadDetector::Sample;

constexpr Uptime ms(int64_t count) {
    return milliseconds(count);
}
constexpr Instant t0 = Instant(milliseconds(1'800'000'000'000));
constexpr Sample good{.gate_delay = ms(20), .queue_delay = ms(500)};  // at the targets, not above
constexpr Sample gate_late{.gate_delay = ms(21)};
constexpr Sample queue_long{.queue_delay = ms(501)};

TEST(OverloadDetector, GoesUpOneLevelPerRunOfBadIntervals) {
    for (const Sample& bad : {gate_late, queue_long}) {
        OverloadDetector detector({});
        for (const Level expected : {normal, normal, no_browse, no_browse, no_browse, purchase_only}) {
            EXPECT_EQ(detector.step(bad), expected);
        }
    }
}

TEST(OverloadDetector, NeverClosesByItself) {
    OverloadDetector detector({});
    for (int i = 0; i < 1000; ++i) detector.step(gate_late);
    EXPECT_EQ(detector.level(), purchase_only);
}

TEST(OverloadDetector, ABurstThatDrainsIsNoOverload) {
    OverloadDetector detector({});
    for (int i = 0; i < 100; ++i) {
        detector.step(gate_late);
        detector.step(queue_long);
        EXPECT_EQ(detector.step(good), normal);
    }
}

TEST(OverloadDetector, IsBackToNormalWithinTwoSecondsAfterAFlood) {
    OverloadDetector detector({});
    for (int i = 0; i < 1000; ++i) detector.step(queue_long);
    int intervals = 0;
    while (detector.step(good) != normal) ++intervals;
    EXPECT_LE((intervals + 1) * OverloadWatch::interval, std::chrono::seconds(2));
}

TEST(OverloadDetector, DoesNotGoDownWhileBadIntervalsInterrupt) {
    OverloadDetector detector({});
    for (int i = 0; i < 6; ++i) detector.step(gate_late);
    for (int i = 0; i < 100; ++i) {
        for (uint32_t j = 1; j < OverloadTargets{}.good_intervals; ++j) detector.step(good);
        EXPECT_EQ(detector.step(gate_late), purchase_only);
    }
}

TEST(DelaySensor, TellsTheShortestDelayOnce) {
    DelaySensor sensor;
    EXPECT_EQ(sensor.take(ms(1000)), ms(0)) << "a gate that has not begun is not late";
    sensor.ticked(ms(1000), ms(1070));
    sensor.ticked(ms(1080), ms(1120));
    sensor.ticked(ms(1130), ms(1190));
    EXPECT_EQ(sensor.take(ms(1195)), ms(40));
    EXPECT_EQ(sensor.take(ms(1195)), ms(0)) << "told once";
}

TEST(DelaySensor, AThreadThatHangsIsOverdue) {
    DelaySensor sensor;
    sensor.ticked(ms(1000), ms(1000));
    sensor.expects(ms(1010));
    (void)sensor.take(ms(1000));
    EXPECT_EQ(sensor.take(ms(1005)), ms(0)) << "it is not due yet";
    EXPECT_EQ(sensor.take(ms(1310)), ms(300));
}

TEST(DelaySensor, WhoRestsIsNotOverdue) {
    DelaySensor sensor;
    sensor.expects(ms(1010));
    sensor.ticked(ms(1010), ms(1013));
    sensor.rests();
    EXPECT_EQ(sensor.take(ms(1500)), ms(0)) << "whoever has time to rest keeps nobody waiting";
    EXPECT_EQ(sensor.take(ms(9000)), ms(0));
}

TEST(DelaySensor, ATimerThatRunsEarlyIsNotLate) {
    DelaySensor sensor;
    sensor.ticked(ms(1000), ms(999));
    EXPECT_EQ(sensor.take(ms(1000)), ms(0));
}

TEST(DelaySensor, IsTakenWhileItTicks) {
    DelaySensor sensor;
    std::thread gate([&] {
        for (int i = 0; i < 20'000; ++i) sensor.ticked(ms(i), ms(i + 7));
    });
    for (int i = 0; i < 20'000; ++i) {
        const Uptime delay = sensor.take(ms(0));
        EXPECT_TRUE(delay == ms(7) || delay == ms(0)) << delay.count();
    }
    gate.join();
}

class Watch : public ::testing::Test {
protected:
    // So long, with every gate's timer `gate_delay` late and the queue as it is set.
    void pass(Uptime time, Uptime gate_delay) {
        for (const Uptime end = uptime_ + time; uptime_ < end; uptime_ += OverloadWatch::period) {
            for (DelaySensor& gate : gates_) gate.ticked(uptime_ - gate_delay, uptime_);
            watch_.tick(uptime_, t0);
        }
    }

    DelaySensor gates_[2];
    Uptime queue_delay_{};
    LevelSwitch level_{t0};
    OverloadWatch watch_{{&gates_[0], &gates_[1]}, [this] { return queue_delay_; }, level_, {}};
    Uptime uptime_ = ms(5000);
};

TEST_F(Watch, AFloodLowersTheServiceAndItsEndRestoresIt) {
    pass(ms(2000), ms(1));
    EXPECT_EQ(level_.in_force(), normal);
    pass(ms(2000), ms(50));
    EXPECT_EQ(level_.in_force(), purchase_only);
    EXPECT_GT(watch_.bad_intervals_total(), 10u);
    pass(ms(2000), ms(1));
    EXPECT_EQ(level_.in_force(), normal);
}

TEST_F(Watch, OneLateGateIsEnough) {
    for (int i = 0; i < 100; ++i, uptime_ += OverloadWatch::period) {
        gates_[0].ticked(uptime_, uptime_);
        gates_[1].ticked(uptime_ - ms(50), uptime_);
        watch_.tick(uptime_, t0);
    }
    EXPECT_EQ(level_.in_force(), purchase_only);
}

TEST_F(Watch, AQueueThatEmptiesOnceInEveryIntervalIsNotOverloaded) {
    for (int i = 0; i < 500; ++i) {
        queue_delay_ = i % 5 == 2 ? ms(1) : ms(1900);
        pass(OverloadWatch::period, ms(0));
        ASSERT_EQ(level_.in_force(), normal);
    }
    queue_delay_ = ms(1900);
    pass(ms(1000), ms(0));
    EXPECT_EQ(level_.in_force(), purchase_only);
}

TEST_F(Watch, RestsUntilTheEndOfTheIntervalOnceTheQueueWasSeenEmpty) {
    watch_.tick(uptime_, t0);
    EXPECT_EQ(watch_.rest(uptime_), OverloadWatch::interval);
    uptime_ += OverloadWatch::interval;
    watch_.tick(uptime_, t0);
    EXPECT_EQ(watch_.rest(uptime_), OverloadWatch::interval) << "one look serves the end and the beginning";
}

TEST_F(Watch, LooksOftenWhileTheQueueIsNotEmpty) {
    queue_delay_ = ms(1);
    watch_.tick(uptime_, t0);
    EXPECT_EQ(watch_.rest(uptime_), OverloadWatch::period);
    uptime_ += OverloadWatch::period;
    queue_delay_ = ms(0);
    watch_.tick(uptime_, t0);
    EXPECT_EQ(watch_.rest(uptime_), OverloadWatch::interval - OverloadWatch::period);
}

TEST_F(Watch, FindsAFloodAlthoughItRestedBefore) {
    const auto run_for = [&](Uptime time) {
        for (const Uptime end = uptime_ + time; uptime_ < end; uptime_ += watch_.rest(uptime_))
            watch_.tick(uptime_, t0);
    };
    run_for(ms(2000));
    queue_delay_ = ms(600);
    run_for(ms(1000));
    EXPECT_EQ(level_.in_force(), purchase_only);
    queue_delay_ = ms(0);
    run_for(ms(1000));
    EXPECT_EQ(level_.in_force(), normal);
}

TEST_F(Watch, SwitchedOffItTakesItsLevelBack) {
    pass(ms(2000), ms(50));
    watch_.set_targets({}, false, t0);
    EXPECT_EQ(level_.in_force(), normal);
    pass(ms(2000), ms(50));
    EXPECT_EQ(level_.in_force(), normal);
    watch_.set_targets({}, true, t0);
    pass(ms(2000), ms(50));
    EXPECT_EQ(level_.in_force(), purchase_only);
}

TEST_F(Watch, NewTargetsCountFromTheNextIntervalOn) {
    watch_.set_targets({.gate_delay_max = ms(100)}, true, t0);
    pass(ms(2000), ms(50));
    EXPECT_EQ(level_.in_force(), normal);
}

TEST_F(Watch, LeavesTheOperatorsWordAlone) {
    level_.set_by_operator({closed}, t0);
    pass(ms(2000), ms(50));
    pass(ms(3000), ms(0));
    EXPECT_EQ(level_.in_force(), closed);
}

}  // namespace
}  // namespace doorbuster
