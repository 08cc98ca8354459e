#include "shard/rebuild.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"
#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(Rebuild, BringsBackWhatWasOrderedAndWhatIsOnlyInTheLedger) {
    TemporaryFolder folder;
    auto orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    auto ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    auto reader = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    ASSERT_TRUE(orders->create_sale(phone_drop(4), SaleState::scheduled, t0).has_value());
    ASSERT_TRUE(ledger->append(std::vector{entry(1, alice), entry(2, bob), entry(3, carol)}).has_value());
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, bob))};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    const auto cancelled = cancel(**orders->reader().find_order(OrderId{1002}));
    ASSERT_EQ(orders->move(std::vector{*cancelled}, t0)->front(), Moved::done);

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

TEST(Rebuild, HoldsAsTheRecordsSayUnderEveryPolicy) {
    TemporaryFolder folder;
    auto ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    const auto record = [](uint32_t id, const BuyerId& buyer, HoldState hold) {
        return PurchaseRecord{.sale = SaleId("phone-drop"),
                              .item = ItemId("phone"),
                              .acceptance = {purchase(id), buyer, 1, id, t0},
                              .reason = {},
                              .order = {},
                              .hold = hold};
    };
    const auto open = [&](Shard& shard, StockPolicy policy, const Stock& stock) {
        const auto board = std::make_shared<ItemBoard>();
        shard.apply(OpenBook{ItemSlot{0},
                             SaleId("phone-drop"),
                             ItemId("phone"),
                             {1, t0, t0 + 1h, policy, 2},
                             stock,
                             Phase::selling,
                             board});
        return board;
    };
    // Behind the worker's position: Carol's late payment, which continues a finished purchase.
    LedgerRecord late{.position = 3, .entry = entry(3, carol), .raw = {}};
    late.entry->replaces = purchase(9);

    Shard at_order(*ledger);
    const auto sold = open(at_order, StockPolicy::at_order, {4, 3, 0, 1});
    at_order.restore(record(1, alice, HoldState::sold));
    at_order.restore(late);
    EXPECT_EQ(sold->stock(), (Stock{4, 2, 0, 2}));

    Shard at_payment(*ledger);
    const auto paid = open(at_payment, StockPolicy::at_payment, {4, 3, 0, 1});
    at_payment.restore(record(1, alice, HoldState::sold));
    at_payment.restore(record(2, bob, HoldState::open));
    EXPECT_FALSE(paid->orders_full());
    at_payment.restore(record(4, BuyerId("dave"), HoldState::open));
    EXPECT_TRUE(paid->orders_full());
    EXPECT_EQ(paid->stock(), (Stock{4, 3, 0, 1}));
    EXPECT_EQ(at_payment.book(ItemSlot{0})->slots_used(), 2u);
}

}  // namespace
}  // namespace doorbuster
