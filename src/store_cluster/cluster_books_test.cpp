#include "store_cluster/cluster_books.hpp"

#include <gtest/gtest.h>

#include "store_cluster/cluster_books_testing.hpp"
#include "store_cluster/cluster_relay.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

class ClusterBooksTest : public ClusterFixture {};

TEST_F(ClusterBooksTest, AYesIsSaidOnlyAfterKafkaHasIt) {
    create(10);
    Gate& gate = add_gate();
    kafka().freeze();
    ASSERT_EQ(submit(gate, 1, alice), Submitted::queued);
    await_outbox(1);
    EXPECT_EQ(gate.answers.count(), 0u) << "Redis has it, Kafka does not";
    kafka().thaw();
    ASSERT_TRUE(gate.answers.wait_for(1));
    const PurchaseReply reply = gate.answers.last(1);
    expect_outcome(reply, accepted);
    EXPECT_EQ(reply.answer.purchase, purchase(1));
    EXPECT_EQ(reply.answer.sequence, 1u);
    await_outbox(0);
    const auto records = in_kafka();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].acceptance.purchase, purchase(1));
    EXPECT_EQ(records[0].acceptance.buyer, alice);
    EXPECT_EQ(records[0].epoch, fence.epoch);
    EXPECT_TRUE(gate.board->perhaps_accepted(purchase(1)));
    EXPECT_EQ(gate.books.figures().acceptances, 1u);
}

TEST_F(ClusterBooksTest, RefusalsAndRepeatsAreWhatTheBookSays) {
    create(3, 2);
    Gate& gate = add_gate();
    expect_outcome(buy(gate, 1, alice, 2), accepted);
    await_outbox(0);
    const PurchaseReply again = buy(gate, 1, alice, 2);
    expect_outcome(again, repeated);
    EXPECT_EQ(again.answer.sequence, 1u);
    expect_outcome(buy(gate, 1, alice, 1), key_mismatch);
    const PurchaseReply limit = buy(gate, 2, alice, 1);
    expect_outcome(limit, limit_reached);
    EXPECT_EQ(limit.answer.purchase, purchase(1));
    expect_outcome(buy(gate, 3, bob, 2), sold_out);
    expect_outcome(buy(gate, 4, bob, 1), accepted);
    EXPECT_EQ(in_kafka().size(), 2u) << "what is durable is not produced again";
    gate.books.control(CloseBook{ItemSlot{0}});
    expect_outcome(buy(gate, 5, carol, 1), not_open);
}

TEST_F(ClusterBooksTest, WithoutKafkaItIsUnknownAndTheSameKeyFindsTheSamePurchase) {
    create(10);
    Gate& gate = add_gate(1s);
    kafka().freeze();
    const PurchaseReply unknown = buy(gate, 1, alice);
    EXPECT_EQ(unknown.verdict, Verdict::unknown);
    EXPECT_EQ(unknown.purchase, purchase(1));
    EXPECT_EQ(in_redis().outbox_entries, 1u) << "the unit is never given back from here";
    kafka().thaw();
    PurchaseReply again = buy(gate, 1, alice);
    for (const Patience patience; again.verdict == Verdict::unknown; patience.check("Kafka stays away"))
        again = buy(gate, 1, alice);  // a broker that wakes takes its time
    expect_outcome(again, repeated);
    EXPECT_EQ(again.answer.sequence, 1u);
    await_outbox(0);
    EXPECT_EQ(in_redis().figures.stock, (Stock{10, 9, 1, 0}));
    const auto records = in_kafka();
    EXPECT_GE(records.size(), 1u);
    for (const LedgerEntry& one : records) EXPECT_EQ(one.acceptance.sequence, 1u);
}

TEST_F(ClusterBooksTest, ARepeatOfWhatIsOnItsWayWaitsForItsOwnReport) {
    create(10);
    Gate& first = add_gate();
    Gate& second = add_gate();
    kafka().freeze();
    ASSERT_EQ(submit(first, 1, alice), Submitted::queued);
    await_outbox(1);
    ASSERT_EQ(submit(second, 1, alice), Submitted::queued);
    await([&] { return second.records->unreported() == 1; }, "it is not produced again");
    EXPECT_EQ(first.answers.count() + second.answers.count(), 0u);
    kafka().thaw();
    ASSERT_TRUE(first.answers.wait_for(1));
    ASSERT_TRUE(second.answers.wait_for(1));
    expect_outcome(first.answers.last(1), accepted);
    expect_outcome(second.answers.last(1), repeated);
    EXPECT_EQ(in_kafka().size(), 2u) << "twice the same take: one order";
}

TEST_F(ClusterBooksTest, BehindTheEndOfTheLeaseNobodyHearsYes) {
    create(10);
    Gate& gate = add_gate();
    kafka().freeze();
    ASSERT_EQ(submit(gate, 1, alice), Submitted::queued);
    await([&] { return gate.records->unreported() == 1; }, "it is not produced");
    end_lease(gate);
    kafka().thaw();
    ASSERT_TRUE(gate.answers.wait_for(1));
    EXPECT_EQ(gate.answers.last(1).verdict, Verdict::unknown) << "its SEAL may stand before it";
    EXPECT_EQ(in_kafka().size(), 1u);
    EXPECT_EQ(in_redis().outbox_entries, 1u) << "without a lease nothing is done to Redis";
    EXPECT_EQ(submit(gate, 2, bob), Submitted::rebuilding);

    give_lease(gate);
    expect_outcome(buy(gate, 1, alice), repeated);
    await_outbox(0);
}

TEST_F(ClusterBooksTest, ALeaseThatShowsAnotherEpochEndsTheTakesOfTheOldOne) {
    create(10);
    Gate& gate = add_gate();
    kafka().freeze();
    ASSERT_EQ(submit(gate, 1, alice), Submitted::queued);
    await([&] { return gate.records->unreported() == 1; }, "it is not produced");
    ASSERT_TRUE((*epochs.close(sale, item, fence.epoch)).has_value());
    give_lease(gate);  // it holds, and says that the item is being rebuilt
    kafka().thaw();
    ASSERT_TRUE(gate.answers.wait_for(1));
    EXPECT_EQ(gate.answers.last(1).verdict, Verdict::unknown);
    EXPECT_EQ(buy(gate, 2, bob).verdict, Verdict::rebuilding);
}

TEST_F(ClusterBooksTest, ThePaceHoldsThePurchasesBackUntilItIsRaised) {
    create(10);
    Gate& gate = add_gate();
    gate.books.set_pace({.wait_max = 24h, .rate_per_second_max = 1});
    expect_outcome(buy(gate, 1, alice), accepted);  // the second's one
    for (uint32_t number = 2; number <= 1'000; ++number)
        ASSERT_EQ(submit(gate, number, bob), Submitted::queued);
    EXPECT_GE(gate.books.figures().predicted_wait, 500s) << "one a second";
    gate.books.set_pace({.wait_max = 1s, .rate_per_second_max = 1});
    EXPECT_EQ(submit(gate, 1'001, carol), Submitted::overloaded);
    gate.books.set_pace({.wait_max = 24h});
    ASSERT_TRUE(gate.answers.wait_for(1'000)) << "those who waited go at once";
}

TEST_F(ClusterBooksTest, AnEmptyRedisIsNeverSoldOutAndSellsNothing) {
    create(1);
    Gate& gate = add_gate();
    expect_outcome(buy(gate, 1, alice), accepted);
    expect_outcome(buy(gate, 2, bob), sold_out);
    await([&] { return gate.board->sold_out(); }, "it is not shown");
    server.stop(SIGKILL);
    await([&] { return !gate.board->sold_out(); }, "a flag that nobody stands for");
    server.start();  // with nothing in it, not even the functions

    for (uint32_t number = 11; number < 20; ++number) {
        const Verdict verdict = buy(gate, number, carol).verdict;
        EXPECT_TRUE(verdict == Verdict::rebuilding || verdict == Verdict::unknown);
    }
    await([&] { return gate.doubted_epoch == fence.epoch; }, "nobody doubts");
    RedisSession redis = server.connect();
    (void)ask(redis, load_library_call());
    EXPECT_NE(buy(gate, 1, alice).verdict, Verdict::decided) << "a repeat hears no other answer";
    EXPECT_EQ(gate.answers.count(accepted), 1u);
    EXPECT_EQ(gate.answers.count(sold_out), 1u);

    // The record was never placed here, so that the cut finds the unit available.
    rebuild();
    EXPECT_NE(buy(gate, 20, carol).verdict, Verdict::decided) << "the lease still names the old one";
    give_lease(gate);
    expect_outcome(buy(gate, 21, carol), accepted);
}

TEST_F(ClusterBooksTest, ARedisThatIsStillConnectedButAnotherOneIsFenced) {
    create(1);
    Gate& gate = add_gate();
    RedisSession redis = server.connect();
    (void)ask(redis, {"FLUSHALL"});
    EXPECT_EQ(buy(gate, 1, alice).verdict, Verdict::rebuilding);
    EXPECT_EQ(gate.doubted_epoch, fence.epoch);
    EXPECT_EQ(in_kafka().size(), 0u);
}

TEST_F(ClusterBooksTest, AThousandAtOnceShareTheirCalls) {
    create(400);
    Gate& gate = add_gate();
    const auto calls = [&] {
        RedisSession redis = server.connect();
        const auto reply = ask(redis, {"INFO", "commandstats"});
        const std::string text(reply->str, static_cast<size_t>(reply->len));
        return std::stoull(text.substr(text.find("cmdstat_fcall:calls=") + 20));
    };
    const uint64_t before = calls();
    // Whoever is scheduled first, the others gather while one call is under way: to decide, and then to
    // remove.
    kafka().freeze();
    server.freeze();
    for (uint32_t i = 1; i <= 1000; ++i) {
        ASSERT_EQ(submit(gate, i, BuyerId("buyer-" + std::to_string(i))), Submitted::queued);
    }
    server.thaw();
    ASSERT_TRUE(gate.answers.wait_for(600));
    await([&] { return gate.records->unreported() == 400; }, "they are not produced");
    EXPECT_EQ(gate.answers.count(sold_out), 600u);
    server.freeze();
    kafka().thaw();
    ASSERT_TRUE(gate.answers.wait_for(1000));
    EXPECT_EQ(gate.answers.count(accepted), 400u);
    server.thaw();
    await_outbox(0);
    EXPECT_LT(calls() - before, 20u) << "400 to remove, 1000 to decide";
    EXPECT_EQ(in_kafka().size(), 400u);
    EXPECT_EQ(gate.books.units_waited_for(ItemSlot{0}), 0u);
}

TEST_F(ClusterBooksTest, WhatTheRelayBringsBackClearsTheFlagAndIsSoldAgain) {
    create(2);
    Gate& first = add_gate();
    Gate& second = add_gate();
    expect_outcome(buy(first, 1, alice), accepted);
    expect_outcome(buy(second, 2, bob), accepted);
    for (Gate* gate : {&first, &second}) {
        await([&] { return gate->board->sold_out(); }, "it is not shown");
        EXPECT_TRUE(gate->board->perhaps_accepted(purchase(1))) << "whoever sold it";
        EXPECT_TRUE(gate->board->perhaps_accepted(purchase(2)));
        EXPECT_TRUE(gate->board->perhaps_winner(alice) && gate->board->perhaps_winner(bob));
        EXPECT_EQ(gate->board->stock(), (Stock{2, 0, 2, 0}));
    }
    const std::vector batch{placement(1, in_kafka()[0])};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    const auto order = orders->reader().find_order(batch[0].order);
    ASSERT_TRUE(order.has_value() && order->has_value());
    ASSERT_TRUE(orders->move(std::vector{*cancel(**order)}, t0).has_value());
    RedisSession redis = server.connect();
    const auto turn = Relay(connection).step(*lease(), redis, t0);
    ASSERT_TRUE(turn.has_value() && turn->applied == 1);
    for (Gate* gate : {&first, &second}) await([&] { return !gate->board->sold_out(); }, "the flag stays");
    expect_outcome(buy(second, 3, carol), accepted);
    const PurchaseReply finished = buy(second, 1, alice);
    expect_outcome(finished, repeated);
    EXPECT_EQ(finished.answer.state, HoldState::finished);
}

TEST_F(ClusterBooksTest, WinnersOfEarlierEpochsAreKnownBeforeTheFlagIsShown) {
    create(1);
    Gate& first = add_gate();
    expect_outcome(buy(first, 1, alice), accepted);
    const std::vector batch{placement(1, in_kafka()[0])};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    rebuild();
    Gate& second = add_gate();
    await([&] { return second.board->sold_out(); }, "it is not shown");
    EXPECT_TRUE(second.board->perhaps_accepted(purchase(1)));
    expect_outcome(buy(second, 1, alice), repeated);
}

TEST_F(ClusterBooksTest, StoppingAnswersAllThatWasSubmitted) {
    create(100);
    Gate& gate = add_gate();
    for (uint32_t i = 1; i <= 100; ++i) {
        ASSERT_EQ(submit(gate, i, BuyerId("buyer-" + std::to_string(i))), Submitted::queued);
    }
    gate.books.stop();
    EXPECT_EQ(gate.answers.count(accepted), 100u);
    EXPECT_EQ(in_redis().outbox_entries, 0u);
    EXPECT_EQ(submit(gate, 101, alice), Submitted::rebuilding);
    bool applied = false;
    gate.books.control(CloseBook{ItemSlot{0}}, [&] { applied = true; });
    EXPECT_TRUE(applied);
}

}  // namespace
}  // namespace doorbuster
