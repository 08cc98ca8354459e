#include "funnel/strikes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace doorbuster {
namespace {

using std::chrono::seconds;
using enum Conduct;

const BuyerId alice("alice"), bob("bob");
constexpr Uptime t0 = seconds(1'000'000);
constexpr StrikeTerms terms{
    .points = {1, 2, 3}, .slow_at = 3, .bar_at = 6, .forget = seconds(10), .slow_every = seconds(5)};

BuyerId buyer(int number) {
    return BuyerId("buyer-" + std::to_string(number));
}

void strike(Strikes& strikes, const BuyerId& who, int times, Uptime now = t0) {
    for (int i = 0; i < times; ++i) strikes.strike(who, Strike::failed_check, now);
}

TEST(Strikes, SlowThenBarAndNobodyElse) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 2);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, fine);
    strike(strikes, alice, 1);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, slowed);
    strike(strikes, alice, 3);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, barred);
    EXPECT_EQ(strikes.conduct_of(bob, t0).conduct, fine);
    EXPECT_EQ(strikes.strikes_total(), 6u);
}

TEST(Strikes, EachKindHasItsWeight) {
    Strikes strikes(64, terms);
    strikes.strike(alice, Strike::abandoned_hold, t0);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, slowed);
    strikes.strike(bob, Strike::refused_token, t0);
    EXPECT_EQ(strikes.conduct_of(bob, t0).conduct, fine);
    strikes.strike(bob, Strike::failed_check, t0);
    EXPECT_EQ(strikes.conduct_of(bob, t0).conduct, slowed);
}

TEST(Strikes, APointIsForgottenPerForgetTime) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 6);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + milliseconds(9'900)).conduct, barred)
        << "a point counts until it is gone";
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(10)).conduct, slowed);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + milliseconds(39'900)).conduct, slowed);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(40)).conduct, fine);
}

TEST(Strikes, ABarredBuyerHearsWhenItEnds) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 8);
    const ConductRuling ruling = strikes.admit(alice, t0);
    EXPECT_EQ(ruling.conduct, barred);
    EXPECT_FALSE(ruling.passes());
    EXPECT_EQ(strikes.conduct_of(alice, t0).retry_after, ruling.retry_after) << "whoever asks hears the same";
    EXPECT_EQ(strikes.conduct_of(alice, t0 + ruling.retry_after - milliseconds(100)).conduct, barred);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + ruling.retry_after).conduct, slowed);
}

TEST(Strikes, NoBarLastsLongerThanTwiceWhatBars) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 1000);
    EXPECT_LE(strikes.admit(alice, t0).retry_after, seconds(70));
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(120)).conduct, fine);
}

TEST(Strikes, ASlowedBuyerTriesOncePerTurn) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 5);
    EXPECT_TRUE(strikes.admit(alice, t0).passes());
    EXPECT_EQ(strikes.admit(alice, t0).retry_after, seconds(5));
    EXPECT_EQ(strikes.admit(alice, t0 + seconds(3)).retry_after, seconds(2));
    EXPECT_TRUE(strikes.admit(alice, t0 + seconds(5)).passes());
    EXPECT_FALSE(strikes.admit(alice, t0 + seconds(9)).passes());
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(strikes.admit(bob, t0).passes());
}

TEST(Strikes, ACrowdOfOthersResetsNobody) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 12);
    for (int i = 0; i < 100'000; ++i) strikes.strike(buyer(i), Strike::abandoned_hold, t0);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, barred);
    EXPECT_EQ(strikes.memory_bytes(), Strikes(64, terms).memory_bytes());
    EXPECT_GT(strikes.overflowed_total(), 90'000u);
}

TEST(Strikes, WhoFoundNoSlotIsSlowedTogetherButNotBarred) {
    Strikes strikes(Strikes::ways, terms);  // one set
    for (int i = 0; i < 8; ++i) strikes.strike(buyer(i), Strike::abandoned_hold, t0);
    strike(strikes, alice, 100);
    EXPECT_EQ(strikes.overflowed_total(), 100u);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, slowed);
    EXPECT_EQ(strikes.conduct_of(bob, t0).conduct, slowed) << "stricter, for those who share";
    EXPECT_TRUE(strikes.admit(alice, t0).passes());
    EXPECT_FALSE(strikes.admit(bob, t0).passes()) << "one turn for all of them";
}

TEST(Strikes, PointsInTheSharedEntryOutliveAFreeSlot) {
    Strikes strikes(Strikes::ways, terms);
    for (int i = 0; i < 8; ++i) strikes.strike(buyer(i), Strike::failed_check, t0);
    strike(strikes, alice, 5);
    // By now every slot is forgotten, but alice's points, in the shared entry, are not.
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(15)).conduct, slowed);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(50)).conduct, fine);
}

TEST(Strikes, AForgottenSlotIsTakenOverWithoutItsPoints) {
    Strikes strikes(Strikes::ways, terms);
    for (int i = 0; i < 8; ++i) strike(strikes, buyer(i), 12);
    const Uptime later = t0 + seconds(120);
    strike(strikes, alice, 1, later);
    EXPECT_EQ(strikes.overflowed_total(), 0u);
    EXPECT_EQ(strikes.conduct_of(alice, later).conduct, fine);
}

TEST(Strikes, NewTermsCountFromNowOn) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 4);
    StrikeTerms stricter = terms;
    stricter.bar_at = 4;
    strikes.set_terms(stricter);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, barred);
}

struct Told final : StrikeFeed {
    void tell(const BuyerId& buyer, Strike kind) override { all.emplace_back(buyer, kind); }
    std::vector<std::pair<BuyerId, Strike>> all;
};

TEST(Strikes, WhatIsGivenHereIsToldAndWhatIsHeardCountsAndIsNotToldAgain) {
    Strikes here(64, terms), there(64, terms);
    Told told;
    here.tell_to(told);
    there.tell_to(told);
    here.strike(alice, Strike::abandoned_hold, t0);
    ASSERT_EQ(told.all, (std::vector{std::pair(alice, Strike::abandoned_hold)}));
    there.hear(alice, Strike::abandoned_hold, t0);
    EXPECT_EQ(there.conduct_of(alice, t0).conduct, slowed);
    EXPECT_EQ(told.all.size(), 1u);
    EXPECT_EQ(there.strikes_total(), 0u);
}

TEST(Strikes, ATurnThatASlowedBuyerTookElsewhereIsGoneHereToo) {
    Strikes here(64, terms), there(64, terms);
    Told told;
    here.tell_to(told);
    for (Strikes* one : {&here, &there}) {
        for (int i = 0; i < 3; ++i) one->hear(alice, Strike::failed_check, t0);
    }
    ASSERT_EQ(here.conduct_of(alice, t0).conduct, slowed);
    ASSERT_TRUE(here.admit(alice, t0).passes());
    ASSERT_EQ(told.all, (std::vector{std::pair(alice, Strike::turn_taken)}));
    there.hear(alice, Strike::turn_taken, t0);
    EXPECT_EQ(there.admit(alice, t0).retry_after, here.admit(alice, t0).retry_after);
    EXPECT_FALSE(there.admit(alice, t0).passes());
    EXPECT_EQ(told.all.size(), 1u) << "who is held back has taken no turn";
    there.hear(bob, Strike::turn_taken, t0);
    EXPECT_TRUE(there.admit(bob, t0).passes()) << "nobody is slowed for a turn";
}

TEST(Strikes, OneThatIsHeardLateIsForgottenAsIfItHadBeenGivenHere) {
    Strikes here(64, terms), there(64, terms);
    strike(here, alice, 3);
    for (int i = 0; i < 3; ++i) there.hear(alice, Strike::failed_check, t0);
    for (const int s : {0, 9, 10, 11, 20, 30}) {
        EXPECT_EQ(there.conduct_of(alice, t0 + seconds(s)).conduct,
                  here.conduct_of(alice, t0 + seconds(s)).conduct)
            << s;
    }
    there.hear(bob, Strike::failed_check, -seconds(5));  // before this machine was started
    EXPECT_EQ(there.conduct_of(bob, t0).conduct, fine);
}

TEST(Strikes, OneThatIsHeardLateTakesNothingAway) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 100);
    const auto before = strikes.conduct_of(alice, t0);
    strikes.hear(alice, Strike::failed_check, t0 - seconds(60));
    EXPECT_EQ(strikes.conduct_of(alice, t0).retry_after, before.retry_after);
}

TEST(Strikes, NoneIsRememberedForLongerThanItSays) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 100, t0 - strikes.remembered_max());
    for (int i = 0; i < 5; ++i) strikes.strike(alice, Strike::failed_check, t0);
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, slowed) << "five points, and nothing of before";
}

TEST(Strikes, NoneIsLostBetweenThreads) {
    StrikeTerms many = terms;
    many.slow_at = 50'000;
    many.bar_at = 100'000;
    Strikes strikes(64, many);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            strike(strikes, alice, 25'000);
            strike(strikes, buyer(1), 1000);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(strikes.conduct_of(alice, t0).conduct, barred);
    EXPECT_EQ(strikes.conduct_of(alice, t0 + seconds(10)).conduct, slowed) << "100,000 points exactly";
    EXPECT_EQ(strikes.conduct_of(buyer(1), t0).conduct, fine);
}

TEST(Strikes, OneOfManyThreadsGetsTheTurnOfASlowedBuyer) {
    Strikes strikes(64, terms);
    strike(strikes, alice, 5);
    std::atomic<int> passed{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; ++i) {
                if (strikes.admit(alice, t0).passes()) ++passed;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(passed, 1);
}

}  // namespace
}  // namespace doorbuster
