#include "shard/shard.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"
#include "shard/rebuild.hpp"
#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

struct Heard final : ReplySink {
    std::vector<PurchaseReply> replies;
    void deliver(std::span<const PurchaseReply> some) override {
        replies.insert(replies.end(), some.begin(), some.end());
    }
};

// The real one cannot be made to fail on demand; this one fails when it is told to, and
// shows what had been answered when the append came.
struct FailingLedger final : Ledger {
    explicit FailingLedger(const Heard& heard_by) : heard(heard_by) {}
    const Heard& heard;
    bool fails = false;
    size_t answered_before_append = 0;
    std::vector<LedgerEntry> entries;

    StoreResult<void> append(std::span<const LedgerEntry> some) override {
        answered_before_append = heard.replies.size();
        if (fails) return StoreError{StoreErrc::full, "appending", "no room", true};
        entries.insert(entries.end(), some.begin(), some.end());
        return {};
    }
    StoreResult<void> idle() override { return {}; }
};

class ShardTest : public ::testing::Test {
protected:
    ShardTest() {
        shard.set_sinks({&heard});
        shard.apply(OpenBook{ItemSlot{0},
                             SaleId("phone-drop"),
                             ItemId("phone"),
                             {1, t0, t0 + 1h},
                             {2, 2, 0, 0},
                             Phase::selling,
                             board});
    }
    static PurchaseCommand command(uint32_t id, const BuyerId& buyer) {
        return {ItemSlot{0}, purchase(id), buyer, 1, 0, nullptr};
    }
    std::vector<ReserveOutcome> outcomes() const {
        std::vector<ReserveOutcome> all;
        for (const PurchaseReply& reply : heard.replies) all.push_back(reply.answer.outcome);
        return all;
    }

    Heard heard;
    FailingLedger ledger{heard};
    Shard shard{ledger};
    std::shared_ptr<ItemBoard> board = std::make_shared<ItemBoard>();
};

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

TEST(Rebuild, BringsBackWhatWasOrderedAndWhatIsOnlyInTheLedger) {
    TemporaryFolder folder;
    auto orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    auto ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    auto reader = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    ASSERT_TRUE(orders->create_sale(phone_drop(4), SaleState::scheduled, t0).has_value());
    ASSERT_TRUE(ledger->append(std::vector{entry(1, alice), entry(2, bob), entry(3, carol)}).has_value());
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, bob))};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    ASSERT_TRUE(orders->cancel(OrderId{1002}, bob, t0).has_value());

    Shard shard(*ledger);
    const auto board = std::make_shared<ItemBoard>();
    const Stock at_position = orders->reader().sales()->front().stock.front();
    shard.apply(OpenBook{ItemSlot{0},
                         SaleId("phone-drop"),
                         ItemId("phone"),
                         {1, t0, t0 + 1h},
                         at_position,
                         Phase::selling,
                         board});
    const auto rebuilt = rebuild(shard, orders->reader(), *reader);
    ASSERT_TRUE(rebuilt.has_value());
    EXPECT_EQ(rebuilt->purchases, 2u);
    EXPECT_EQ(rebuilt->ledger_records, 1u);
    EXPECT_EQ(rebuilt->ledger_position, 3u);
    EXPECT_EQ(shard.book(ItemSlot{0})->stock(), (Stock{4, 2, 2, 0}));
    EXPECT_EQ(shard.book(ItemSlot{0})->sequence_last(), 3u);
    EXPECT_EQ(board->stock(), (Stock{4, 2, 2, 0}));
    for (const uint32_t id : {1u, 2u, 3u}) EXPECT_TRUE(board->perhaps_accepted(purchase(id)));
}

}  // namespace
}  // namespace doorbuster
