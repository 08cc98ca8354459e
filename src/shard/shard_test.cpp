#include "shard/shard.hpp"

#include "shard/shard_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

TEST_F(ShardTest, AnswersThatRestOnAnAcceptanceWaitForItsCommit) {
    const std::vector batch{command(1, alice), command(2, bob), command(3, carol), command(4, alice)};
    ASSERT_TRUE(shard.decide(batch, t0).has_value());
    EXPECT_EQ(ledger.answered_before_append, 0u);
    EXPECT_EQ(outcomes(), (std::vector{accepted, accepted, sold_out, limit_reached}));
    EXPECT_EQ(ledger.entries.size(), 2u);
}

TEST_F(ShardTest, ARefusalThatRestsOnNothingDoesNotWait) {
    shard.apply(SetTerms{ItemSlot{0}, {1, t0 + 1min, t0 + 1h}, Phase::selling});
    shard.apply(OpenBook{ItemSlot{1},
                         SaleId("phone-drop"),
                         ItemId("case"),
                         {1, t0, t0 + 1h},
                         {5, 5, 0, 0},
                         Phase::selling,
                         std::make_shared<ItemBoard>()});
    PurchaseCommand other = command(2, bob);
    other.slot = ItemSlot{1};
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice), other}, t0).has_value());
    EXPECT_EQ(ledger.answered_before_append, 1u);
    EXPECT_EQ(outcomes(), (std::vector{not_open, accepted}));
}

TEST_F(ShardTest, AFailedCommitIsUnknownForAllThatRestOnIt) {
    ledger.fails = true;
    const std::vector batch{command(1, alice), command(2, bob), command(3, carol)};
    EXPECT_FALSE(shard.decide(batch, t0).has_value());
    ASSERT_EQ(heard.replies.size(), 3u);
    for (const PurchaseReply& reply : heard.replies) EXPECT_EQ(reply.verdict, Verdict::unknown);
    EXPECT_FALSE(board->sold_out()) << "nothing is shown that is not durable";
    EXPECT_FALSE(board->perhaps_accepted(purchase(1)));
}

TEST_F(ShardTest, TheBoardShowsWhatIsDurable) {
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice), command(2, bob)}, t0).has_value());
    EXPECT_TRUE(board->sold_out());
    EXPECT_TRUE(board->perhaps_accepted(purchase(1)));
    EXPECT_EQ(board->stock(), (Stock{2, 0, 2, 0}));
    shard.apply(ReleasePurchase{SaleId("phone-drop"), ItemId("phone"), purchase(1)});
    EXPECT_FALSE(board->sold_out());
    shard.apply(ReleasePurchase{SaleId("phone-drop"), ItemId("phone"), purchase(1)});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 1, 0})) << "a release counts once";
}

TEST_F(ShardTest, AClockThatStepsBackDoesNotUnOpenASale) {
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice)}, t0).has_value());
    ASSERT_TRUE(shard.decide(std::vector{command(2, bob)}, t0 - 1h).has_value());
    EXPECT_EQ(outcomes(), (std::vector{accepted, accepted}));
}

TEST_F(ShardTest, APaymentIsShownAndAPurchaseThatIsNotThereChangesNothing) {
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice)}, t0).has_value());
    shard.apply(SellPurchase{SaleId("phone-drop"), ItemId("phone"), purchase(1)});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 0, 1}));
    shard.apply(SellPurchase{SaleId("phone-drop"), ItemId("phone"), purchase(9)});
    shard.apply(SellPurchase{SaleId("other"), ItemId("phone"), purchase(1)});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 0, 1}));
}

TEST_F(ShardTest, WhereAUnitIsTakenAtPaymentFullOrdersAreShownOnceTheyAreDurable) {
    shard.apply(SetTerms{ItemSlot{0}, {1, t0, t0 + 1h, StockPolicy::at_payment, 1}, Phase::selling});
    EXPECT_FALSE(board->orders_full());
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice), command(2, bob)}, t0).has_value());
    EXPECT_EQ(ledger.answered_before_append, 0u) << "no slot is left because one is being taken";
    EXPECT_EQ(outcomes(), (std::vector{accepted, sold_out_for_now}));
    EXPECT_TRUE(board->orders_full());
    EXPECT_FALSE(board->sold_out());
    shard.apply(ReleasePurchase{SaleId("phone-drop"), ItemId("phone"), purchase(1)});
    EXPECT_FALSE(board->orders_full());
}

TEST_F(ShardTest, ARecordThatIsPlacedAfterAllTakesItsUnitOnce) {
    const LedgerEntry late{SaleId("phone-drop"), ItemId("phone"), {purchase(1), alice, 1, 1, t0}, {}};
    shard.apply(TakeRecord{late, false});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 1, 0}));
    EXPECT_TRUE(board->perhaps_accepted(purchase(1)));
    shard.apply(TakeRecord{late, false});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 1, 0}));
    shard.apply(TakeRecord{late, true});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 0, 1}));
    shard.apply(RecountBook{SaleId("phone-drop"), ItemId("phone")});
    EXPECT_EQ(board->stock(), (Stock{2, 1, 0, 1})) << "it was right before";
    shard.apply(RecountBook{SaleId("other"), ItemId("phone")});
}

}  // namespace
}  // namespace doorbuster
