#include "audit/recount.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;

// A sale in mid-life, from real stores: two orders, one cancelled, one purchase in flight.
class RecountTest : public ::testing::Test {
protected:
    RecountTest() {
        TemporaryFolder folder;
        auto orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
        auto ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
        auto reader = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
        EXPECT_TRUE(orders->create_sale(phone_drop(5), SaleState::scheduled, t0).has_value());
        EXPECT_TRUE(ledger->append(std::vector{entry(1, alice), entry(2, bob), entry(3, carol)}).has_value());
        const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, bob))};
        EXPECT_TRUE(orders->place(0, batch, t0).has_value());
        EXPECT_TRUE(orders->cancel(OrderId{1002}, bob, t0).has_value());
        records = *read_records(*reader, orders->reader());
    }

    bool finds(Kind kind) const {
        const auto differences = recount(records);
        return std::any_of(differences.begin(), differences.end(),
                           [&](const Difference& one) { return one.kind == kind; });
    }
    Stock& stock() { return records.sales.front().stock.front(); }
    OrderRecord& order_of(const BuyerId& buyer) {
        return *std::find_if(records.orders.begin(), records.orders.end(),
                             [&](const OrderRecord& one) { return one.buyer == buyer; });
    }

    Records records;
};

TEST_F(RecountTest, ASoundSaleHasNoDifferences) {
    for (const Difference& one : recount(records)) ADD_FAILURE() << name_of(one.kind) << " " << one.detail;
    EXPECT_EQ(records.ledger.size(), 3u);
    EXPECT_EQ(records.orders.size(), 2u);
}

TEST_F(RecountTest, AUnitThatIsNowhere) {
    stock().units_available -= 1;
    EXPECT_TRUE(finds(Kind::stock_sum));
}

TEST_F(RecountTest, HeldUnitsWithoutOrders) {
    stock().units_held += 1;
    stock().units_available -= 1;
    EXPECT_TRUE(finds(Kind::stock_held));
}

TEST_F(RecountTest, APaidOrderWhoseUnitIsNotSold) {
    order_of(alice).state = OrderState::paid;
    EXPECT_TRUE(finds(Kind::stock_sold));
}

TEST_F(RecountTest, MorePromisedThanThereIs) {
    stock() = {1, 0, 1, 0};
    EXPECT_TRUE(finds(Kind::oversold)) << "one ordered, one in flight, one unit";
}

TEST_F(RecountTest, ARecordThatTheWorkerPassedOver) {
    records.position = 3;
    EXPECT_TRUE(finds(Kind::ledger_unplaced));
}

TEST_F(RecountTest, ADeadLetterAccountsForItsRecord) {
    records.position = 3;
    records.dead_letters.push_back({3, "poison", "", t0});
    EXPECT_FALSE(finds(Kind::ledger_unplaced));
}

TEST_F(RecountTest, OnePurchaseInTwoRecords) {
    LedgerRecord again = records.ledger.front();
    again.position = 4;
    again.entry->acceptance.sequence = 4;
    records.ledger.push_back(again);
    EXPECT_TRUE(finds(Kind::ledger_twice));
}

TEST_F(RecountTest, APurchaseThatNobodyAccepted) {
    records.ledger.erase(records.ledger.begin());
    EXPECT_TRUE(finds(Kind::purchase_without_ledger));
    EXPECT_TRUE(finds(Kind::sequence_gap));
}

TEST_F(RecountTest, APurchaseWhoseOrderIsGone) {
    std::erase_if(records.orders, [](const OrderRecord& one) { return one.buyer == alice; });
    EXPECT_TRUE(finds(Kind::purchase_without_order));
    EXPECT_TRUE(finds(Kind::holding_disagrees));
}

TEST_F(RecountTest, AnOrderThatNobodyAskedFor) {
    records.purchases.clear();
    EXPECT_TRUE(finds(Kind::order_without_purchase));
}

TEST_F(RecountTest, TwoOrdersOfOnePurchase) {
    records.orders.push_back(order_of(alice));
    EXPECT_TRUE(finds(Kind::order_twice));
}

TEST_F(RecountTest, AnOrderAndAPurchaseThatTellDifferentStories) {
    order_of(bob).state = OrderState::pending_payment;
    EXPECT_TRUE(finds(Kind::order_disagrees));
}

TEST_F(RecountTest, ABuyerWithMoreThanAllowed) {
    records.ledger.back().entry->acceptance.buyer = alice;
    EXPECT_TRUE(finds(Kind::over_limit)) << "what is in flight counts";
}

TEST_F(RecountTest, AHoldingThatNoOrderExplains) {
    records.holdings.push_back({SaleId("phone-drop"), ItemId("phone"), bob, 1});
    EXPECT_TRUE(finds(Kind::holding_disagrees));
}

TEST_F(RecountTest, ALedgerInAnotherOrderThanTheDecisions) {
    std::swap(records.ledger[0].entry, records.ledger[1].entry);
    EXPECT_TRUE(finds(Kind::sequence_order));
}

}  // namespace
}  // namespace doorbuster::audit
