#include "funnel/level.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace doorbuster {
namespace {

using enum Level;
using Kind = RequestKind;
using SetBy = LevelSwitch::SetBy;

constexpr Instant t0 = Instant(milliseconds(1'800'000'000'000));
constexpr Instant t1 = t0 + milliseconds(5), t2 = t1 + milliseconds(7);

TEST(Level, BuyingAndWhatAYesWasGivenForPassUntilClosed) {
    for (const Kind kind : {Kind::time, Kind::own, Kind::check, Kind::purchase, Kind::settle}) {
        for (const Level level : {normal, no_browse, purchase_only}) EXPECT_TRUE(passes(level, kind));
        EXPECT_FALSE(passes(closed, kind));
    }
}

TEST(Level, BrowsingComesFromTheCacheFirstAndIsRefusedThen) {
    EXPECT_FALSE(is_from_cache_only(normal));
    EXPECT_TRUE(passes(no_browse, Kind::browse) && is_from_cache_only(no_browse));
    EXPECT_FALSE(passes(purchase_only, Kind::browse));
    EXPECT_FALSE(passes(closed, Kind::browse));
}

TEST(Level, OrderListsGoFirst) {
    EXPECT_TRUE(passes(normal, Kind::own_list));
    EXPECT_FALSE(passes(no_browse, Kind::own_list));
}

TEST(Level, NamesReadBack) {
    for (const Level level : {normal, no_browse, purchase_only, closed}) {
        EXPECT_EQ(level_of(name_of(level)), level);
        EXPECT_EQ(OperatorLevel::from(name_of(level))->text(), name_of(level));
    }
    EXPECT_EQ(OperatorLevel::from("auto"), OperatorLevel{});
    EXPECT_FALSE(OperatorLevel::from("Closed"));
    EXPECT_FALSE(level_of("auto"));
    EXPECT_FALSE(OperatorLevel::from(""));
}

TEST(LevelSwitch, TheHigherOfOperatorAndDetectorIsInForce) {
    LevelSwitch level(t0);
    EXPECT_EQ(level.in_force(), normal);
    level.set_by_detector(no_browse, t0);
    EXPECT_EQ(level.in_force(), no_browse);
    level.set_by_operator({purchase_only}, t0);
    EXPECT_EQ(level.in_force(), purchase_only);
    level.set_by_detector(normal, t0);
    EXPECT_EQ(level.in_force(), purchase_only);
    level.set_by_detector(no_browse, t0);
    level.set_by_operator({normal}, t0);
    EXPECT_EQ(level.in_force(), no_browse) << "a low floor does not hold the detector back";
    level.set_by_operator({closed}, t0);
    level.set_by_operator({}, t0);
    EXPECT_EQ(level.in_force(), no_browse);
}

TEST(LevelSwitch, TellsWhoSetItAndSinceWhen) {
    LevelSwitch level(t0);
    EXPECT_EQ(level.state().set_by, SetBy::nobody);
    EXPECT_EQ(level.state().since, t0);
    level.set_by_detector(no_browse, t1);
    EXPECT_EQ(level.state().set_by, SetBy::detector);
    EXPECT_EQ(level.state().since, t1);
    level.set_by_operator({no_browse}, t2);
    EXPECT_EQ(level.state().set_by, SetBy::by_operator);
    EXPECT_EQ(level.state().since, t1) << "the level itself did not change";
    EXPECT_EQ(level.state().asked.text(), "no_browse");
    EXPECT_EQ(level.state().detected, no_browse);
    EXPECT_EQ(level.changes_total(), 1u);
}

TEST(LevelSwitch, OperatorAndDetectorDoNotOverwriteEachOther) {
    LevelSwitch level(t0);
    std::thread detector([&] {
        for (int i = 0; i < 20'000; ++i) level.set_by_detector(i % 2 == 0 ? no_browse : normal, t1);
        level.set_by_detector(no_browse, t1);
    });
    for (int i = 0; i < 20'000; ++i) level.set_by_operator({i % 2 == 0 ? closed : purchase_only}, t2);
    level.set_by_operator({purchase_only}, t2);
    detector.join();
    EXPECT_EQ(level.state().detected, no_browse);
    EXPECT_EQ(level.state().asked.floor, purchase_only);
}

}  // namespace
}  // namespace doorbuster
