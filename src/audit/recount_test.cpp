#include "audit/recount.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/contract_testing.hpp"
#include "store/row_words.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;

// A sale in mid-life, from real stores: alice has paid, bob has cancelled, carol is in flight.
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
        const auto order = [&](int64_t id) { return **orders->reader().find_order(OrderId{id}); };
        const auto move = [&](const OrderMove& what) {
            EXPECT_EQ(orders->move(std::span(&what, 1), t0)->front(), Moved::done);
        };
        move(*cancel(order(1002)));
        move(*begin_payment(order(1001), PaymentId{7}, t0));
        const PaymentRecord payment = **orders->reader().find_payment(PaymentId{7});
        const ProviderView captured{ProviderState::captured, payment.amount_minor, payment.currency, {}};
        move(*rule_on(order(1001), payment, captured).move);
        records = *read_records(*reader, orders->reader());
    }

    const Difference* find(Kind kind) {
        differences_ = recount(records);
        const auto found = std::find_if(differences_.begin(), differences_.end(),
                                        [&](const Difference& one) { return one.kind == kind; });
        return found == differences_.end() ? nullptr : &*found;
    }
    bool finds(Kind kind) { return find(kind) != nullptr; }
    Stock& stock() { return records.sales.front().stock.front(); }
    OrderRecord& order_of(const BuyerId& buyer) {
        return *std::find_if(records.orders.begin(), records.orders.end(),
                             [&](const OrderRecord& one) { return one.buyer == buyer; });
    }
    PaymentRecord& payment() { return records.payments.front(); }

    Records records;

private:
    std::vector<Difference> differences_;
};

TEST_F(RecountTest, ASoundSaleHasNoDifferences) {
    for (const Difference& one : recount(records)) ADD_FAILURE() << name_of(one.kind) << " " << one.detail;
    EXPECT_EQ(records.ledger.size(), 3u);
    EXPECT_EQ(records.orders.size(), 2u);
    EXPECT_EQ(records.payments.size(), 1u);
    EXPECT_EQ(records.stock_moves.size(), 2u) << "one released, one sold";
    const Counted counted = count(records);
    ASSERT_EQ(counted.items.size(), 1u);
    EXPECT_EQ(counted.items.front().sold, 1u);
    EXPECT_EQ(counted.items.front().in_flight, 1u);
}

TEST_F(RecountTest, AUnitThatIsNowhere) {
    stock().units_available -= 1;
    EXPECT_TRUE(finds(Kind::units));
}

TEST_F(RecountTest, HeldUnitsWithoutOrders) {
    stock().units_held += 1;
    stock().units_available -= 1;
    const Difference* found = find(Kind::units);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->item, ItemId("phone"));
    EXPECT_NE(found->detail.find("3 available, 1 held, 1 sold of 5"), std::string::npos) << found->detail;
}

TEST_F(RecountTest, ASoldUnitThatTheStockRowHoldsStill) {
    stock() = {5, 4, 1, 0};
    EXPECT_TRUE(finds(Kind::units));
}

TEST_F(RecountTest, MorePromisedThanThereIs) {
    stock() = {1, 0, 0, 1};
    EXPECT_TRUE(finds(Kind::oversold)) << "one sold, one in flight, one unit";
    records.sales.front().sale.stock_policy = StockPolicy::at_payment;
    EXPECT_FALSE(finds(Kind::oversold)) << "then what is in flight takes none";
}

TEST_F(RecountTest, ARecordThatTheWorkerPassedOver) {
    records.position = 3;
    const Difference* found = find(Kind::ledger_without_purchase);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->position, 3u);
    EXPECT_EQ(found->buyer, carol);
    EXPECT_EQ(found->purchase, purchase(3));
}

TEST_F(RecountTest, ADeadLetterAccountsForItsRecord) {
    records.position = 3;
    records.dead_letters.push_back({3, "poison", "", t0});
    EXPECT_FALSE(finds(Kind::ledger_without_purchase));
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
    const Difference* found = find(Kind::purchase_without_ledger);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1001});
    EXPECT_TRUE(finds(Kind::sequence_gap));
}

TEST_F(RecountTest, APurchaseWhoseOrderIsGone) {
    std::erase_if(records.orders, [](const OrderRecord& one) { return one.buyer == alice; });
    const Difference* found = find(Kind::purchase_without_order);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1001});
    EXPECT_TRUE(finds(Kind::holding_disagrees));
    EXPECT_TRUE(finds(Kind::units));
    EXPECT_TRUE(finds(Kind::capture_without_order));
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
    order_of(bob).hold = HoldState::held;
    EXPECT_TRUE(finds(Kind::order_disagrees));
}

TEST_F(RecountTest, APaidOrderThatNobodyPaidFor) {
    payment().state = PaymentState::open;
    const Difference* found = find(Kind::paid_without_capture);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1001});
    EXPECT_EQ(found->payment, PaymentId{7});
}

TEST_F(RecountTest, APaidOrderThatWasUnderpaid) {
    payment().captured_minor -= 1;
    EXPECT_TRUE(finds(Kind::paid_without_capture));
}

TEST_F(RecountTest, MoneyForAnOrderThatHasEnded) {
    payment().order = OrderId{1002};
    const Difference* found = find(Kind::capture_without_order);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1002});
    EXPECT_EQ(found->payment, PaymentId{7});
}

TEST_F(RecountTest, MoneyForOneOrderTwice) {
    PaymentRecord second = payment();
    second.id = PaymentId{8};
    records.payments.push_back(second);
    const Difference* found = find(Kind::capture_without_order);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->payment, PaymentId{8}) << "not the one that pays";
}

TEST_F(RecountTest, ABuyerWithMoreThanAllowed) {
    records.ledger.back().entry->acceptance.buyer = alice;
    const Difference* found = find(Kind::holding_over_limit);
    ASSERT_NE(found, nullptr) << "what is in flight counts";
    EXPECT_EQ(found->buyer, alice);
}

TEST_F(RecountTest, AHoldingThatNoOrderExplains) {
    records.holdings.push_back({SaleId("phone-drop"), ItemId("phone"), bob, 1});
    EXPECT_TRUE(finds(Kind::holding_disagrees));
}

TEST_F(RecountTest, AnEndedOrderThatKeepsItsUnit) {
    order_of(bob).hold = HoldState::held;
    const Difference* found = find(Kind::unit_not_released);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1002});
}

// By state and stock policy, what the units of an order may be; anything else is a difference.
TEST_F(RecountTest, AnOrderHasOfItsUnitsWhatItsStateSays) {
    using enum OrderState;
    using enum HoldState;
    using Holds = std::set<HoldState>;
    const std::map<StockPolicy, HoldState> accepted_as = {
        {StockPolicy::reserve, held}, {StockPolicy::at_order, sold}, {StockPolicy::at_payment, open}};
    for (const auto& [policy, unpaid] : accepted_as) {
        const std::map<OrderState, Holds> allowed = {
            {pending_payment, {unpaid}}, {paying, {unpaid}},
            {voiding, {unpaid}},         {paid, {sold}},
            {expired, {finished}},       {cancelled, {finished}},
            {reinstating, {finished}},   {refunding, {finished, sold}},
            {refunded, {finished, sold}}};
        ASSERT_EQ(allowed.size(), 9u);
        for (const auto& [state, holds] : allowed) {
            for (const HoldState hold : {held, sold, open, finished}) {
                OrderRecord& order = order_of(alice);
                order.state = state;
                order.hold = hold;
                order.policy = policy;
                const bool is_found = finds(Kind::unit_not_released) || finds(Kind::released_twice) ||
                                      finds(Kind::hold_disagrees);
                EXPECT_EQ(is_found, !holds.contains(hold))
                    << name_of(state) << " with " << name_of(hold) << ", " << name_of(policy);
            }
        }
    }
}

TEST_F(RecountTest, AnOrderThatCostsAnotherPrice) {
    order_of(bob).amount_minor = 1;
    const Difference* found = find(Kind::amount_disagrees);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1002});
    order_of(bob).amount_minor = order_of(alice).amount_minor;
    order_of(bob).currency = "USD";
    EXPECT_TRUE(finds(Kind::amount_disagrees));
}

TEST_F(RecountTest, AUnitThatWasGivenBackTwice) {
    const auto released = std::find_if(records.stock_moves.begin(), records.stock_moves.end(),
                                       [](auto& one) { return one.kind == StockMoveKind::released; });
    ASSERT_NE(released, records.stock_moves.end());
    records.stock_moves.push_back(*released);
    const Difference* found = find(Kind::released_twice);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->purchase, purchase(2));
    EXPECT_EQ(found->order, OrderId{1002});
}

TEST_F(RecountTest, AUnitThatWasGivenBackWhileItsOrderLives) {
    records.stock_moves.push_back({.number = 9,
                                   .kind = StockMoveKind::released,
                                   .sale = SaleId("phone-drop"),
                                   .item = ItemId("phone"),
                                   .purchase = purchase(1),
                                   .units = 1,
                                   .at = t0});
    const Difference* found = find(Kind::released_twice);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->order, OrderId{1001});
}

TEST_F(RecountTest, ALedgerInAnotherOrderThanTheDecisions) {
    std::swap(records.ledger[0].entry, records.ledger[1].entry);
    EXPECT_TRUE(finds(Kind::sequence_order));
}

TEST(Difference, NamesOfKindsAreDistinctAndReadBack) {
    for (size_t i = 0; i < kinds; ++i)
        EXPECT_EQ(kind_of(name_of(static_cast<Kind>(i))), static_cast<Kind>(i));
    EXPECT_FALSE(kind_of("nothing"));
}

}  // namespace
}  // namespace doorbuster::audit
