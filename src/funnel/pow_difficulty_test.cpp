#include "funnel/pow_difficulty.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

TEST(PowFactor, IsOneUpToTheTargetAndRisesInProportion) {
    EXPECT_EQ(pow_factor(0, 1000, 0), 1u);
    EXPECT_EQ(pow_factor(1000, 1000, 0), 1u);
    EXPECT_EQ(pow_factor(2000, 1000, 0), 2u);
    EXPECT_EQ(pow_factor(5500, 1000, 0), 5u);
    EXPECT_EQ(pow_factor(1e9, 1000, 0), 16u);
}

TEST(PowFactor, DoublesWithEachLevelOfOverload) {
    EXPECT_EQ(pow_factor(0, 1000, 1), 2u);
    EXPECT_EQ(pow_factor(0, 1000, 2), 4u);
    EXPECT_EQ(pow_factor(3000, 1000, 1), 6u);
    EXPECT_EQ(pow_factor(0, 1000, 99), 16u);
    EXPECT_EQ(pow_factor(1e9, 0, 0), 1u) << "no target: the rate does not count";
}

TEST(PowDifficulty, AnHonestFewPayTheBase) {
    PowDifficulty difficulty;
    difficulty.set_target(1000);
    Uptime now = 100s;
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(difficulty.next(0, 0, now += 10ms), pow_number_max_default);
}

TEST(PowDifficulty, AFloodPaysMoreAndItPassesByItself) {
    PowDifficulty difficulty;
    difficulty.set_target(1000);
    Uptime now = 100s;
    uint32_t asked = 0;
    for (int i = 0; i < 80'000; ++i) asked = difficulty.next(30'000, 0, now += 100us);  // 10,000 a second
    EXPECT_GE(asked, 9 * 30'000u);
    EXPECT_LE(asked, 10 * 30'000u);
    now += 10s;
    EXPECT_EQ(difficulty.next(30'000, 0, now), 30'000u);
    EXPECT_LT(difficulty.per_second(now), 100);
}

TEST(PowDifficulty, IsNeverMoreThanACheckMayAsk) {
    PowDifficulty difficulty;
    difficulty.set_target(1000);
    EXPECT_EQ(difficulty.next(PowChecks::number_max_max, 4, 100s), PowChecks::number_max_max);
}

TEST(PowDifficulty, AClockThatStandsStillDoesNoHarm) {
    PowDifficulty difficulty;
    difficulty.set_target(1000);
    EXPECT_EQ(difficulty.next(0, 0, 100s), pow_number_max_default);
    EXPECT_EQ(difficulty.next(0, 0, 99s), pow_number_max_default);
    EXPECT_GT(difficulty.per_second(99s), 0.9);
}

}  // namespace
}  // namespace doorbuster
