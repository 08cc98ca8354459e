#include "sandbox/provider.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/testing.hpp"

namespace doorbuster::sandbox {
namespace {

using namespace std::chrono_literals;
using enum PaymentState;
using testing::faults;
using testing::intent;
using testing::moment;
using Verdict = SandboxProvider::Verdict;

SandboxProvider::Terms terms(std::string_view fault_list = "", uint64_t seed = 1) {
    return {.public_url = "http://pay", .seed = seed, .faults = faults(fault_list)};
}

class Provider : public ::testing::Test {
protected:
    PaymentState state(std::string_view key) const { return provider_.find(key).payment->state; }
    size_t events() { return provider_.take_webhooks().size(); }

    SandboxProvider provider_{terms()};
};

TEST_F(Provider, TheSameKeyIsTheSamePayment) {
    EXPECT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    const auto again = provider_.create("k", intent(), moment(1s));
    EXPECT_EQ(again.verdict, Verdict::done);
    EXPECT_EQ(again.payment->version, 1u);
    EXPECT_EQ(provider_.payments(), 1u);
    EXPECT_EQ(events(), 1u);
}

TEST_F(Provider, TheSameKeyWithOtherMoneyIsAConflict) {
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    Intent other_currency = intent(), other_order = intent(), other_return = intent();
    other_currency.currency = "JPY";
    other_order.reference = "order-2";
    other_return.return_url = "http://elsewhere";
    EXPECT_EQ(provider_.create("k", intent(2000), moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.create("k", other_currency, moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.create("k", other_order, moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.create("k", other_return, moment()).verdict, Verdict::done);
    EXPECT_EQ(provider_.find("k").payment->intent, intent());
}

TEST_F(Provider, AVoidedKeyCanNeverBeCaptured) {
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    EXPECT_EQ(provider_.void_payment("k", moment()).payment->state, voided);
    EXPECT_EQ(provider_.create("k", intent(), moment()).payment->state, voided);
    EXPECT_EQ(provider_.capture("k", moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.decline("k", moment()).verdict, Verdict::conflict);
    EXPECT_EQ(state("k"), voided);
}

TEST_F(Provider, VoidingAnUnknownKeyLeavesATombstone) {
    const auto buried = provider_.void_payment("late", moment());
    EXPECT_EQ(buried.verdict, Verdict::done);
    EXPECT_EQ(buried.payment->state, voided);
    const auto asked = provider_.create("late", intent(), moment(1s));
    EXPECT_EQ(asked.verdict, Verdict::done);
    EXPECT_EQ(asked.payment->state, voided);
    EXPECT_EQ(provider_.capture("late", moment(2s)).verdict, Verdict::conflict);
    EXPECT_EQ(asked.payment->captured_minor, 0);
}

TEST_F(Provider, AVoidNeverGivesMoneyBack) {
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    ASSERT_EQ(provider_.capture("k", moment()).verdict, Verdict::done);
    const auto void_after = provider_.void_payment("k", moment());
    EXPECT_EQ(void_after.verdict, Verdict::done);
    EXPECT_EQ(void_after.payment->state, captured);
    EXPECT_EQ(void_after.payment->captured_minor, 1999);
    EXPECT_EQ(void_after.payment->captured_currency, "CNY");
}

TEST_F(Provider, ADeclinedBuyerMayTryAgain) {
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    EXPECT_EQ(provider_.decline("k", moment()).payment->state, declined);
    EXPECT_EQ(provider_.decline("k", moment()).payment->version, 2u);
    EXPECT_EQ(provider_.capture("k", moment()).payment->state, captured);
    EXPECT_EQ(provider_.decline("k", moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.capture("k", moment()).payment->version, 3u);
    EXPECT_EQ(events(), 3u);
}

TEST_F(Provider, OnlyWhatWasCapturedIsRefundedAndOnlyOnce) {
    EXPECT_EQ(provider_.refund("k", moment()).verdict, Verdict::unknown);
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    EXPECT_EQ(provider_.refund("k", moment()).verdict, Verdict::conflict);
    ASSERT_EQ(provider_.capture("k", moment()).verdict, Verdict::done);
    EXPECT_EQ(provider_.refund("k", moment()).payment->state, refunded);
    EXPECT_EQ(provider_.refund("k", moment()).verdict, Verdict::done);
    EXPECT_EQ(provider_.refund("k", moment()).payment->version, 3u);
    EXPECT_EQ(provider_.capture("k", moment()).verdict, Verdict::conflict);
    EXPECT_EQ(provider_.void_payment("k", moment()).payment->state, refunded);
}

TEST_F(Provider, EveryChangeIsOneChangeOneVersionAndOneEvent) {
    ASSERT_EQ(provider_.create("k", intent(), moment()).verdict, Verdict::made);
    ASSERT_EQ(provider_.void_payment("k", moment()).verdict, Verdict::done);
    ASSERT_EQ(provider_.void_payment("k", moment()).verdict, Verdict::done);
    const auto changes = provider_.take_changes();
    ASSERT_EQ(changes.size(), 2u);
    EXPECT_EQ(changes[0].state, created);
    EXPECT_EQ(changes[1].state, voided);
    EXPECT_EQ(changes[1].version, 2u);
    EXPECT_EQ(events(), 2u);
    EXPECT_TRUE(provider_.take_changes().empty());
    EXPECT_EQ(provider_.next_due(), std::nullopt);
}

TEST_F(Provider, WhatWasRestoredIsKnownAndNotAnnounced) {
    provider_.restore({.key = "k", .state = created, .intent = intent(), .version = 1});
    provider_.restore({.key = "tomb", .state = voided, .version = 1});
    provider_.restore(
        {.key = "k", .state = captured, .intent = intent(), .captured_minor = 1999, .version = 2});
    EXPECT_EQ(provider_.payments(), 2u);
    EXPECT_EQ(state("k"), captured);
    EXPECT_EQ(provider_.create("tomb", intent(), moment()).payment->state, voided);
    EXPECT_EQ(events(), 0u);
    EXPECT_TRUE(provider_.take_changes().empty());
}

TEST(ProviderBound, AtItsBoundNewKeysHearFullAndOldOnesGoOn) {
    SandboxProvider provider({.public_url = "http://pay", .payments_max = 1});
    ASSERT_EQ(provider.create("a", intent(), moment()).verdict, Verdict::made);
    EXPECT_EQ(provider.create("b", intent(), moment()).verdict, Verdict::full);
    EXPECT_EQ(provider.void_payment("b", moment()).verdict, Verdict::full);
    EXPECT_EQ(provider.capture("a", moment()).verdict, Verdict::done);
}

// What many captures of a provider with these faults come to.
struct Captures {
    int right = 0, underpaid = 0, wrong_currency = 0;
};
Captures capture_many(std::string_view fault_list, uint64_t seed) {
    SandboxProvider provider(terms(fault_list, seed));
    Captures captures;
    for (int i = 0; i < 1000; ++i) {
        const std::string key = "k" + std::to_string(i);
        EXPECT_EQ(provider.create(key, intent(), moment()).verdict, Verdict::made);
        const Payment& payment = *provider.capture(key, moment()).payment;
        captures.underpaid += payment.captured_minor == 1998;
        captures.wrong_currency += payment.captured_currency == "USD";
        captures.right += payment.captured_minor == 1999 && payment.captured_currency == "CNY";
    }
    return captures;
}

TEST(ProviderFaults, SomeCapturesAreShortOrInOtherMoney) {
    EXPECT_EQ(capture_many("", 1).right, 1000);
    const Captures faulty = capture_many("underpaid,wrong_currency", 1);
    EXPECT_GT(faulty.underpaid, 100);
    EXPECT_GT(faulty.wrong_currency, 100);
    EXPECT_GT(faulty.right, 500);
    EXPECT_EQ(capture_many("underpaid", 1).wrong_currency, 0);
}

TEST(ProviderFaults, TheSameSeedMeansTheSameThrows) {
    EXPECT_EQ(capture_many("underpaid", 7).underpaid, capture_many("underpaid", 7).underpaid);
    SandboxProvider a(terms("all", 5)), b(terms("all", 5));
    for (int i = 0; i < 100; ++i) {
        const std::string key = "k" + std::to_string(i);
        for (SandboxProvider* provider : {&a, &b}) {
            EXPECT_EQ(provider->create(key, intent(), moment()).verdict, Verdict::made);
            EXPECT_EQ(provider->void_payment(key, moment()).verdict, Verdict::done);
        }
        const auto of_a = a.take_webhooks(), of_b = b.take_webhooks();
        ASSERT_EQ(of_a.size(), of_b.size());
        for (size_t w = 0; w < of_a.size(); ++w) {
            EXPECT_EQ(of_a[w].id, of_b[w].id);
            EXPECT_EQ(of_a[w].due, of_b[w].due);
            EXPECT_EQ(of_a[w].body, of_b[w].body);
        }
    }
}

TEST(ProviderFaults, SomeConfirmedVoidsAreCapturedLaterAllTheSame) {
    SandboxProvider provider(terms("captured_after_void"));
    for (int i = 0; i < 1000; ++i) {
        const std::string key = "k" + std::to_string(i);
        ASSERT_EQ(provider.create(key, intent(), moment()).verdict, Verdict::made);
        ASSERT_EQ(provider.void_payment(key, moment()).payment->state, voided);
        ASSERT_EQ(provider.void_payment(key, moment()).payment->state, voided);
    }
    ASSERT_TRUE(provider.next_due());
    EXPECT_GE(*provider.next_due(), moment(100ms).uptime);
    provider.advance(moment(99ms));
    static_cast<void>(provider.take_webhooks());
    provider.advance(moment(1500ms));
    int late = 0;
    for (size_t i = 0; i < provider.payments(); ++i) late += provider.payment(i).state == captured;
    EXPECT_GT(late, 100);
    EXPECT_LT(late, 200);
    EXPECT_EQ(provider.take_webhooks().size(), static_cast<size_t>(late));
    EXPECT_EQ(provider.next_due(), std::nullopt);
}

// There is no money behind a tombstone, so nothing can be captured there, by any fault.
TEST(ProviderFaults, ATombstoneStaysVoidedWhateverTheFaults) {
    SandboxProvider provider(terms("all"));
    for (int i = 0; i < 200; ++i) {
        ASSERT_EQ(provider.void_payment("k" + std::to_string(i), moment()).payment->state, voided);
    }
    provider.advance(moment(1h));
    for (size_t i = 0; i < provider.payments(); ++i) EXPECT_EQ(provider.payment(i).state, voided);
}

TEST(ProviderFaults, CallsFailOnlyWhereTheirFaultIsOn) {
    struct Seen {
        int unreachable = 0, lost = 0;
        Uptime longest{};
    };
    const auto draw = [](std::string_view fault_list) {
        SandboxProvider provider(terms(fault_list));
        Seen seen;
        for (int i = 0; i < 1000; ++i) {
            const auto fault = provider.draw_call_fault();
            seen.unreachable += fault.is_unreachable;
            seen.lost += fault.is_answer_lost;
            seen.longest = std::max(seen.longest, fault.before + fault.after);
        }
        return seen;
    };
    EXPECT_EQ(draw("").unreachable + draw("").lost, 0);
    EXPECT_EQ(draw("").longest, Uptime{});
    EXPECT_NEAR(draw("unreachable").unreachable, 200, 60);
    EXPECT_EQ(draw("unreachable").lost, 0);
    EXPECT_NEAR(draw("lost").lost, 100, 50);
    EXPECT_LE(draw("delayed").longest, 300ms);
    EXPECT_GT(draw("delayed").longest, 200ms);
}

}  // namespace
}  // namespace doorbuster::sandbox
