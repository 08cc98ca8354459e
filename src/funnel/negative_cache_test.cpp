#include "funnel/negative_cache.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using testing::alice;
using testing::bob;
using testing::purchase;

constexpr Uptime t0 = std::chrono::seconds(1000);

class Negative : public ::testing::Test {
protected:
    // True if the database was spared.
    template <class Id>
    bool look_up_in_vain(const Id& id, const BuyerId& buyer, Uptime now) {
        const auto question = cache_.question(id, buyer);
        if (cache_.is_missing(question, now)) return true;
        cache_.remember(question, now);
        return false;
    }

    Arrivals arrivals_;
    NegativeCache cache_{arrivals_};
};

TEST_F(Negative, AFloodOfOneIdReachesTheDatabaseOncePerSecond) {
    int look_ups = 0;
    for (int i = 0; i < 3000; ++i) {
        look_ups += !look_up_in_vain(purchase(1), alice, t0 + milliseconds(i));
    }
    EXPECT_EQ(look_ups, 3);
    EXPECT_EQ(cache_.hits_total(), 2997u);
}

TEST_F(Negative, AFloodOfOneOrderIdDoesToo) {
    EXPECT_FALSE(look_up_in_vain(OrderId{7}, alice, t0));
    EXPECT_TRUE(look_up_in_vain(OrderId{7}, alice, t0 + milliseconds(999)));
    EXPECT_FALSE(look_up_in_vain(OrderId{7}, alice, t0 + milliseconds(1000)));
}

TEST_F(Negative, WhatOneBuyerDoesNotFindAnotherMay) {
    EXPECT_FALSE(look_up_in_vain(purchase(1), alice, t0));
    EXPECT_FALSE(cache_.is_missing(cache_.question(purchase(1), bob), t0));
    EXPECT_FALSE(cache_.is_missing(cache_.question(purchase(2), alice), t0));
    EXPECT_TRUE(cache_.is_missing(cache_.question(purchase(1), alice), t0));
}

TEST_F(Negative, AnAcceptedPurchaseIsFoundAtOnceAtEveryGate) {
    NegativeCache other_gate(arrivals_);
    other_gate.remember(other_gate.question(purchase(1), alice), t0);
    EXPECT_TRUE(other_gate.is_missing(other_gate.question(purchase(1), alice), t0));
    arrivals_.arrived(purchase(1));
    EXPECT_FALSE(other_gate.is_missing(other_gate.question(purchase(1), alice), t0));
}

TEST_F(Negative, APurchaseThatArrivesDuringTheLookUpIsNotRememberedAsMissing) {
    const auto asked = cache_.question(purchase(1), alice);
    arrivals_.arrived(purchase(1));
    cache_.remember(asked, t0);
    EXPECT_FALSE(cache_.is_missing(cache_.question(purchase(1), alice), t0));
}

TEST_F(Negative, OtherPurchasesThatArriveRarelyMatter) {
    EXPECT_FALSE(look_up_in_vain(purchase(1), alice, t0));
    int disturbed = 0;
    for (uint32_t other = 2; other < 102; ++other) {
        arrivals_.arrived(purchase(other));
        disturbed += !look_up_in_vain(purchase(1), alice, t0);
    }
    EXPECT_LT(disturbed, 5);
}

TEST_F(Negative, AFloodOfIdsTakesNoMoreRoom) {
    for (uint32_t id = 0; id < 100'000; ++id) EXPECT_FALSE(look_up_in_vain(purchase(id), alice, t0));
    EXPECT_TRUE(look_up_in_vain(purchase(99'999), alice, t0));
}

}  // namespace
}  // namespace doorbuster
