#include "orders/look_schedule.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

constexpr PaymentId id{11};

OrderRecord order_in(OrderState state) {
    OrderRecord order;
    order.state = state;
    order.payment = id;
    return order;
}
PaymentRecord attempt(PaymentState state, uint32_t looks = 0) {
    PaymentRecord payment;
    payment.id = id;
    payment.state = state;
    payment.looks = looks;
    return payment;
}
ProviderView says(ProviderState state) {
    ProviderView view;
    view.state = state;
    return view;
}

TEST(LookSchedule, WaitsDoubleFromTheLeastToTheMostWithJitter) {
    LookSchedule schedule({}, 1);
    for (int round = 0; round < 200; ++round) {
        EXPECT_GE(schedule.wait_after(0), 4s);
        EXPECT_LE(schedule.wait_after(0), 6s);
        EXPECT_GE(schedule.wait_after(3), 32s);
        EXPECT_LE(schedule.wait_after(3), 48s);
        EXPECT_GE(schedule.wait_after(4'000'000'000), 480s);
        EXPECT_LE(schedule.wait_after(4'000'000'000), 720s);
    }
    EXPECT_NE(schedule.wait_after(20), schedule.wait_after(20));
}

TEST(LookSchedule, WhatSomebodyWaitsForIsAskedAtOnceAndThenBySteps) {
    LookSchedule schedule({}, 1);
    PaymentRecord after = attempt(PaymentState::open, 4);
    schedule.set(after, attempt(PaymentState::open, 4), order_in(OrderState::voiding), ProviderAsk::look_up,
                 says(ProviderState::created), t0);
    EXPECT_EQ(after.look_at, t0);
    schedule.set(after, attempt(PaymentState::open, 4), order_in(OrderState::voiding), ProviderAsk::take_back,
                 {}, t0);
    EXPECT_GT(*after.look_at, t0 + 1min) << "the provider does not answer: in its own time";
    after = attempt(PaymentState::refunding);
    schedule.set(after, attempt(PaymentState::open), order_in(OrderState::refunding), ProviderAsk::look_up,
                 says(ProviderState::captured), t0);
    EXPECT_EQ(after.look_at, t0);
}

TEST(LookSchedule, AFinalAttemptIsNotAskedAbout) {
    LookSchedule schedule({}, 1);
    for (const PaymentState state : {PaymentState::captured, PaymentState::refunded}) {
        PaymentRecord after = attempt(state);
        schedule.set(after, attempt(state), order_in(OrderState::paid), ProviderAsk::look_up,
                     says(ProviderState::captured), t0);
        EXPECT_FALSE(after.look_at);
    }
    PaymentRecord contradicted = attempt(PaymentState::captured);
    schedule.set(contradicted, contradicted, order_in(OrderState::reinstating), ProviderAsk::look_up,
                 says(ProviderState::refunded), t0);
    EXPECT_TRUE(contradicted.look_at);
}

TEST(LookSchedule, AHintAboutACapturedAttemptIsNotForgottenWhereNobodyAnswers) {
    LookSchedule schedule({}, 1);
    PaymentRecord hinted = attempt(PaymentState::captured);
    schedule.set(hinted, hinted, order_in(OrderState::paid), ProviderAsk::look_up, {}, t0);
    EXPECT_TRUE(hinted.look_at.has_value());
}

TEST(LookSchedule, AVoidedAttemptIsWatchedForADayAndSilenceDoesNotEndIt) {
    LookSchedule schedule({}, 7);
    const OrderRecord order = order_in(OrderState::expired);
    PaymentRecord after = attempt(PaymentState::voided);
    schedule.set(after, attempt(PaymentState::open, 9), order, ProviderAsk::take_back,
                 says(ProviderState::voided), t0);
    Instant now = t0;
    for (int looks = 0; after.look_at; ++looks) {
        ASSERT_LT(looks, 1000);
        now = *after.look_at;
        const PaymentRecord before = after;
        PaymentRecord unanswered = before;
        schedule.set(unanswered, before, order, ProviderAsk::look_up, {}, now);
        EXPECT_TRUE(unanswered.look_at);
        schedule.set(after, before, order, ProviderAsk::look_up, says(ProviderState::voided), now);
    }
    EXPECT_GT(now - t0, 22h);
    EXPECT_LT(now - t0, 26h);
}

}  // namespace
}  // namespace doorbuster
