// A finished purchase asks for its units once more.
#include "shard/shard_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

class ReinstateTest : public ShardTest {
protected:
    ReinstateCommand again(uint32_t fresh, uint32_t replaces, const BuyerId& buyer) {
        return {{SaleId("phone-drop"), ItemId("phone"), purchase(fresh), purchase(replaces), buyer, 1},
                [this](const Reinstated& answer) { answers.push_back(answer); }};
    }
    void set_phase(Phase phase) { shard.apply(SetTerms{ItemSlot{0}, {1, t0, t0 + 1h}, phase}); }
    std::vector<std::optional<ReserveOutcome>> told() const {
        std::vector<std::optional<ReserveOutcome>> all;
        for (const Reinstated& answer : answers) all.push_back(answer.outcome);
        return all;
    }
    using Told = std::vector<std::optional<ReserveOutcome>>;

    std::vector<Reinstated> answers;
};

TEST_F(ReinstateTest, ALatePaymentGetsAUnitAfterTheEndAndTheLedgerSaysWhatItContinues) {
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice)}, t0).has_value());
    shard.apply(ReleasePurchase{SaleId("phone-drop"), ItemId("phone"), purchase(1)});
    for (const Phase phase : {Phase::selling, Phase::paused, Phase::closed}) {
        set_phase(phase);
        ASSERT_TRUE(shard.decide({}, t0 + 2h, std::vector{again(11, 1, alice)}).has_value());
    }
    EXPECT_EQ(told(), (Told{accepted, repeated, repeated}));
    EXPECT_EQ(answers[0].hold, HoldState::held);
    EXPECT_EQ(shard.last_acceptances(), 0u);
    ASSERT_EQ(ledger.entries.size(), 2u);
    EXPECT_EQ(ledger.entries[0].replaces, std::nullopt);
    EXPECT_EQ(ledger.entries[1].replaces, purchase(1));
    EXPECT_EQ(ledger.entries[1].acceptance, (Acceptance{purchase(11), alice, 1, 2, t0 + 2h}));
    EXPECT_TRUE(board->perhaps_accepted(purchase(11)));
    EXPECT_EQ(board->stock(), (Stock{2, 1, 1, 0}));
}

TEST_F(ReinstateTest, ComesBeforeThePurchasesOfItsBatch) {
    const std::vector batch{command(1, alice), command(2, bob)};
    ASSERT_TRUE(shard.decide(batch, t0, std::vector{again(11, 9, carol)}).has_value());
    EXPECT_EQ(told(), Told{accepted});
    EXPECT_EQ(outcomes(), (std::vector{accepted, sold_out}));
    EXPECT_EQ(shard.last_acceptances(), 2u);
    EXPECT_EQ(ledger.entries[0].acceptance.buyer, carol);
}

TEST_F(ReinstateTest, LimitAndStockAreStillAsked) {
    ASSERT_TRUE(shard.decide(std::vector{command(1, alice), command(2, bob)}, t0).has_value());
    auto elsewhere = again(13, 9, carol);
    elsewhere.asked.item = ItemId("case");
    const std::vector asked{again(11, 9, alice), again(12, 9, carol), elsewhere};
    ASSERT_TRUE(shard.decide({}, t0, asked).has_value());
    EXPECT_EQ(told(), (Told{limit_reached, sold_out, not_open}));
    EXPECT_EQ(ledger.entries.size(), 2u);
}

TEST_F(ReinstateTest, AfterAFailedCommitItIsUnknownAndNothingIsShown) {
    ledger.fails = true;
    EXPECT_FALSE(shard.decide({}, t0, std::vector{again(11, 9, alice)}).has_value());
    shard.abandon({}, std::vector{again(12, 9, bob)});
    EXPECT_EQ(told(), (Told{std::nullopt, std::nullopt}));
    EXPECT_FALSE(board->perhaps_accepted(purchase(11)));
    EXPECT_EQ(board->stock(), (Stock{2, 2, 0, 0}));
}

TEST_F(ReinstateTest, TakesWhatThePolicySays) {
    shard.apply(SetTerms{ItemSlot{0}, {1, t0, t0 + 1h, StockPolicy::at_order}, Phase::closed});
    ASSERT_TRUE(shard.decide({}, t0, std::vector{again(11, 9, alice)}).has_value());
    EXPECT_EQ(answers[0].hold, HoldState::sold);
    EXPECT_EQ(board->stock(), (Stock{2, 1, 0, 1}));
}

TEST_F(ReinstateTest, ADeadLetterTriedAgainTakesASlotWhereUnitsGoAtPayment) {
    shard.apply(SetTerms{ItemSlot{0}, {1, t0, t0 + 1h, StockPolicy::at_payment, 1}, Phase::closed});
    ASSERT_TRUE(shard.decide({}, t0, std::vector{again(11, 9, alice), again(12, 8, bob)}).has_value());
    EXPECT_EQ(told(), (Told{accepted, sold_out_for_now}));
    EXPECT_EQ(answers[0].hold, HoldState::open);
    EXPECT_TRUE(board->orders_full());
}

}  // namespace
}  // namespace doorbuster
