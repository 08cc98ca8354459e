#include "funnel/level_setting.hpp"

#include <gtest/gtest.h>

#include "store/settings_contract.hpp"
#include "store/settings_testing.hpp"

namespace doorbuster {
namespace {

constexpr Instant t0 = Instant(milliseconds(1'800'000'000'000));

TEST(LevelSetting, TheOperatorsLevelOutlivesARestart) {
    testing::MemorySettings settings;
    LevelSwitch before(t0);
    ASSERT_TRUE(change_level(settings, before, {Level::closed}, t0));
    EXPECT_EQ(before.in_force(), Level::closed);
    LevelSwitch after(t0);
    ASSERT_TRUE(restore_level(settings, after, t0));
    EXPECT_EQ(after.in_force(), Level::closed);
    ASSERT_TRUE(change_level(settings, after, {}, t0));
    LevelSwitch at_last(t0);
    ASSERT_TRUE(restore_level(settings, at_last, t0));
    EXPECT_EQ(at_last.state().asked, OperatorLevel{});
}

TEST(LevelSetting, WithoutAWordEverythingIsServed) {
    testing::MemorySettings settings;
    LevelSwitch level(t0);
    ASSERT_TRUE(restore_level(settings, level, t0));
    EXPECT_EQ(level.in_force(), Level::normal);
}

TEST(LevelSetting, WhatCouldNotBeKeptIsNotInForce) {
    testing::MemorySettings settings;
    settings.is_full = true;
    LevelSwitch level(t0);
    EXPECT_FALSE(change_level(settings, level, {Level::closed}, t0));
    EXPECT_EQ(level.in_force(), Level::normal);
}

TEST(LevelSetting, AnotherProcessFollowsTheOperatorAndKeepsItsOwnDetector) {
    testing::MemorySettings settings;
    LevelSwitch here(t0), there(t0);
    there.set_by_detector(Level::no_browse, t0);
    ASSERT_TRUE(change_level(settings, here, {Level::closed}, t0));
    ASSERT_TRUE(follow_level(settings, there, t0 + milliseconds(500)));
    EXPECT_EQ(there.in_force(), Level::closed);
    EXPECT_EQ(there.state().set_by, LevelSwitch::SetBy::by_operator);
    ASSERT_TRUE(follow_level(settings, there, t0 + milliseconds(1000)));
    EXPECT_EQ(there.state().since, t0 + milliseconds(500));
    ASSERT_TRUE(change_level(settings, here, {}, t0));
    ASSERT_TRUE(follow_level(settings, there, t0));
    EXPECT_EQ(there.in_force(), Level::no_browse);
    EXPECT_EQ(here.in_force(), Level::normal);
}

TEST(LevelSetting, ALevelThatCannotBeReadStaysAsItWas) {
    testing::MemorySettings settings;
    LevelSwitch level(t0);
    ASSERT_TRUE(change_level(settings, level, {Level::closed}, t0));
    ASSERT_TRUE(settings.put("level", "half-open"));
    EXPECT_FALSE(follow_level(settings, level, t0));
    EXPECT_EQ(level.in_force(), Level::closed);
}

TEST(LevelSetting, ATextThatIsNoLevelIsNotGuessed) {
    testing::MemorySettings settings;
    ASSERT_TRUE(settings.put("level", "half-open"));
    LevelSwitch level(t0);
    const auto restored = restore_level(settings, level, t0);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, StoreErrc::damaged);
}

class MemoryFixture {
public:
    Settings& settings() { return settings_; }
    void reopen() {}

private:
    testing::MemorySettings settings_;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, SettingsContract, MemoryFixture);

}  // namespace
}  // namespace doorbuster
