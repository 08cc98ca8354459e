// What the three stock policies do with the same purchases.
#include <gtest/gtest.h>

#include <limits>

#include "sale/book.hpp"
#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

Book book_of(StockPolicy policy, uint32_t units, uint32_t limit = 1, uint32_t orders_max = 0) {
    return Book({.units_per_buyer_max = limit,
                 .opens_at = t0,
                 .closes_at = t0 + 1h,
                 .policy = policy,
                 .orders_max = orders_max},
                {.units_total = units, .units_available = units}, Phase::selling);
}

Book::ReserveAnswer reserve(Book& book, uint32_t id, const BuyerId& buyer, uint32_t units = 1) {
    return book.reserve({purchase(id), buyer, units, t0});
}

TEST(AtOrder, AnAcceptedUnitIsSoldAtOnceAndReturnsWhenItIsNotPaid) {
    Book book = book_of(StockPolicy::at_order, 1);
    const auto answer = reserve(book, 1, alice);
    EXPECT_EQ(answer.outcome, accepted);
    EXPECT_EQ(answer.state, HoldState::sold);
    EXPECT_EQ(book.stock(), (Stock{1, 0, 0, 1}));
    EXPECT_EQ(reserve(book, 2, bob).outcome, sold_out);
    EXPECT_TRUE(book.sell(purchase(1))) << "it is paid: nothing to move";
    EXPECT_EQ(book.stock(), (Stock{1, 0, 0, 1}));
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(book.stock(), (Stock{1, 1, 0, 0}));
    EXPECT_EQ(reserve(book, 2, bob).outcome, accepted);
}

TEST(AtPayment, AnOrderTakesNoUnitAndItsPaymentDoes) {
    Book book = book_of(StockPolicy::at_payment, 1);
    EXPECT_EQ(reserve(book, 1, alice).state, HoldState::open);
    EXPECT_EQ(reserve(book, 2, bob).outcome, accepted) << "twice the units may be asked for";
    EXPECT_EQ(book.stock(), (Stock{1, 1, 0, 0}));
    EXPECT_EQ(book.slots_used(), 2u);

    EXPECT_TRUE(book.sell(purchase(2)));
    EXPECT_EQ(book.stock(), (Stock{1, 0, 0, 1}));
    EXPECT_EQ(book.slots_used(), 1u);
    EXPECT_FALSE(book.sell(purchase(1))) << "no unit is left for this one";
    EXPECT_EQ(book.slots_used(), 1u);
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(book.slots_used(), 0u);
    EXPECT_EQ(book.stock(), (Stock{1, 0, 0, 1}));
}

TEST(AtPayment, BeyondTheSlotsBuyersHearForNowAndWithoutUnitsSoldOut) {
    Book book = book_of(StockPolicy::at_payment, 2, 2, 3);
    EXPECT_EQ(reserve(book, 1, alice, 2).outcome, accepted);
    EXPECT_FALSE(book.orders_full());
    EXPECT_EQ(reserve(book, 2, bob, 2).outcome, sold_out_for_now) << "slots count units";
    EXPECT_EQ(reserve(book, 2, bob, 1).outcome, accepted);
    EXPECT_TRUE(book.orders_full());
    EXPECT_EQ(reserve(book, 3, carol).outcome, sold_out_for_now);
    EXPECT_EQ(reserve(book, 1, alice, 2).outcome, repeated);
    EXPECT_EQ(reserve(book, 4, alice).outcome, limit_reached) << "an open order counts for the limit";

    EXPECT_TRUE(book.release(purchase(2)));
    EXPECT_EQ(reserve(book, 3, carol).outcome, accepted) << "a slot that came back is given again";
    EXPECT_TRUE(book.sell(purchase(1)));
    EXPECT_EQ(reserve(book, 5, bob).outcome, sold_out);
    EXPECT_TRUE(book.release(purchase(1)));
    EXPECT_EQ(reserve(book, 5, bob).outcome, accepted) << "a refund that returns its units reopens it";
}

TEST(AtPayment, WithoutABoundOfItsOwnItFollowsTheUnits) {
    Book book = book_of(StockPolicy::at_payment, 1, 3);
    EXPECT_EQ(reserve(book, 1, alice).outcome, accepted);
    EXPECT_EQ(reserve(book, 2, alice).outcome, accepted);
    EXPECT_EQ(reserve(book, 3, alice).outcome, sold_out_for_now);
    book.restock(1);
    EXPECT_EQ(reserve(book, 3, alice).outcome, accepted);

    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    Book huge = book_of(StockPolicy::at_payment, most - 1, most);
    EXPECT_EQ(reserve(huge, 1, alice, most - 1).outcome, accepted) << "twice that is still a number";
    EXPECT_EQ(reserve(huge, 2, bob, 2).outcome, sold_out_for_now);
}

TEST(Policies, ARebuiltBookHoldsWhatTheRecordsSay) {
    Book at_order({1, t0, t0 + 1h, StockPolicy::at_order}, {3, 2, 0, 1}, Phase::selling);
    at_order.restore({purchase(1), alice, 1, 1, t0}, HoldState::sold);
    EXPECT_TRUE(at_order.apply({purchase(2), bob, 1, 2, t0}));
    EXPECT_EQ(at_order.stock(), (Stock{3, 1, 0, 2}));

    Book at_payment({1, t0, t0 + 1h, StockPolicy::at_payment, 2}, {1, 0, 0, 1}, Phase::selling);
    at_payment.restore({purchase(1), alice, 1, 1, t0}, HoldState::sold);
    at_payment.restore({purchase(2), bob, 1, 2, t0}, HoldState::open);
    const Acceptance carols{purchase(3), carol, 1, 3, t0};
    EXPECT_TRUE(at_payment.apply(carols)) << "it needs no unit";
    EXPECT_FALSE(at_payment.apply(carols));
    EXPECT_EQ(at_payment.slots_used(), 2u);
    EXPECT_TRUE(at_payment.orders_full());
    EXPECT_EQ(reserve(at_payment, 4, bob).outcome, limit_reached);
    EXPECT_TRUE(at_payment.release(purchase(3)));
    EXPECT_EQ(at_payment.slots_used(), 1u);
}

TEST(PoliciesDeathTest, APolicyThatChangesUnderItsPurchasesIsABug) {
    Book book = book_of(StockPolicy::reserve, 2);
    book.set_terms({1, t0, t0 + 1h, StockPolicy::at_order});
    EXPECT_EQ(reserve(book, 1, alice).state, HoldState::sold);
    EXPECT_DEATH(book.set_terms({1, t0, t0 + 1h, StockPolicy::at_payment}), "CHECK failed");
}

}  // namespace
}  // namespace doorbuster
