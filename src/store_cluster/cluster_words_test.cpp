// What the operator and the orders side say to books that are in Redis.
#include <gtest/gtest.h>

#include <future>

#include "store_cluster/cluster_books_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

class ClusterWordsTest : public ClusterFixture {
protected:
    // Returns when it is applied.
    void say(Gate& gate, Phase phase, uint64_t version) {
        auto applied = std::make_shared<std::promise<void>>();
        gate.books.control(SetTerms{ItemSlot{0}, terms(), phase, version},
                           [applied] { applied->set_value(); });
        ASSERT_EQ(applied->get_future().wait_for(reports_max), std::future_status::ready);
    }
    Reinstated reinstate(Gate& gate, const Reinstatement& asked) {
        auto told = std::make_shared<std::promise<Reinstated>>();
        gate.books.reinstate(asked, [told](const Reinstated& said) { told->set_value(said); });
        return told->get_future().get();
    }
};

TEST_F(ClusterWordsTest, APauseHoldsAtEveryGateOnceItIsAnsweredAndWinnersStillPass) {
    create(10);
    Gate& first = add_gate();
    Gate& second = add_gate();
    expect_outcome(buy(second, 1, alice), accepted);
    say(first, Phase::paused, record.version + 1);
    EXPECT_TRUE(first.board->perhaps_accepted(purchase(1))) << "before anybody is refused for the pause";
    expect_outcome(buy(second, 2, bob), paused);
    expect_outcome(buy(first, 1, alice), repeated);
    // A gate that was asleep says what it had to say, late.
    say(second, Phase::selling, record.version);
    expect_outcome(buy(second, 3, bob), paused);
    say(second, Phase::selling, record.version + 2);
    expect_outcome(buy(first, 4, bob), accepted);
}

TEST_F(ClusterWordsTest, AWordThatARebuildMissedIsToldUnderTheNextEpoch) {
    create(10);
    Gate& gate = add_gate();
    ASSERT_TRUE((*epochs.close(sale, item, fence.epoch)).has_value());
    give_lease(gate);
    say(gate, Phase::paused, record.version + 1);  // nobody sells it: nothing to wait for
    rebuild();                                     // from a row that does not have it yet
    EXPECT_EQ(in_redis().word.phase, Phase::selling);
    give_lease(gate);
    await([&] { return in_redis().word.phase == Phase::paused; }, "it is not told");
}

TEST_F(ClusterWordsTest, WhoHasPaidIsShownAsSold) {
    create(10);
    Gate& gate = add_gate();
    expect_outcome(buy(gate, 1, alice), accepted);
    gate.books.control(SellPurchase{sale, item, purchase(1)});
    await([&] { return gate.board->stock() == Stock{10, 9, 0, 1}; }, "it is not shown");
}

TEST_F(ClusterWordsTest, WhatChangesUnitsElsewhereIsNotTold) {
    create(10);
    Gate& gate = add_gate();
    bool applied = false;
    gate.books.control(RecountBook{sale, item});
    gate.books.control(ReleasePurchase{sale, item, purchase(1)});
    gate.books.stop();
    gate.books.control(RestockItem{ItemSlot{0}, 5}, [&] { applied = true; });
    EXPECT_TRUE(applied);
    EXPECT_EQ(in_redis().figures.stock, (Stock{10, 10, 0, 0})) << "units come by the relay only";
}

TEST_F(ClusterWordsTest, AFinishedPurchaseIsReinstatedThroughTheLedger) {
    create(2);
    Gate& gate = add_gate();
    expect_outcome(buy(gate, 1, alice), accepted);
    RedisSession redis = server.connect();
    const std::vector finished{purchase(1)};
    ASSERT_TRUE(read_changes(*ask(redis, release_call(bucket, fence, finished)), 1).has_value());
    say(gate, Phase::closed, record.version + 1);

    const Reinstatement asked{.sale = sale,
                              .item = item,
                              .fresh = purchase(11),
                              .replaces = purchase(1),
                              .buyer = alice,
                              .units = 1};
    EXPECT_EQ(reinstate(gate, asked).outcome, accepted) << "its time was when it was first accepted";
    await_outbox(0);  // until then a repeat is produced again
    EXPECT_EQ(reinstate(gate, asked).outcome, repeated);
    const auto records = in_kafka();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].acceptance.purchase, purchase(11));
    EXPECT_EQ(records[1].replaces, purchase(1));

    Reinstatement other = asked;
    other.fresh = purchase(12);
    EXPECT_EQ(reinstate(gate, other).outcome, limit_reached);
    other.item = ItemId("camera");
    EXPECT_EQ(reinstate(gate, other).outcome, not_open);
    end_lease(gate);
    EXPECT_EQ(reinstate(gate, asked).outcome, std::nullopt) << "it has to be asked again";
    gate.books.stop();
    EXPECT_EQ(reinstate(gate, asked).outcome, std::nullopt);
}

}  // namespace
}  // namespace doorbuster
