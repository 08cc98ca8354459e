#include "orders/payment_desk.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "orders/money_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum OrderState;

class PaymentDeskTest : public ::testing::TestWithParam<StockPolicy> {};
INSTANTIATE_TEST_SUITE_P(EveryPolicy, PaymentDeskTest,
                         ::testing::Values(StockPolicy::reserve, StockPolicy::at_order,
                                           StockPolicy::at_payment),
                         [](const auto& policy) { return std::string(name_of(policy.param)); });

TEST_P(PaymentDeskTest, WhoPaysInTimeHasTheGoods) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    EXPECT_EQ(shop.paid->url, "https://pay.example/" + std::to_string(static_cast<int64_t>(payment)));
    EXPECT_EQ(shop.state(order), paying);
    shop.process->changed.clear();
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.settle_now();
    EXPECT_EQ(shop.state(order), paid);
    EXPECT_EQ(shop.process->changed, std::vector{purchase(1)});
    EXPECT_EQ(shop.row().units_sold, 1u);
    EXPECT_EQ(shop.process->tally.money().paid, 1u);
    EXPECT_TRUE(shop.process->strikes.empty());
    shop.run_for(1h, 1min);
    shop.expect_settled();
    EXPECT_EQ(shop.state(order), paid) << "a timer never takes a paid order away";
}

// A look that found nothing is not repeated at once; what falls due meanwhile is not missed.
TEST_P(PaymentDeskTest, WhatFallsDueBetweenTwoSweepsIsSweptByTheNext) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const Instant pay_by = shop.order(order).pay_by;
    shop.pass(std::chrono::floor<milliseconds>(pay_by - shop.now) - 1ms);
    shop.step();
    EXPECT_EQ(shop.state(order), pending_payment);
    shop.pass(100ms);
    shop.step();
    EXPECT_EQ(shop.state(order), pending_payment) << "nothing was due a moment ago";
    shop.pass(100ms);
    shop.step();
    EXPECT_EQ(shop.state(order), expired);
}

TEST_P(PaymentDeskTest, OneAttemptHoweverOftenItIsAskedFor) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    int answers = 0;
    std::optional<PaymentId> first;
    for (int tab = 0; tab < 3; ++tab) {
        shop.process->desk.begin(order, alice, shop.now, [&](const StoreResult<PaymentRecord>& result) {
            ASSERT_TRUE(result.has_value());
            if (!first) first = result->id;
            EXPECT_EQ(result->id, *first);
            ++answers;
        });
    }
    EXPECT_EQ(shop.process->calls.size(), 1u);
    shop.answer_one();
    EXPECT_EQ(answers, 3);
    EXPECT_EQ(shop.begin(order, alice), *first) << "later too, without a call";
    EXPECT_EQ(shop.provider.asked, std::vector{ProviderAsk::create});
}

TEST_P(PaymentDeskTest, TooManyWhoWaitForOneAttemptAreSentAway) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    size_t sent_away = 0;
    for (size_t tab = 0; tab < shop.options.waiters_max + 3; ++tab) {
        shop.process->desk.begin(order, alice, shop.now, [&](const StoreResult<PaymentRecord>& result) {
            sent_away += !result && result.error().code == StoreErrc::unavailable;
        });
    }
    EXPECT_EQ(sent_away, 3u);
}

TEST_P(PaymentDeskTest, AnOrderHasSoManyAttemptsAndNoMore) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    for (size_t attempt = 0; attempt < shop.options.attempts_max; ++attempt) {
        shop.provider.decline(shop.begin(order, alice));
        shop.run_for(10s);
        ASSERT_EQ(shop.state(order), pending_payment);
    }
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    EXPECT_EQ(shop.paid.error().code, StoreErrc::not_allowed);
    shop.run_for(16min, 1min);
    EXPECT_EQ(shop.state(order), expired);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AnothersOrderIsAsGoodAsNone) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    shop.process->desk.begin(order, bob, shop.now, shop.keep_payment());
    EXPECT_EQ(shop.paid.error().code, StoreErrc::not_found);
    shop.process->desk.cancel(order, bob, shop.now, shop.keep_order());
    EXPECT_EQ(shop.done.error().code, StoreErrc::not_found);
    shop.process->desk.cancel(OrderId{5}, bob, shop.now, shop.keep_order());
    EXPECT_EQ(shop.done.error().code, StoreErrc::not_found);
    EXPECT_EQ(shop.state(order), pending_payment);
}

TEST_P(PaymentDeskTest, WithoutAProviderNothingIsPaidAndOrdersStillExpire) {
    Shop shop(GetParam());
    shop.options.enabled = false;
    shop.restart();
    const OrderId order = shop.buy(1, alice);
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    EXPECT_EQ(shop.paid.error().code, StoreErrc::not_allowed);
    shop.run_for(16min, 1min);
    EXPECT_EQ(shop.state(order), expired);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AnUnpaidOrderExpiresAndTheNextBuyerCanHaveTheUnit) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    shop.run_for(14min, 1min);
    EXPECT_EQ(shop.state(order), pending_payment);
    shop.run_for(2min, 1min);
    EXPECT_EQ(shop.state(order), expired);
    EXPECT_EQ(shop.process->strikes, std::vector{alice});
    EXPECT_EQ(shop.process->tally.money().expired, 1u);
    shop.expect_settled();
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    EXPECT_EQ(shop.paid.error().code, StoreErrc::not_allowed);
    shop.buy(2, bob);
    shop.press(3, alice);
    EXPECT_NE(shop.outcome, ReserveOutcome::limit_reached) << "the right is back too";
}

TEST_P(PaymentDeskTest, ExpiryVoidsFirstAndTheUnitGoesBackOnlyWithTheConfirmedVoid) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    const Stock before = shop.book();
    shop.provider.reachable = false;
    shop.run_for(20min, 10s);
    EXPECT_EQ(shop.state(order), voiding);
    EXPECT_EQ(shop.book(), before) << "the provider cannot be reached: the unit is parked";
    EXPECT_EQ(shop.row(), before);
    EXPECT_TRUE(shop.process->strikes.empty());
    shop.provider.reachable = true;
    shop.run_for(12min, 10s);
    EXPECT_EQ(shop.state(order), expired);
    EXPECT_EQ(shop.payment(payment).state, PaymentState::voided);
    EXPECT_EQ(shop.process->strikes, std::vector{alice});
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AProviderThatCannotBeReachedIsNotAskedInATightLoop) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    shop.provider.reachable = false;
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    shop.answer_one();
    EXPECT_EQ(shop.paid.error().code, StoreErrc::unavailable);
    EXPECT_EQ(shop.state(order), paying) << "the attempt stays";
    shop.run_for(14min, 1s);
    EXPECT_LE(shop.provider.asked.size(), 10u);
    EXPECT_GE(shop.provider.asked.size(), 6u);
    shop.provider.reachable = true;
    EXPECT_NE(shop.begin(order, alice), PaymentId{}) << "but the buyer's word asks at once";
}

TEST_P(PaymentDeskTest, ACaptureWhileItIsBeingVoidedPays) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.pass(15min);
    shop.step();
    EXPECT_EQ(shop.state(order), voiding);
    shop.provider.capture(payment);
    shop.run_for(1h, 1min);
    EXPECT_EQ(shop.state(order), paid);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ALostWebhookIsMadeGoodByPolling) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    shop.provider.capture(shop.begin(order, alice));
    shop.run_for(10s);
    EXPECT_EQ(shop.state(order), paid);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AHintCountsOnceAndAForgedOneChangesNothing) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    EXPECT_EQ(shop.process->desk.hint("evt-0", PaymentId{404}, shop.now).error().code, StoreErrc::not_found);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.settle_now();
    EXPECT_EQ(shop.state(order), paying) << "the hint said captured, the provider does not";
    EXPECT_FALSE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.restart();
    EXPECT_FALSE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.provider.asked.clear();
    shop.settle_now();
    EXPECT_TRUE(shop.provider.asked.empty()) << "no second effect";
}

TEST_P(PaymentDeskTest, AHintThatComesWhileTheProviderIsBeingAskedIsFollowedAfterwards) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    ASSERT_EQ(shop.process->calls.size(), 1u);
    const ProviderCall call = shop.process->calls.front();
    shop.process->calls.clear();
    const ProviderAnswer old = shop.provider.answer(call);  // before the capture, still on its way
    shop.provider.capture(call.payment.id);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", call.payment.id, shop.now));
    shop.step();
    EXPECT_TRUE(shop.process->calls.empty()) << "one call at a time for one attempt";
    shop.process->desk.answered(call, old, shop.now);
    EXPECT_EQ(shop.state(order), paying);
    shop.settle_now();
    EXPECT_EQ(shop.state(order), paid) << "without any time passing";
}

TEST_P(PaymentDeskTest, ADeclineGivesAnotherTry) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const PaymentId first = shop.begin(order, alice);
    shop.provider.decline(first);
    shop.run_for(20s);
    EXPECT_EQ(shop.state(order), pending_payment);
    const PaymentId second = shop.begin(order, alice);
    EXPECT_NE(first, second);
    shop.provider.capture(second);
    shop.run_for(1h, 10s);
    EXPECT_EQ(shop.state(order), paid);
    EXPECT_EQ(shop.payment(first).state, PaymentState::voided) << "nobody can pay it any more";
    EXPECT_EQ(shop.process->tally.money().declined, 1u);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, OfTwoCapturesTheFirstPaysAndTheOtherGoesBackOnItsOwnRecord) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    const PaymentId first = shop.begin(order, alice);
    shop.provider.decline(first);
    shop.run_for(20s);
    const PaymentId second = shop.begin(order, alice);
    shop.provider.capture(second);
    shop.provider.capture(first);
    shop.run_for(1h, 10s);
    EXPECT_EQ(shop.state(order), paid);
    const PaymentId pays = *shop.order(order).payment, other = pays == first ? second : first;
    EXPECT_EQ(shop.payment(pays).state, PaymentState::captured);
    EXPECT_EQ(shop.payment(other).state, PaymentState::refunded);
    EXPECT_EQ(std::ranges::count(shop.events(), EventKind::payment_refunded), 1);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AnUnderpaidOrderIsRefundedAndItsUnitGoesBack) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    shop.provider.capture(shop.begin(order, alice), 1);
    shop.run_for(1min);
    EXPECT_EQ(shop.state(order), refunded);
    EXPECT_EQ(shop.order(order).reason, reason_wrong_amount);
    EXPECT_TRUE(shop.process->strikes.empty());
    shop.expect_settled();
    shop.buy(2, bob);
}

TEST_P(PaymentDeskTest, TheBuyerCancelsAndRepeatingIsSafe) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    for (int time = 0; time < 2; ++time) {
        shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
        ASSERT_TRUE(shop.done.has_value());
        EXPECT_EQ(shop.done->state, cancelled);
    }
    EXPECT_EQ(shop.process->strikes, std::vector{alice});
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ACancelWhilePayingWaitsForTheProvidersNo) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    shop.begin(order, alice);
    const Stock before = shop.book();
    for (int time = 0; time < 2; ++time) {
        shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
        EXPECT_EQ(shop.done->state, voiding);
    }
    EXPECT_EQ(shop.book(), before);
    shop.settle_now();
    EXPECT_EQ(shop.state(order), cancelled);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ACancelBeforeTheProviderKnowsTheAttemptLeavesAMarkThere) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    shop.process->desk.begin(order, alice, shop.now, shop.keep_payment());
    const PaymentId payment = *shop.order(order).payment;
    shop.restart();  // and the request to create it never left
    shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
    shop.settle_now();
    EXPECT_EQ(shop.state(order), cancelled);
    EXPECT_EQ(shop.provider.payments[payment].state, ProviderState::voided);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AnAttemptThatWasDeclinedIsTakenBackWhenItsOrderEnds) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.provider.decline(payment);
    shop.run_for(20s);
    shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
    shop.settle_now();
    EXPECT_EQ(shop.provider.payments[payment].state, ProviderState::voided);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ACaptureAfterTheVoidGetsAUnitIfOneIsLeft) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    EXPECT_EQ(shop.state(order), expired);
    shop.process->changed.clear();
    shop.provider.capture(payment);  // it lied
    shop.run_for(12min, 10s);
    EXPECT_EQ(shop.state(order), paid);
    EXPECT_NE(shop.order(order).holder, purchase(1));
    EXPECT_EQ(shop.process->tally.money().reinstated, 1u);
    EXPECT_TRUE(std::ranges::count(shop.process->changed, purchase(1)) >= 2);
    shop.expect_settled();
    shop.restart();
    shop.expect_settled();
    // And the shop may still take it back: the unit returns under the id that holds it.
    shop.process->desk.refund(order, true, "broken", shop.now, shop.keep_order());
    EXPECT_EQ(shop.done->state, refunding);
    shop.settle_now();
    EXPECT_EQ(shop.state(order), refunded);
    EXPECT_EQ(shop.row().units_available, 1u);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ACaptureAfterTheVoidGoesBackIfNoUnitIsLeft) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    const OrderId other = shop.buy(2, bob);
    shop.provider.capture(shop.begin(other, bob));
    shop.run_for(10s);
    ASSERT_EQ(shop.state(other), paid);
    shop.provider.capture(payment);
    shop.run_for(12min, 10s);
    EXPECT_EQ(shop.state(order), refunded);
    EXPECT_EQ(shop.order(order).reason, reason_too_late);
    EXPECT_EQ(shop.provider.payments[payment].state, ProviderState::refunded);
    shop.expect_settled();
}

// An order whose late capture the book has said yes to; the worker has not come to it yet.
OrderId reinstated_but_not_placed(Shop& shop) {
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    for (int round = 0; round < 6; ++round) {  // the book is asked again, and again
        shop.step();
        shop.run_posted();
        while (!shop.process->calls.empty()) shop.answer_one();
        shop.pass(10s);
    }
    EXPECT_EQ(shop.state(order), reinstating);
    return order;
}

TEST_P(PaymentDeskTest, AWorkerThatIsBehindCostsNobodyTheUnitThatTheBookGave) {
    Shop shop(GetParam(), 1);
    const OrderId order = reinstated_but_not_placed(shop);
    shop.work();
    EXPECT_EQ(shop.state(order), paid);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AUnitThatTheBookGaveAndThatCouldNotBePlacedEndsInARefund) {
    Shop shop(GetParam(), 1);
    const OrderId order = reinstated_but_not_placed(shop);
    const uint64_t position = shop.process->worker.position();
    const auto records = shop.reader->read_after(position, 1);
    ASSERT_EQ(records->size(), 1u);
    ASSERT_TRUE(shop.orders->bury(position, records->front(), "a fault", shop.now).has_value());
    shop.restart();
    shop.run_for(1min);
    EXPECT_EQ(shop.state(order), refunded);
    shop.expect_settled();
    StoreResult<LetterState> retried{LetterState::open};
    shop.process->letters.retry(position + 1, shop.now, [&](const auto& answer) { retried = answer; });
    shop.run_posted();
    EXPECT_EQ(retried.error().code, StoreErrc::not_allowed)
        << "the money is back: nothing is left to continue";
}

TEST_P(PaymentDeskTest, ALateCaptureOfABuyerWhoBoughtAgainGoesBack) {
    Shop shop(GetParam(), 2);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    const OrderId again = shop.buy(2, alice);
    shop.provider.capture(shop.begin(again, alice));
    shop.provider.capture(payment);
    shop.run_for(12min, 10s);
    EXPECT_EQ(shop.state(again), paid);
    EXPECT_EQ(shop.state(order), refunded) << "the limit is one";
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AVoidedAttemptIsWatchedForADayAndThenLeftAlone) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    EXPECT_TRUE(shop.payment(payment).look_at);
    shop.run_for(20h, 5min);
    EXPECT_TRUE(shop.payment(payment).look_at);
    shop.run_for(20h, 5min);
    EXPECT_FALSE(shop.payment(payment).look_at);
    EXPECT_EQ(*shop.orders->reader().unsettled(SaleId("phone-drop")), 0u);
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-late", payment, shop.now)) << "a hint still counts";
    shop.settle_now();
    EXPECT_EQ(shop.state(order), paid);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, TheShopRefundsAndSaysWhereTheUnitsGo) {
    for (const bool units_return : {true, false}) {
        Shop shop(GetParam(), 1);
        const OrderId order = shop.buy(1, alice);
        shop.process->desk.refund(order, true, "no", shop.now, shop.keep_order());
        EXPECT_EQ(shop.done.error().code, StoreErrc::not_allowed);
        shop.provider.capture(shop.begin(order, alice));
        shop.run_for(10s);
        shop.process->desk.refund(order, units_return, "broken", shop.now, shop.keep_order());
        EXPECT_EQ(shop.done->state, refunding);
        shop.settle_now();
        EXPECT_EQ(shop.state(order), refunded);
        shop.process->desk.refund(order, units_return, "broken", shop.now, shop.keep_order());
        EXPECT_EQ(shop.done->state, refunded);
        EXPECT_EQ(shop.row().units_available, units_return ? 1u : 0u);
        shop.expect_settled();
    }
}

TEST_P(PaymentDeskTest, ARefundIsAskedForUntilTheProviderHasConfirmedIt) {
    Shop shop(GetParam(), 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.provider.capture(payment);
    shop.run_for(10s);
    shop.process->desk.refund(order, true, "broken", shop.now, shop.keep_order());
    shop.provider.reachable = false;
    shop.run_for(1min);
    EXPECT_EQ(shop.state(order), refunding);
    shop.provider.reachable = true;
    shop.run_for(5min);
    EXPECT_EQ(shop.state(order), refunded);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, ManyDueOrdersExpireInBatches) {
    Shop shop(GetParam(), 60);
    shop.options.sweep_batch = 20;
    shop.restart();
    for (uint32_t i = 1; i <= 60; ++i) shop.press(i, BuyerId("buyer-" + std::to_string(i)));
    shop.work();
    shop.pass(16min);
    for (const bool more : {true, true, true, false}) {
        EXPECT_EQ(*shop.process->desk.step(shop.now, shop.uptime), more);
    }
    EXPECT_EQ(shop.process->tally.orders()[static_cast<size_t>(expired)], 60u);
    EXPECT_EQ(shop.book().units_available, 60u);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AClockSetForwardTakesNobodysTimeAndOneSetBackBringsNothingForward) {
    Shop shop(GetParam());
    const OrderId order = shop.buy(1, alice);
    shop.run_for(1min);
    shop.now += 1h;  // and no time has passed
    shop.run_for(10min, 10s);
    EXPECT_EQ(shop.state(order), pending_payment);
    EXPECT_EQ(shop.process->desk.due_by(shop.now).trusted, shop.now - 1h);
    shop.begin(order, alice);
    EXPECT_EQ(shop.state(order), paying) << "its window is still open";
    shop.run_for(5min, 10s);
    EXPECT_NE(shop.state(order), paying);
    shop.expect_settled();

    const OrderId after = shop.buy(2, bob);
    shop.run_for(14min, 10s);
    EXPECT_EQ(shop.state(after), pending_payment);
    shop.run_for(2min, 10s);
    EXPECT_EQ(shop.state(after), expired)
        << "what was made after the step has its time by the clock as it is";

    const OrderId later = shop.buy(3, bob);
    for (int i = 0; i < 60; ++i) {  // a clock that gives no more than this has nothing to bring forward
        shop.uptime += 1min;
        shop.step();
    }
    EXPECT_EQ(shop.state(later), pending_payment);
}

TEST_P(PaymentDeskTest, NoMoreCallsAtATimeThanAllowed) {
    Shop shop(GetParam(), 20);
    shop.options.calls_max = 3;
    shop.restart();
    std::vector<OrderId> made;
    for (uint32_t i = 1; i <= 8; ++i) {
        const BuyerId buyer("buyer-" + std::to_string(i));
        made.push_back(shop.buy(i, buyer));
        shop.begin(made.back(), buyer);
    }
    shop.pass(16min);
    shop.step();
    EXPECT_EQ(shop.process->calls.size(), 3u);
    EXPECT_EQ(shop.process->desk.calls_under_way(), 3u);
    shop.run_for(1min);
    for (const OrderId order : made) EXPECT_EQ(shop.state(order), expired);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, LooksAtASlowProviderLeaveRoomForABuyer) {
    Shop shop(GetParam(), 20);
    shop.options.calls_max = 4;
    shop.restart();
    for (uint32_t i = 1; i <= 4; ++i) {
        const BuyerId buyer("buyer-" + std::to_string(i));
        shop.begin(shop.buy(i, buyer), buyer);
    }
    shop.run_for(1s);
    shop.pass(16min);
    shop.step();
    EXPECT_EQ(shop.process->calls.size(), 3u) << "four are due, and the provider does not answer";

    const OrderId order = shop.buy(5, bob);
    shop.process->desk.begin(order, bob, shop.now, [](const auto&) {});
    ASSERT_EQ(shop.process->calls.size(), 4u);
    EXPECT_EQ(shop.process->calls.back().payment.order, order);
    shop.run_for(17min);
    shop.expect_settled();
}

TEST_P(PaymentDeskTest, AUnitNeverWaitsBehindTheWatchOfVoidedAttempts) {
    Shop shop(GetParam(), 40);
    shop.options.calls_max = 8;
    shop.restart();
    std::vector<OrderId> made;
    for (uint32_t i = 1; i <= 20; ++i) {
        const BuyerId buyer("buyer-" + std::to_string(i));
        made.push_back(shop.buy(i, buyer));
        shop.begin(made.back(), buyer);
    }
    shop.run_for(17min, 5s);
    for (const OrderId one : made) ASSERT_EQ(shop.state(one), expired);

    const OrderId order = shop.buy(21, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
    ASSERT_EQ(shop.state(order), voiding);
    shop.pass(10min);  // the watch of all twenty is due, and for longer than the void of this one
    shop.step();
    ASSERT_EQ(shop.process->calls.size(), 3u) << "of eight calls the watch has two";
    EXPECT_EQ(shop.process->calls.front().payment.id, payment);
    EXPECT_EQ(shop.process->calls.front().ask, ProviderAsk::take_back);
    shop.step();
    EXPECT_EQ(shop.process->calls.size(), 3u) << "the provider is slow, and the watch has its two";
    shop.run_for(1s);
    EXPECT_EQ(shop.state(order), cancelled);
    shop.run_for(1h, 10s);
    shop.expect_settled();
}

// Whatever a payment and its order go through, dying at any point forgets nothing.
class Crashes : public ::testing::TestWithParam<std::tuple<StockPolicy, int>> {};
INSTANTIATE_TEST_SUITE_P(EveryStep, Crashes,
                         ::testing::Combine(::testing::Values(StockPolicy::reserve, StockPolicy::at_order,
                                                              StockPolicy::at_payment),
                                            ::testing::Range(0, 10)),
                         [](const auto& at) {
                             return std::string(name_of(std::get<0>(at.param))) + "_" +
                                    std::to_string(std::get<1>(at.param));
                         });

// The ways to die, in the order in which the steps come.
enum class Dying { unanswered, answered_into_the_void, before_the_worker, book_deaf, book_asked };

struct CrashingShop : Shop {
    using Shop::Shop;
    // One round, cut short; then a new process goes on.
    void round_and_die(Dying how) {
        if (how == Dying::book_deaf) process->books.is_deaf = true;
        step();
        if (how == Dying::book_asked) return restart();  // its word was posted, and nobody reads it
        run_posted();
        if (how == Dying::unanswered) return restart();
        while (!process->calls.empty()) answer_one(how != Dying::answered_into_the_void);
        if (how != Dying::before_the_worker && how != Dying::book_deaf) work();
        restart();
    }
};

TEST_P(Crashes, AProcessThatDiesAnywhereForgetsNoMoneyAndNoUnit) {
    const auto [policy, dies_in_round] = GetParam();
    for (const Dying how : {Dying::unanswered, Dying::answered_into_the_void, Dying::before_the_worker,
                            Dying::book_deaf, Dying::book_asked}) {
        CrashingShop shop(policy, 2);
        const OrderId late = shop.buy(1, alice), in_time = shop.buy(2, bob);
        const PaymentId late_payment = shop.begin(late, alice), payment = shop.begin(in_time, bob);
        shop.provider.capture(payment);
        shop.run_for(1min, 10s);
        shop.pass(15min);
        // From here on: expiry, void, capture after the void, reinstatement, and a refund of the other.
        for (int round = 0; round < 10; ++round) {
            if (round == 3) {
                shop.provider.capture(late_payment);
                EXPECT_TRUE(shop.process->desk.hint("evt-1", late_payment, shop.now).has_value());
            }
            if (round == 6) shop.process->desk.refund(in_time, true, "broken", shop.now, shop.keep_order());
            if (round == dies_in_round) {
                shop.round_and_die(how);
            } else {
                shop.step();
                shop.run_posted();
                while (!shop.process->calls.empty()) shop.answer_one();
                shop.work();
            }
            shop.pass(1s);
        }
        shop.run_for(30min, 30s);
        EXPECT_EQ(shop.state(late), paid);
        EXPECT_EQ(shop.state(in_time), refunded);
        shop.expect_settled();
        EXPECT_EQ(shop.row(), (Stock{2, 1, 0, 1}));
    }
}

TEST(PaymentDesk, WhereOrdersAreBoundedALatePayerWaitsWhileUnitsAreLeft) {
    Shop shop(StockPolicy::at_payment, 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    ASSERT_EQ(shop.state(order), expired);
    const OrderId second = shop.buy(2, bob);  // twice the units may be open
    shop.buy(3, carol);
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.run_for(1min);
    EXPECT_EQ(shop.state(order), reinstating) << "a unit is left: nothing is refunded yet";
    shop.process->desk.cancel(second, bob, shop.now, shop.keep_order());
    shop.run_for(1min);
    EXPECT_EQ(shop.state(order), paid);
    shop.run_for(20min, 10s);
    shop.expect_settled();
}

TEST(PaymentDesk, WhereThePaymentTakesTheUnitAPayerWhoFindsNoneIsRefundedAtOnce) {
    Shop shop(StockPolicy::at_payment, 1);
    const OrderId first = shop.buy(1, alice), second = shop.buy(2, bob);
    shop.provider.capture(shop.begin(first, alice));
    const PaymentId payment = shop.begin(second, bob);
    shop.run_for(1min);
    shop.provider.capture(payment);
    shop.run_for(3min);
    EXPECT_EQ(shop.state(first), paid);
    EXPECT_EQ(shop.state(second), refunded);
    EXPECT_EQ(shop.order(second).reason, reason_no_unit_to_pay);
    shop.expect_settled();
}

TEST(PaymentDesk, ALatePaymentForAReconciledSaleGoesBack) {
    Shop shop(StockPolicy::reserve, 1);
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.run_for(16min, 10s);
    shop.process->sales.act(SaleId("phone-drop"), SaleVerb::close, {}, shop.now,
                            [](const auto& closed) { EXPECT_TRUE(closed.has_value()); });
    shop.process->sales.reconciled(SaleId("phone-drop"), shop.now,
                                   [](const auto& done) { EXPECT_TRUE(done.has_value()); });
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.settle_now();
    EXPECT_EQ(shop.state(order), refunded);
}

TEST(PaymentDesk, AMoveIsToldToTheBookOnlyAfterItsCommit) {
    Shop shop(StockPolicy::reserve, 1);
    const OrderId order = shop.buy(1, alice);
    shop.process->books.is_deaf = true;  // dies between the commit and the book's ear
    shop.process->desk.cancel(order, alice, shop.now, shop.keep_order());
    EXPECT_EQ(shop.row().units_available, 1u);
    EXPECT_EQ(shop.book().units_available, 0u);
    shop.restart();
    EXPECT_EQ(shop.book().units_available, 1u) << "the rebuild sees it";
}

}  // namespace
}  // namespace doorbuster
