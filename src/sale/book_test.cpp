#include "sale/book.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

Book book_of(uint32_t units, uint32_t limit = 1, Phase phase = Phase::selling) {
    return Book({.units_per_buyer_max = limit, .opens_at = t0, .closes_at = t0 + 1h},
                {.units_total = units, .units_available = units}, phase);
}

ReserveOutcome reserve(Book& book, uint32_t id, const BuyerId& buyer, uint32_t units = 1, Instant now = t0) {
    return book.reserve({purchase(id), buyer, units, now}).outcome;
}

TEST(Book, RetryAfterSellOutStillHearsItIsYours) {
    Book book = book_of(1);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_EQ(reserve(book, 2, bob), sold_out);
    EXPECT_EQ(reserve(book, 1, alice), repeated);
}

TEST(Book, RetryAfterTheEndStillHearsItIsYours) {
    Book book = book_of(2);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 2h), repeated);
    EXPECT_EQ(reserve(book, 2, bob, 1, t0 + 2h), ended);
    book.set_phase(Phase::closed);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 2h), repeated);
}

TEST(Book, ARepeatReturnsTheSamePurchase) {
    Book book = book_of(3, 3);
    const auto first = book.reserve({purchase(1), alice, 1, t0});
    EXPECT_EQ(reserve(book, 2, alice), accepted);
    const auto again = book.reserve({purchase(1), alice, 1, t0 + 1s});
    EXPECT_EQ(again.outcome, repeated);
    EXPECT_EQ(again.sequence, first.sequence);
    EXPECT_EQ(again.accepted_at, first.accepted_at);
    EXPECT_EQ(again.state, HoldState::held);
}

TEST(Book, AReleasedPurchaseIsNeverActiveAgain) {
    Book book = book_of(1);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_TRUE(book.release(purchase(1)));
    const auto again = book.reserve({purchase(1), alice, 1, t0});
    EXPECT_EQ(again.outcome, repeated);
    EXPECT_EQ(again.state, HoldState::finished);
    EXPECT_EQ(book.stock().units_available, 1u);
}

TEST(Book, TheWindowIsHalfOpen) {
    Book book = book_of(9, 9);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 - 1ms), not_open);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0), accepted);
    EXPECT_EQ(reserve(book, 2, alice, 1, t0 + 1h - 1ms), accepted);
    EXPECT_EQ(reserve(book, 3, alice, 1, t0 + 1h), ended);
}

TEST(Book, ASaleThatIsNotReadyDoesNotOpenByTheClock) {
    Book book = book_of(1, 1, Phase::not_ready);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 1min), not_open);
    book.set_phase(Phase::selling);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 1min), accepted);
}

TEST(Book, PausedAndBack) {
    Book book = book_of(1);
    book.set_phase(Phase::paused);
    EXPECT_EQ(reserve(book, 1, alice), ReserveOutcome::paused);
    book.set_phase(Phase::selling);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
}

TEST(Book, TheLimitCountsActiveUnitsAndNamesAPurchaseThatHoldsThem) {
    Book book = book_of(10, 3);
    EXPECT_EQ(reserve(book, 1, alice, 2), accepted);
    EXPECT_EQ(reserve(book, 2, alice, 1), accepted);
    auto refused = book.reserve({purchase(3), alice, 1, t0});
    EXPECT_EQ(refused.outcome, limit_reached);
    EXPECT_EQ(refused.purchase, purchase(2));

    EXPECT_TRUE(book.release(purchase(2)));
    refused = book.reserve({purchase(3), alice, 2, t0});
    EXPECT_EQ(refused.outcome, limit_reached);
    EXPECT_EQ(refused.purchase, purchase(1)) << "a released purchase holds nothing";
    EXPECT_EQ(reserve(book, 3, alice, 1), accepted) << "cancelling gives the right back";
    EXPECT_EQ(reserve(book, 4, bob, 3), accepted) << "another buyer's right is untouched";
}

TEST(Book, AQuantityAboveTheLimitNamesNoPurchase) {
    Book book = book_of(10, 2);
    const auto refused = book.reserve({purchase(1), alice, 3, t0});
    EXPECT_EQ(refused.outcome, limit_reached);
    EXPECT_EQ(refused.purchase, PurchaseId{});
}

TEST(Book, ARefusalBindsNothing) {
    Book book = book_of(1);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_EQ(reserve(book, 2, bob), sold_out);
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(reserve(book, 2, bob), accepted) << "the same key may win later";
}

TEST(Book, TheSameKeyWithAnotherQuantityOrBuyerIsAMismatch) {
    Book book = book_of(10, 5);
    EXPECT_EQ(reserve(book, 1, alice, 2), accepted);
    EXPECT_EQ(reserve(book, 1, alice, 3), key_mismatch);
    EXPECT_EQ(reserve(book, 1, bob, 2), key_mismatch);
    EXPECT_EQ(book.stock().units_held, 2u);
}

TEST(Book, NothingIsReturnedTwice) {
    Book book = book_of(2, 2);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_FALSE(book.release(purchase(1)));
    EXPECT_FALSE(book.release(purchase(99)));
    EXPECT_EQ(book.stock(), (Stock{2, 2, 0, 0}));
}

TEST(Book, ASoldUnitCanBeReturnedToo) {
    Book book = book_of(1);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_TRUE(book.sell(purchase(1)));
    EXPECT_TRUE(book.sell(purchase(1))) << "what is sold stays so";
    EXPECT_EQ(book.stock(), (Stock{1, 0, 0, 1}));
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(book.stock(), (Stock{1, 1, 0, 0}));
    EXPECT_FALSE(book.sell(purchase(1)));
    EXPECT_FALSE(book.sell(purchase(99)));
}

TEST(Book, ARestockInMidSaleSellsOn) {
    Book book = book_of(1);
    EXPECT_EQ(reserve(book, 1, alice), accepted);
    EXPECT_EQ(reserve(book, 2, bob), sold_out);
    book.restock(1);
    EXPECT_EQ(reserve(book, 2, bob), accepted);
    EXPECT_EQ(book.stock(), (Stock{2, 0, 2, 0}));
}

TEST(Book, WhenTheLastUnitWentIsKnownAlsoToTheRebuiltOne) {
    Book book = book_of(2);
    EXPECT_EQ(book.last_taken_at(), std::nullopt);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 1s), accepted);
    EXPECT_EQ(reserve(book, 2, bob, 1, t0 + 2s), accepted);
    EXPECT_EQ(reserve(book, 3, carol, 1, t0 + 3s), sold_out);
    EXPECT_EQ(book.last_taken_at(), t0 + 2s);

    Book rebuilt({.units_per_buyer_max = 1, .opens_at = t0, .closes_at = t0 + 1h},
                 {.units_total = 2, .units_available = 1, .units_held = 1}, Phase::selling, 1);
    rebuilt.restore({purchase(1), alice, 1, 1, t0 + 1s}, HoldState::held);
    EXPECT_EQ(rebuilt.last_taken_at(), t0 + 1s);
    EXPECT_TRUE(rebuilt.apply({purchase(2), bob, 1, 2, t0 + 2s}));
    EXPECT_EQ(rebuilt.last_taken_at(), t0 + 2s);
}

TEST(Book, SequencesAreDenseWhateverIsRefusedBetween) {
    Book book = book_of(3, 1);
    EXPECT_EQ(book.reserve({purchase(1), alice, 1, t0}).sequence, 1u);
    EXPECT_EQ(reserve(book, 2, alice), limit_reached);
    EXPECT_EQ(book.reserve({purchase(3), bob, 1, t0}).sequence, 2u);
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(book.reserve({purchase(4), carol, 1, t0}).sequence, 3u);
}

TEST(Book, ARebuiltBookAnswersAsTheOneThatWasLost) {
    // Alice's purchase was ordered, Carol's ended; Bob's is in the ledger only.
    Book book({.units_per_buyer_max = 1, .opens_at = t0, .closes_at = t0 + 1h}, {3, 2, 1, 0}, Phase::selling);
    book.restore({purchase(1), alice, 1, 1, t0}, HoldState::held);
    book.restore({purchase(2), carol, 1, 2, t0}, HoldState::finished);
    const Acceptance bobs{purchase(3), bob, 1, 3, t0 + 1s};
    EXPECT_TRUE(book.apply(bobs));
    EXPECT_FALSE(book.apply(bobs)) << "a fact counts once";
    EXPECT_FALSE(book.apply({purchase(9), BuyerId("dave"), 2, 4, t0})) << "two units are not there";

    EXPECT_EQ(book.stock(), (Stock{3, 1, 2, 0}));
    EXPECT_EQ(reserve(book, 3, bob, 1, t0 + 1s), repeated);
    EXPECT_EQ(reserve(book, 4, alice, 1, t0 + 1s), limit_reached);
    EXPECT_EQ(book.reserve({purchase(5), carol, 1, t0 + 1s}).sequence, 4u);
}

TEST(Book, WhatIsWindowExemptIsAskedForLimitAndStockOnly) {
    for (const Phase phase : {Phase::not_ready, Phase::selling, Phase::paused, Phase::closed}) {
        Book book = book_of(2, 1, phase);
        const auto late = [&](uint32_t id, const BuyerId& buyer) {
            return book.reserve({purchase(id), buyer, 1, t0 + 2h, true}).outcome;
        };
        EXPECT_NE(reserve(book, 1, alice, 1, t0 + 2h), accepted);
        EXPECT_EQ(late(1, alice), accepted);
        EXPECT_EQ(late(1, alice), repeated);
        EXPECT_EQ(late(2, alice), limit_reached);
        EXPECT_EQ(late(3, bob), accepted);
        EXPECT_EQ(late(4, carol), sold_out);
        EXPECT_EQ(book.stock(), (Stock{2, 0, 2, 0}));
    }
}

TEST(Book, ARecountFollowsFromThePurchases) {
    Book book({.units_per_buyer_max = 1, .opens_at = t0, .closes_at = t0 + 1h},
              {.units_total = 5, .units_available = 1, .units_held = 3, .units_sold = 1}, Phase::selling);
    book.restore({purchase(1), alice, 1, 1, t0}, HoldState::held);
    book.restore({purchase(2), bob, 1, 2, t0}, HoldState::sold);
    book.restore({purchase(3), carol, 1, 3, t0}, HoldState::finished);
    book.recount();
    EXPECT_EQ(book.stock(), (Stock{5, 3, 1, 1}));
    book.recount();
    EXPECT_EQ(book.stock(), (Stock{5, 3, 1, 1}));
}

TEST(BookDeathTest, TimeThatRunsBackwardsIsABug) {
    Book book = book_of(2);
    EXPECT_EQ(reserve(book, 1, alice, 1, t0 + 1s), accepted);
    EXPECT_DEATH((void)book.reserve({purchase(2), bob, 1, t0}), "CHECK failed");
}

}  // namespace
}  // namespace doorbuster
