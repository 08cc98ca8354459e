#include "orders/letters_desk.hpp"

#include <gtest/gtest.h>

#include "orders/money_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class LettersDeskTest : public ::testing::Test {
protected:
    // A record that became a dead letter, though nothing is wrong with it any more.
    void bury(uint32_t number, const BuyerId& buyer) {
        shop.press(number, buyer);
        const auto records = shop.reader->read_after(shop.process->worker.position(), 1);
        ASSERT_TRUE(records && records->size() == 1);
        ASSERT_TRUE(shop.orders->bury(shop.process->worker.position(), records->front(), "a fault", shop.now)
                        .has_value());
        shop.restart();
    }
    StoreResult<LetterState> retry(uint64_t position) {
        StoreResult<LetterState> result{StoreError{StoreErrc::unavailable, "not answered", ""}};
        shop.process->letters.retry(position, shop.now, [&](const auto& answer) { result = answer; });
        shop.run_posted();
        return result;
    }
    PurchaseRecord buried(uint32_t number) {
        return shop.orders->reader().find_purchase(purchase(number))->value();
    }
    LetterState state(uint64_t position) {
        return shop.orders->reader().dead_letters(position - 1, 1)->front().state;
    }

    Shop shop{StockPolicy::reserve, 1};
};

TEST_F(LettersDeskTest, ALetterThatIsTriedAgainEndsAsTheOrderOfTheBuriedPurchase) {
    bury(1, alice);
    EXPECT_EQ(buried(1).state, PurchaseState::cancelled);
    EXPECT_EQ(shop.book().units_available, 1u);
    EXPECT_EQ(*retry(1), LetterState::retried);
    shop.process->changed.clear();
    shop.work();
    EXPECT_EQ(buried(1).state, PurchaseState::ordered);
    EXPECT_EQ(shop.state(shop.order_of(1)), OrderState::pending_payment);
    EXPECT_EQ(shop.process->changed, std::vector{purchase(1)}) << "its buyer knows it by that id";
    EXPECT_EQ(*retry(1), LetterState::retried) << "repeating is safe";
    shop.work();
    EXPECT_EQ(shop.row(), (Stock{1, 0, 1, 0}));
    EXPECT_EQ(shop.book(), shop.row());
    EXPECT_EQ(shop.process->letters.drop(1, shop.now).error().code, StoreErrc::not_allowed);
    // Its unit comes back under the id that holds it.
    shop.run_for(16min, 10s);
    shop.expect_settled();
}

TEST_F(LettersDeskTest, ACrashBetweenTheBooksYesAndTheClosingChangesNothing) {
    bury(1, alice);
    shop.process->letters.retry(1, shop.now, [](const auto&) {});
    shop.restart();  // before the answer was heard
    EXPECT_EQ(state(1), LetterState::open);
    shop.work();
    EXPECT_EQ(*retry(1), LetterState::retried);
    shop.work();
    EXPECT_EQ(shop.row(), (Stock{1, 0, 1, 0})) << "one unit, not two";
}

TEST_F(LettersDeskTest, ALetterThatIsTriedAgainCannotBeDroppedMeanwhileNorAfterACrash) {
    bury(1, alice);
    shop.process->letters.retry(1, shop.now, [](const auto&) {});
    EXPECT_EQ(shop.process->letters.drop(1, shop.now).error().code, StoreErrc::unavailable);
    shop.restart();  // before the answer was heard
    EXPECT_EQ(shop.process->letters.drop(1, shop.now).error().code, StoreErrc::unavailable)
        << "the book's yes is in the ledger";
    shop.work();
    EXPECT_EQ(shop.process->letters.drop(1, shop.now).error().code, StoreErrc::not_allowed);
    EXPECT_EQ(state(1), LetterState::retried);
    EXPECT_EQ(buried(1).state, PurchaseState::ordered);
}

TEST_F(LettersDeskTest, ALetterThatFindsNoUnitStaysOpen) {
    bury(1, alice);
    shop.buy(2, bob);
    const auto refused = retry(1);
    EXPECT_EQ(refused.error().code, StoreErrc::not_allowed);
    EXPECT_NE(refused.error().detail.find("sold_out"), std::string::npos);
    EXPECT_EQ(state(1), LetterState::open);
    EXPECT_EQ(buried(1).state, PurchaseState::cancelled);
}

TEST_F(LettersDeskTest, ADroppedLetterStaysCancelled) {
    bury(1, alice);
    EXPECT_EQ(*shop.process->letters.drop(1, shop.now), LetterState::dropped);
    EXPECT_EQ(*shop.process->letters.drop(1, shop.now), LetterState::dropped);
    EXPECT_EQ(retry(1).error().code, StoreErrc::not_allowed);
    EXPECT_EQ(buried(1).state, PurchaseState::cancelled);
}

TEST_F(LettersDeskTest, WhatIsNoLetterIsNotFound) {
    shop.buy(1, alice);
    for (const uint64_t position : {0u, 1u, 7u}) {
        EXPECT_EQ(retry(position).error().code, StoreErrc::not_found);
        EXPECT_EQ(shop.process->letters.drop(position, shop.now).error().code, StoreErrc::not_found);
    }
}

TEST_F(LettersDeskTest, ARecordThatCannotBeReadCanOnlyBeDropped) {
    struct Unreadable final : LedgerReader {
        StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t) override {
            return std::vector{LedgerRecord{.position = position + 1, .entry = {}, .raw = "?"}};
        }
        StoreResult<std::optional<LedgerRecord>> find_after(uint64_t, const PurchaseId&) override {
            return std::optional<LedgerRecord>();
        }
        StoreResult<LedgerCut> end() override { return LedgerCut(1); }
    } unreadable;
    ASSERT_TRUE(shop.orders->bury(0, {.position = 1, .entry = {}, .raw = "?"}, "it cannot be read", shop.now)
                    .has_value());
    LettersDesk desk(unreadable, *shop.orders, shop.process->books, [](const auto& task) { task(); });
    StoreResult<LetterState> result{LetterState::open};
    desk.retry(1, shop.now, [&](const auto& answer) { result = answer; });
    EXPECT_EQ(result.error().code, StoreErrc::not_allowed);
    EXPECT_EQ(*desk.drop(1, shop.now), LetterState::dropped);
}

}  // namespace
}  // namespace doorbuster
