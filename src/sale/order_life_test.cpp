#include "sale/order_life.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum OrderState;

constexpr PaymentId first{11}, second{12};

OrderRecord order_in(OrderState state, StockPolicy policy = StockPolicy::reserve) {
    OrderRecord order{.id = OrderId{1},
                      .purchase = purchase(1),
                      .sale = SaleId("phone-drop"),
                      .item = ItemId("phone"),
                      .buyer = alice,
                      .units = 1,
                      .amount_minor = 999900,
                      .currency = "TWD",
                      .policy = policy,
                      .state = state,
                      .version = 3,
                      .created_at = t0,
                      .pay_by = t0 + 15min,
                      .updated_at = t0,
                      .hold = policy == StockPolicy::reserve    ? HoldState::held
                              : policy == StockPolicy::at_order ? HoldState::sold
                                                                : HoldState::open,
                      .holder = purchase(1),
                      .payment = first,
                      .falls_to = expired,
                      .reason = {}};
    if (state == expired || state == cancelled || state == reinstating) order.hold = HoldState::finished;
    if (state == paid) order.hold = HoldState::sold;
    return order;
}

PaymentRecord attempt(PaymentState state, PaymentId id = first) {
    return {.id = id,
            .order = OrderId{1},
            .state = state,
            .version = 2,
            .amount_minor = 999900,
            .currency = "TWD",
            .captured_minor = 0,
            .captured_currency = {},
            .url = {},
            .created_at = t0,
            .updated_at = t0,
            .look_at = t0,
            .looks = 4};
}

ProviderView says(ProviderState state) {
    return {.state = state, .captured_minor = 0, .captured_currency = {}, .url = "https://pay.example/11"};
}
ProviderView captured(int64_t minor = 999900, std::string currency = "TWD") {
    return {.state = ProviderState::captured,
            .captured_minor = minor,
            .captured_currency = std::move(currency),
            .url = {}};
}

constexpr StockPolicy policies[] = {StockPolicy::reserve, StockPolicy::at_order, StockPolicy::at_payment};

TEST(OrderLife, AnOrderThatNobodyPaysForEndsAtOnceAndGivesItsUnitBack) {
    for (const StockPolicy policy : policies) {
        const auto by_time = expire(order_in(pending_payment, policy));
        ASSERT_TRUE(by_time);
        EXPECT_EQ(by_time->after.state, expired);
        EXPECT_EQ(by_time->after.hold, HoldState::finished);
        EXPECT_EQ(by_time->after.reason, reason_expired);
        EXPECT_EQ(by_time->events, std::vector{EventKind::order_expired});
        const auto by_buyer = cancel(order_in(pending_payment, policy));
        ASSERT_TRUE(by_buyer);
        EXPECT_EQ(by_buyer->after.state, cancelled);
        EXPECT_EQ(by_buyer->events, std::vector{EventKind::order_cancelled});
    }
}

TEST(OrderLife, AnOrderThatIsBeingPaidKeepsItsUnitUntilTheProviderHasSaidNo) {
    for (const OrderState wish : {expired, cancelled}) {
        const auto ending = wish == expired ? expire(order_in(paying)) : cancel(order_in(paying));
        ASSERT_TRUE(ending);
        EXPECT_EQ(ending->after.state, voiding);
        EXPECT_EQ(ending->after.falls_to, wish);
        EXPECT_EQ(ending->after.hold, HoldState::held);
        EXPECT_TRUE(ending->events.empty());

        const PaymentRuling confirmed =
            rule_on(ending->after, attempt(PaymentState::open), says(ProviderState::voided));
        ASSERT_TRUE(confirmed.move);
        EXPECT_EQ(confirmed.move->after.state, wish);
        EXPECT_EQ(confirmed.move->after.hold, HoldState::finished);
        EXPECT_EQ(confirmed.move->payment->after.state, PaymentState::voided);
    }
}

TEST(OrderLife, NeitherATimerNorTheBuyerEndsAnOrderThatIsPaidOrOver) {
    for (const OrderState state : {paid, voiding, expired, cancelled, reinstating, refunding, refunded}) {
        EXPECT_FALSE(expire(order_in(state))) << name_of(state);
        EXPECT_FALSE(cancel(order_in(state))) << name_of(state);
    }
}

TEST(OrderLife, AnAttemptBeginsOnlyWhileTheWindowIsOpenAndNoneIsUnderWay) {
    const auto begun = begin_payment(order_in(pending_payment), second, t0 + 15min - 1ms);
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->after.state, paying);
    EXPECT_EQ(begun->after.payment, second);
    EXPECT_FALSE(begun->payment->before);
    EXPECT_EQ(begun->payment->after.state, PaymentState::creating);
    EXPECT_EQ(begun->payment->after.amount_minor, 999900);
    EXPECT_EQ(begun->payment->after.currency, "TWD");
    EXPECT_FALSE(begin_payment(order_in(pending_payment), second, t0 + 15min));
    for (const OrderState state : {paying, paid, voiding, expired, cancelled, reinstating, refunding}) {
        EXPECT_FALSE(begin_payment(order_in(state), second, t0)) << name_of(state);
    }
}

TEST(OrderLife, ACapturePaysForAnOrderThatIsStillOpenAlsoWhileItIsBeingVoided) {
    for (const StockPolicy policy : policies) {
        for (const OrderState state : {pending_payment, paying, voiding}) {
            const PaymentRuling ruling =
                rule_on(order_in(state, policy), attempt(PaymentState::open), captured());
            ASSERT_TRUE(ruling.move) << name_of(state);
            EXPECT_EQ(ruling.move->after.state, paid);
            EXPECT_EQ(ruling.move->after.hold, HoldState::sold);
            EXPECT_EQ(ruling.move->payment->after.state, PaymentState::captured);
            EXPECT_EQ(ruling.move->payment->after.captured_minor, 999900);
            EXPECT_EQ(ruling.move->events, std::vector{EventKind::order_paid});
            EXPECT_EQ(ruling.if_no_unit.has_value(), policy == StockPolicy::at_payment);
        }
    }
}

TEST(OrderLife, APayerWhoFindsNoUnitIsRefundedAtOnce) {
    const PaymentRuling ruling =
        rule_on(order_in(paying, StockPolicy::at_payment), attempt(PaymentState::open), captured());
    ASSERT_TRUE(ruling.if_no_unit);
    EXPECT_EQ(ruling.if_no_unit->after.state, refunding);
    EXPECT_EQ(ruling.if_no_unit->after.hold, HoldState::finished) << "its slot goes back";
    EXPECT_EQ(ruling.if_no_unit->after.reason, reason_no_unit_to_pay);
    EXPECT_EQ(ruling.if_no_unit->payment->after.state, PaymentState::refunding);
}

TEST(OrderLife, ACaptureFromADeclinedAttemptThatWasTriedAgainPaysToo) {
    const PaymentRuling ruling =
        rule_on(order_in(pending_payment), attempt(PaymentState::declined), captured());
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, paid);
}

TEST(OrderLife, WhatIsNotThePriceDoesNotPayAndIsRefundedAndTheUnitGoesBack) {
    for (const ProviderView& wrong : {captured(999899), captured(999901), captured(999900, "CNY")}) {
        for (const OrderState state : {paying, voiding}) {
            const PaymentRuling ruling = rule_on(order_in(state), attempt(PaymentState::open), wrong);
            ASSERT_TRUE(ruling.move) << name_of(state);
            EXPECT_EQ(ruling.move->after.state, refunding);
            EXPECT_EQ(ruling.move->after.hold, HoldState::finished);
            EXPECT_EQ(ruling.move->after.reason, reason_wrong_amount);
            EXPECT_EQ(ruling.move->payment->after.state, PaymentState::refunding);
            EXPECT_EQ(ruling.move->payment->after.captured_minor, wrong.captured_minor);
        }
    }
}

TEST(OrderLife, AWrongAmountOnAnOldAttemptLeavesTheNewOneAlone) {
    OrderRecord order = order_in(paying);
    order.payment = second;
    const PaymentRuling ruling = rule_on(order, attempt(PaymentState::declined), captured(1));
    EXPECT_FALSE(ruling.move);
    ASSERT_TRUE(ruling.payment);
    EXPECT_EQ(ruling.payment->after.state, PaymentState::refunding);
}

TEST(OrderLife, EveryCaptureButTheFirstIsRefundedOnItsOwnRecord) {
    for (const OrderState state : {paid, reinstating, refunding, refunded}) {
        const PaymentRuling ruling =
            rule_on(order_in(state), attempt(PaymentState::open, second), captured());
        EXPECT_FALSE(ruling.move) << name_of(state);
        ASSERT_TRUE(ruling.payment);
        EXPECT_EQ(ruling.payment->after.state, PaymentState::refunding);
    }
}

TEST(OrderLife, TheCaptureThatPaysForAnOrderIsNotRefundedBecauseItsRecordIsBehind) {
    for (const StockPolicy policy : policies) {
        const PaymentRuling ruling = rule_on(order_in(paid, policy), attempt(PaymentState::open), captured());
        EXPECT_FALSE(ruling.move);
        ASSERT_TRUE(ruling.payment);
        EXPECT_EQ(ruling.payment->after.state, PaymentState::captured);
        EXPECT_EQ(ruling.payment->after.captured_minor, 999900);
    }
}

TEST(OrderLife, ACaptureIsRuledOnOnce) {
    for (const PaymentState state :
         {PaymentState::captured, PaymentState::refunding, PaymentState::refunded}) {
        const PaymentRuling ruling = rule_on(order_in(paid), attempt(state), captured());
        EXPECT_FALSE(ruling.move || ruling.payment) << name_of(state);
    }
}

TEST(OrderLife, ALateCaptureAsksForAUnitUnderOneFreshId) {
    for (const OrderState state : {expired, cancelled}) {
        for (const PaymentState as : {PaymentState::open, PaymentState::declined, PaymentState::voided}) {
            const PaymentRuling ruling = rule_on(order_in(state), attempt(as), captured());
            ASSERT_TRUE(ruling.move) << name_of(state);
            EXPECT_EQ(ruling.move->after.state, reinstating);
            EXPECT_EQ(ruling.move->after.falls_to, state);
            EXPECT_EQ(ruling.move->after.hold, HoldState::finished)
                << "it has no unit before the book says so";
            EXPECT_EQ(ruling.move->payment->after.state, PaymentState::captured);
            const PurchaseId fresh = reinstating_id(ruling.move->after);
            EXPECT_NE(fresh, ruling.move->after.purchase);
            EXPECT_EQ(fresh, reinstating_id(ruling.move->after));
            OrderRecord other = ruling.move->after;
            other.payment = second;
            EXPECT_NE(fresh, reinstating_id(other));
        }
    }
}

TEST(OrderLife, ALateCaptureThatGetsNoUnitIsRefunded) {
    OrderRecord order = order_in(reinstating);
    order.falls_to = cancelled;
    const OrderMove move = refuse_reinstatement(order, attempt(PaymentState::captured));
    EXPECT_EQ(move.after.state, refunding);
    EXPECT_EQ(move.after.reason, reason_too_late);
    EXPECT_EQ(move.after.hold, HoldState::finished);
    EXPECT_EQ(move.payment->after.state, PaymentState::refunding);
}

TEST(OrderLife, ALateWrongAmountIsRefunded) {
    const PaymentRuling ruling = rule_on(order_in(expired), attempt(PaymentState::voided), captured(5));
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, refunding);
}

TEST(OrderLife, ADeclineLetsTheBuyerTryAgain) {
    const PaymentRuling ruling =
        rule_on(order_in(paying), attempt(PaymentState::open), says(ProviderState::declined));
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, pending_payment);
    EXPECT_EQ(ruling.move->after.hold, HoldState::held);
    EXPECT_EQ(ruling.move->payment->after.state, PaymentState::declined);
    const PaymentRuling again =
        rule_on(order_in(pending_payment), attempt(PaymentState::declined), says(ProviderState::declined));
    EXPECT_FALSE(again.move || again.payment);
}

TEST(OrderLife, AnAttemptThatIsOpenAgainAfterADeclineKeepsItsUnitLikeAnyOther) {
    const PaymentRuling ruling =
        rule_on(order_in(pending_payment), attempt(PaymentState::declined), says(ProviderState::created));
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, paying);
    EXPECT_EQ(ruling.move->payment->after.state, PaymentState::open);
    const PaymentRuling old = rule_on(order_in(pending_payment), attempt(PaymentState::declined, second),
                                      says(ProviderState::created));
    EXPECT_FALSE(old.move) << "it is not the order's attempt any more";
}

TEST(OrderLife, ADeclineIsNotTheVoidThatWasAskedFor) {
    const PaymentRuling ruling =
        rule_on(order_in(voiding), attempt(PaymentState::open), says(ProviderState::declined));
    EXPECT_FALSE(ruling.move) << "the unit stays parked";
    ASSERT_TRUE(ruling.payment);
    EXPECT_EQ(next_ask(order_in(voiding), ruling.payment->after), ProviderAsk::take_back);
}

TEST(OrderLife, AnAttemptThatTheProviderGaveUpByItselfCanBeFollowedByAnother) {
    const PaymentRuling ruling =
        rule_on(order_in(paying), attempt(PaymentState::open), says(ProviderState::voided));
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, pending_payment);
    EXPECT_EQ(ruling.move->after.hold, HoldState::held);
}

TEST(OrderLife, AVoidNeverRefunds) {
    for (const PaymentState state :
         {PaymentState::captured, PaymentState::refunding, PaymentState::refunded}) {
        const PaymentRuling ruling = rule_on(order_in(paid), attempt(state), says(ProviderState::voided));
        EXPECT_FALSE(ruling.move || ruling.payment) << name_of(state);
    }
    const PaymentRuling old =
        rule_on(order_in(voiding), attempt(PaymentState::open, second), says(ProviderState::voided));
    EXPECT_FALSE(old.move) << "another attempt's void does not release the unit";
}

TEST(OrderLife, TheShopRefundsAPaidOrderAndSaysWhereTheUnitsGo) {
    for (const bool units_return : {true, false}) {
        const auto move = refund(order_in(paid), attempt(PaymentState::captured), units_return, "broken");
        ASSERT_TRUE(move);
        EXPECT_EQ(move->after.state, refunding);
        EXPECT_EQ(move->after.hold, units_return ? HoldState::finished : HoldState::sold);
        EXPECT_EQ(move->after.reason, "broken");
        const PaymentRuling confirmed =
            rule_on(move->after, move->payment->after, says(ProviderState::refunded));
        ASSERT_TRUE(confirmed.move);
        EXPECT_EQ(confirmed.move->after.state, refunded);
        EXPECT_EQ(confirmed.move->after.hold, move->after.hold);
        EXPECT_EQ(confirmed.move->events, std::vector{EventKind::order_refunded});
    }
    for (const OrderState state : {pending_payment, paying, voiding, expired, cancelled, refunded}) {
        EXPECT_FALSE(refund(order_in(state), attempt(PaymentState::open), true, ""));
    }
}

TEST(OrderLife, ARefundBehindOurBackEndsAPaidOrderAndTheGoodsAreTheShopsToJudge) {
    const PaymentRuling ruling =
        rule_on(order_in(paid), attempt(PaymentState::captured), says(ProviderState::refunded));
    ASSERT_TRUE(ruling.move);
    EXPECT_EQ(ruling.move->after.state, refunded);
    EXPECT_EQ(ruling.move->after.hold, HoldState::sold);
}

TEST(OrderLife, MoneyThatWentBackBeforeAnybodyLookedLeavesNoOrderParked) {
    const PaymentRuling open =
        rule_on(order_in(paying), attempt(PaymentState::open), says(ProviderState::refunded));
    ASSERT_TRUE(open.move);
    EXPECT_EQ(open.move->after.state, pending_payment);
    const PaymentRuling ending =
        rule_on(order_in(voiding), attempt(PaymentState::open), says(ProviderState::refunded));
    ASSERT_TRUE(ending.move);
    EXPECT_EQ(ending.move->after.state, expired);
    EXPECT_EQ(ending.move->after.hold, HoldState::finished);
    const PaymentRuling waiting =
        rule_on(order_in(reinstating), attempt(PaymentState::captured), says(ProviderState::refunded));
    EXPECT_FALSE(waiting.move || waiting.payment) << "the book may be giving it a unit at this moment";
}

TEST(OrderLife, ASurplusCaptureEndsOnItsOwnRecord) {
    const PaymentRuling ruling =
        rule_on(order_in(paid), attempt(PaymentState::refunding, second), says(ProviderState::refunded));
    EXPECT_FALSE(ruling.move);
    ASSERT_TRUE(ruling.payment);
    EXPECT_EQ(ruling.payment->after.state, PaymentState::refunded);
}

TEST(OrderLife, AnAttemptThatTheProviderDoesNotKnowDecidesNothing) {
    for (const OrderState state : {pending_payment, paying, voiding, expired, paid}) {
        const PaymentRuling ruling =
            rule_on(order_in(state), attempt(PaymentState::creating), says(ProviderState::unknown));
        EXPECT_FALSE(ruling.move || ruling.payment) << name_of(state);
    }
}

TEST(OrderLife, TheNextQuestionFollowsFromOrderAndAttempt) {
    EXPECT_EQ(next_ask(order_in(paying), attempt(PaymentState::creating)), ProviderAsk::create);
    EXPECT_EQ(next_ask(order_in(paying), attempt(PaymentState::open)), ProviderAsk::look_up);
    EXPECT_EQ(next_ask(order_in(paying), attempt(PaymentState::creating, second)), ProviderAsk::look_up)
        << "an old attempt is not created any more";
    EXPECT_EQ(next_ask(order_in(paid), attempt(PaymentState::open)), ProviderAsk::look_up)
        << "what pays for an order is never taken back";
    for (const OrderState state : {voiding, expired, cancelled, paid, refunding, refunded, reinstating}) {
        if (state != paid) {
            EXPECT_EQ(next_ask(order_in(state), attempt(PaymentState::creating)), ProviderAsk::take_back);
        }
        EXPECT_EQ(next_ask(order_in(state), attempt(PaymentState::declined, second)), ProviderAsk::take_back);
        EXPECT_EQ(next_ask(order_in(state), attempt(PaymentState::voided)), ProviderAsk::look_up);
        EXPECT_EQ(next_ask(order_in(state), attempt(PaymentState::refunding)), ProviderAsk::refund);
    }
}

TEST(OrderLife, EveryNameOfAPaymentStateIsItsOwn) {
    for (const PaymentState state :
         {PaymentState::creating, PaymentState::open, PaymentState::declined, PaymentState::voided,
          PaymentState::captured, PaymentState::refunding, PaymentState::refunded}) {
        EXPECT_EQ(payment_state_of(name_of(state)), state);
    }
    EXPECT_FALSE(payment_state_of("lost"));
}

}  // namespace
}  // namespace doorbuster
