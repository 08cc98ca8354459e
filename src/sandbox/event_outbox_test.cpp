#include "sandbox/event_outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sandbox/testing.hpp"

namespace doorbuster::sandbox {
namespace {

using namespace std::chrono_literals;
using enum PaymentState;
using testing::faults;
using testing::moment;
using testing::object_of;
using testing::text_of;

Payment payment(int number, PaymentState state = created) {
    return {.key = "k" + std::to_string(number), .state = state, .intent = testing::intent(), .version = 1};
}

// What 300 events become, one each millisecond, by the time that all of it is over.
std::vector<Webhook> announce_many(std::string_view fault_list) {
    Dice dice(1);
    EventOutbox outbox("http://pay", dice);
    for (int i = 0; i < 300; ++i) {
        outbox.announce(payment(i), faults(fault_list), moment(milliseconds(i)));
    }
    outbox.advance(moment(1h).uptime);
    EXPECT_EQ(outbox.next_due(), std::nullopt);
    return outbox.take();
}

std::map<std::string, int> times_sent(const std::vector<Webhook>& webhooks) {
    std::map<std::string, int> times;
    for (const Webhook& webhook : webhooks) times[webhook.id] += webhook.forgery == Forgery::none;
    return times;
}

TEST(EventOutbox, AnEventSaysWhatHappenedAndWhen) {
    Dice dice(1);
    EventOutbox outbox("http://pay", dice);
    Payment paid = payment(1, captured);
    paid.captured_minor = 1999;
    paid.captured_currency = "CNY";
    paid.version = 2;
    outbox.announce(paid, {}, moment());
    const auto webhooks = outbox.take();
    ASSERT_EQ(webhooks.size(), 1u);
    EXPECT_EQ(webhooks[0].id, "evt_k1_2");
    EXPECT_EQ(webhooks[0].due, moment().uptime);
    const auto body = object_of(webhooks[0].body);
    EXPECT_EQ(text_of(body, "type"), "payment.captured");
    EXPECT_EQ(text_of(body, "timestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(body.at("data"), payment_json(paid, "http://pay"));
    EXPECT_EQ(text_of(body.at("data").as_object(), "payment_url"), "http://pay/pay/k1?lang={lang}");
}

TEST(EventOutbox, WithoutFaultsEachIsSentOnceInOrderAndAtOnce) {
    const auto webhooks = announce_many("");
    ASSERT_EQ(webhooks.size(), 300u);
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(webhooks[static_cast<size_t>(i)].id, "evt_k" + std::to_string(i) + "_1");
        EXPECT_EQ(webhooks[static_cast<size_t>(i)].due, moment(milliseconds(i)).uptime);
    }
}

TEST(EventOutbox, LostOnesAreNeverSent) {
    const size_t sent = announce_many("lost").size();
    EXPECT_GT(sent, 150u);
    EXPECT_LT(sent, 270u);
}

TEST(EventOutbox, RepeatedOnesKeepTheirId) {
    std::set<int> seen;
    for (const auto& [id, times] : times_sent(announce_many("repeated"))) seen.insert(times);
    EXPECT_EQ(seen, (std::set<int>{2, 3}));
}

TEST(EventOutbox, DelayedOnesComeWithinTwoSeconds) {
    const auto webhooks = announce_many("delayed");
    for (int i = 0; i < 300; ++i) {
        const Uptime late = webhooks[static_cast<size_t>(i)].due - moment(milliseconds(i)).uptime;
        EXPECT_GE(late, 50ms);
        EXPECT_LE(late, 2000ms);
    }
}

TEST(EventOutbox, ReorderedOnesComeAfterLaterOnesAndNoneIsKept) {
    auto webhooks = announce_many("reordered");
    ASSERT_EQ(times_sent(webhooks).size(), 300u);
    std::stable_sort(webhooks.begin(), webhooks.end(),
                     [](const Webhook& a, const Webhook& b) { return a.due < b.due; });
    int overtaken = 0, last = -1;
    for (const Webhook& webhook : webhooks) {
        const int number = std::stoi(webhook.id.substr(5));
        overtaken += number < last;
        last = std::max(last, number);
    }
    EXPECT_GT(overtaken, 50);
}

TEST(EventOutbox, WhatIsHeldBackGoesOutThoughNothingFollows) {
    Dice dice(1);
    EventOutbox outbox("http://pay", dice);
    int number = 0;
    while (!outbox.next_due()) outbox.announce(payment(number++), faults("reordered"), moment());
    static_cast<void>(outbox.take());
    ASSERT_EQ(*outbox.next_due(), (moment().uptime + EventOutbox::held_for_max));
    outbox.advance(moment().uptime + EventOutbox::held_for_max - 1ms);
    EXPECT_EQ(outbox.take().size(), 0u);
    outbox.advance(moment().uptime + EventOutbox::held_for_max);
    EXPECT_EQ(outbox.take().size(), 1u);
}

TEST(EventOutbox, ForgeriesLieUnderTheIdOfTheRealOne) {
    const auto webhooks = announce_many("forged");
    int wrong = 0, old = 0;
    for (const Webhook& webhook : webhooks) {
        const std::string type = text_of(object_of(webhook.body), "type");
        EXPECT_EQ(type, webhook.forgery == Forgery::none ? "payment.created" : "payment.captured");
        wrong += webhook.forgery == Forgery::wrong_signature;
        old += webhook.forgery == Forgery::old_timestamp;
    }
    EXPECT_GT(wrong, 100);
    EXPECT_GT(old, 100);
    for (const auto& [id, times] : times_sent(webhooks)) EXPECT_EQ(times, 1) << id;
}

TEST(EventOutbox, AForgeryAboutACaptureDeniesIt) {
    Dice dice(1);
    EventOutbox outbox("http://pay", dice);
    for (int i = 0; i < 50; ++i) outbox.announce(payment(i, captured), faults("forged"), moment());
    for (const Webhook& webhook : outbox.take()) {
        if (webhook.forgery == Forgery::none) continue;
        EXPECT_EQ(text_of(object_of(webhook.body), "type"), "payment.voided");
    }
}

TEST(EventOutbox, HoldingBackLosesNone) {
    Dice dice(1);
    EventOutbox outbox("http://pay", dice);
    for (int i = 0; i < 5000; ++i) outbox.announce(payment(i), faults("reordered,delayed"), moment());
    outbox.advance(moment(1h).uptime);
    EXPECT_EQ(outbox.take().size(), 5000u);
}

}  // namespace
}  // namespace doorbuster::sandbox
