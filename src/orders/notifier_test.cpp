#include "orders/notifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class NotifierTest : public ::testing::Test {
protected:
    NotifierTest() {
        EXPECT_TRUE(orders->create_sale(phone_drop(10'000), SaleState::scheduled, t0).has_value());
    }

    // So many orders are placed: one event each.
    void happen(uint32_t count) {
        std::vector<Placement> batch;
        for (uint32_t i = 1; i <= count; ++i) {
            const uint32_t id = placed + i;
            batch.push_back(placement(id, entry(id, BuyerId("buyer-" + std::to_string(id)))));
        }
        ASSERT_TRUE(orders->place(placed, batch, now).has_value());
        placed += count;
    }
    Notifier& start(Notifier::Options options = {}, uint64_t seed = 1) {
        sent.clear();
        notifier = std::make_unique<Notifier>(orders->outbox(), orders->reader(), seed, options,
                                              [this](Notifier::Message message) { sent.push_back(message); });
        notifier->set_delivering(true);
        return *notifier;
    }
    // Turns until there is nothing to do at this moment.
    void run() {
        uptime += 1s;
        for (int turn = 0;; ++turn) {
            ASSERT_LT(turn, 1000) << "it never comes to rest";
            const auto more = notifier->step(now, uptime);
            ASSERT_TRUE(more.has_value());
            if (!*more) return;
        }
    }
    void answer(uint64_t event, uint32_t status, std::string error = "") {
        answer_to(*notifier, event, status, std::move(error));
    }
    void answer_to(Notifier& asker, uint64_t event, uint32_t status, std::string error = "") const {
        asker.answered({.event = event, .at = now, .status = status, .error = std::move(error), .took = 0ms});
    }
    std::vector<uint64_t> events() const {
        std::vector<uint64_t> numbers;
        for (const auto& message : sent) numbers.push_back(message.event);
        return numbers;
    }
    Delivery delivery(uint64_t event) { return **orders->outbox().find_delivery(event); }

    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    std::unique_ptr<Notifier> notifier;
    std::vector<Notifier::Message> sent;
    uint32_t placed = 0;
    Instant now = t0;
    Uptime uptime = 1min;
};

TEST_F(NotifierTest, AnEventIsSentAtOnceAndOnceAccepted) {
    start();
    happen(1);
    run();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].id, "evt_1");
    EXPECT_NE(sent[0].body.find("order.created"), std::string::npos);
    answer(1, 204);
    now += 72h;
    run();
    EXPECT_EQ(sent.size(), 1u);
    EXPECT_EQ(delivery(1).state, DeliveryState::delivered);
    EXPECT_EQ(notifier->figures().delivered, 1u);
    EXPECT_EQ(notifier->figures().pending, 0u);
}

TEST_F(NotifierTest, AFailedOneFollowsTheScheduleWithAFifthOfJitterThenIsGivenUp) {
    start();
    happen(1);
    std::string body;
    for (uint32_t attempt = 1; attempt <= Notifier::tries_max; ++attempt) {
        run();
        ASSERT_EQ(sent.size(), attempt);
        if (attempt == 1) body = sent[0].body;
        EXPECT_EQ(sent.back().id, "evt_1");
        EXPECT_EQ(sent.back().body, body) << "the same bytes in every attempt";
        answer(1, attempt % 2 == 0 ? 500 : 0, "connection refused");
        run();
        ASSERT_EQ(sent.size(), attempt) << "not before its time";
        if (attempt == Notifier::tries_max) break;
        const Delivery waiting = delivery(1);
        ASSERT_TRUE(waiting.next_at.has_value());
        const milliseconds planned = Notifier::retry_after[attempt - 1];
        EXPECT_GE(*waiting.next_at - now, planned * 8 / 10);
        EXPECT_LE(*waiting.next_at - now, planned * 12 / 10);
        now = *waiting.next_at - 1ms;
        run();
        ASSERT_EQ(sent.size(), attempt) << "not a millisecond before its time";
        now += 1ms;
    }
    EXPECT_EQ(delivery(1).state, DeliveryState::failed);
    EXPECT_EQ(delivery(1).attempts, 10u);
    EXPECT_EQ(notifier->figures().failed, 1u);
    EXPECT_EQ(notifier->figures().retried, 9u);
}

TEST_F(NotifierTest, DeliveriesThatFailedTogetherDoNotComeBackTogether) {
    start({.in_flight_max = 50});
    happen(50);
    run();
    for (uint64_t event = 1; event <= 50; ++event) answer(event, 503);
    run();
    std::set<Instant> times;
    for (uint64_t event = 1; event <= 50; ++event) times.insert(*delivery(event).next_at);
    EXPECT_GT(times.size(), 25u);
}

TEST_F(NotifierTest, GoneIsAnAnswerThatEndsIt) {
    start();
    happen(1);
    run();
    answer(1, 410);
    run();
    EXPECT_EQ(delivery(1).state, DeliveryState::failed);
}

TEST_F(NotifierTest, ARedirectIsNoSuccess) {
    start();
    happen(1);
    run();
    answer(1, 302);
    run();
    EXPECT_EQ(delivery(1).state, DeliveryState::pending);
}

TEST_F(NotifierTest, NoMoreThanAllowedAreUnderWayAndAllArriveInTheEnd) {
    start({.in_flight_max = 3, .batch_max = 4});
    happen(50);
    std::set<uint64_t> arrived;
    size_t seen = 0;
    while (arrived.size() < 50) {
        run();
        ASSERT_GT(sent.size(), seen) << "it stands still";
        ASSERT_LE(sent.size() - seen, 3u);
        for (; seen < sent.size(); ++seen) {
            EXPECT_TRUE(arrived.insert(sent[seen].event).second) << "sent twice";
            answer(sent[seen].event, 200);
        }
    }
    run();
    EXPECT_EQ(orders->outbox().backlog()->pending, 0u);
}

TEST_F(NotifierTest, AFreedSlotIsUsedWithoutWaitingForTheNextLook) {
    start({.in_flight_max = 1});
    happen(3);
    run();
    answer(1, 200);
    ASSERT_TRUE(notifier->step(now, uptime).has_value());  // no time has passed
    EXPECT_EQ(events(), (std::vector<uint64_t>{1, 2}));
}

TEST_F(NotifierTest, NothingIsLostOverRestarts) {
    start();
    happen(20);
    run();
    answer(1, 200);
    answer(2, 500);
    ASSERT_TRUE(notifier->flush(now).has_value());
    answer(3, 200);  // not yet written down
    // Here the process dies: what was under way, or not written, is sent once more.
    happen(5);
    now += 10s;
    std::set<uint64_t> arrived;
    start({.in_flight_max = 100});
    run();
    for (const uint64_t event : events()) arrived.insert(event);
    EXPECT_FALSE(arrived.contains(1));
    for (uint64_t event = 2; event <= 25; ++event) EXPECT_TRUE(arrived.contains(event)) << event;
}

TEST_F(NotifierTest, WhatWasReadAheadIsNotSentWhereAnotherDeliveredIt) {
    start({.in_flight_max = 1});
    happen(3);
    run();
    ASSERT_EQ(events(), std::vector<uint64_t>{1});
    const std::unique_ptr<Notifier> first = std::move(notifier);
    answer_to(*first, 1, 204);
    ASSERT_TRUE(first->rest(now).has_value());
    EXPECT_EQ(delivery(1).state, DeliveryState::delivered) << "its answer is written, whoever delivers";

    start();
    run();
    EXPECT_EQ(events(), (std::vector<uint64_t>{2, 3}));
    for (const uint64_t event : {2, 3}) answer(event, 204);
    ASSERT_TRUE(notifier->rest(now).has_value());

    sent.clear();
    uptime += 1s;
    ASSERT_TRUE(first->step(now, uptime).has_value());
    EXPECT_TRUE(sent.empty());
}

TEST_F(NotifierTest, WithoutAReceiverEventsArePassedOverAndFromTheDayThereIsOneTheyGoOut) {
    start().set_delivering(false);
    happen(3);
    run();
    EXPECT_TRUE(sent.empty());
    notifier->set_delivering(true);
    happen(1);
    run();
    EXPECT_EQ(events(), (std::vector<uint64_t>{4}));
}

TEST_F(NotifierTest, AReceiverThatIsTakenAwayLeavesDeliveriesWaitingAndTheThreadAtRest) {
    start({.in_flight_max = 1, .batch_max = 2});
    happen(10);
    run();
    notifier->set_delivering(false);
    answer(1, 200);
    run();
    EXPECT_EQ(sent.size(), 1u);
    notifier->set_delivering(true);
    run();
    EXPECT_EQ(sent.size(), 2u);
}

TEST_F(NotifierTest, TheOperatorSendsAgainWhatWasDeliveredOrGivenUp) {
    start();
    happen(2);
    run();
    answer(1, 200);
    answer(2, 410);
    // The answers are not yet written down: writing them later must not undo this.
    ASSERT_TRUE(notifier->resend(1, now).has_value());
    ASSERT_TRUE(notifier->resend(2, now).has_value());
    run();
    EXPECT_EQ(events(), (std::vector<uint64_t>{1, 2, 1, 2}));
    EXPECT_EQ(sent[2].body, sent[0].body);
    answer(2, 500);
    run();
    EXPECT_EQ(delivery(2).state, DeliveryState::pending) << "the schedule begins anew";
    EXPECT_EQ(delivery(2).attempts, 2u);
    EXPECT_EQ(notifier->resend(77, now).error().code, StoreErrc::not_found);
}

TEST_F(NotifierTest, TheFiguresTellWhatWaits) {
    start({.in_flight_max = 1});
    happen(1);
    now += 1min;
    happen(1);
    run();
    EXPECT_EQ(notifier->figures().pending, 2u);
    EXPECT_EQ(notifier->figures().oldest, t0);
}

}  // namespace
}  // namespace doorbuster
