// What every orders store must do. An adapter's test instantiates it with a Fixture that has
//   Orders& orders();
//   OrdersReader& reader();  // over a connection of its own
//   void reopen();           // closes and opens again, as a restart does
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "store/contract_testing.hpp"

namespace doorbuster {

template <class Fixture>
class OrdersContract : public ::testing::Test, public Fixture {
public:
    SaleRecord create(uint32_t units = 10, uint32_t limit = 1) {
        auto created =
            this->orders().create_sale(testing::phone_drop(units, limit), SaleState::scheduled, testing::t0);
        EXPECT_TRUE(created.has_value());
        return *created;
    }
    Stock stock() { return this->reader().sales()->front().stock.front(); }
};

TYPED_TEST_SUITE_P(OrdersContract);

TYPED_TEST_P(OrdersContract, ReadsBackASaleAndRefusesItsTwin) {
    using namespace testing;
    const SaleRecord created = this->create(7, 2);
    EXPECT_EQ(created.version, 1u);
    this->reopen();
    const auto sales = this->reader().sales();
    ASSERT_TRUE(sales.has_value());
    ASSERT_EQ(sales->size(), 1u);
    EXPECT_EQ(sales->front().sale, phone_drop(7, 2));
    EXPECT_EQ(sales->front().state, SaleState::scheduled);
    EXPECT_EQ(sales->front().stock.front(), (Stock{7, 7, 0, 0}));
    const auto twin = this->orders().create_sale(phone_drop(), SaleState::scheduled, t0);
    ASSERT_FALSE(twin.has_value());
    EXPECT_EQ(twin.error().code, StoreErrc::exists);
}

TYPED_TEST_P(OrdersContract, AChangeNeedsTheVersionThatItWasMadeFrom) {
    using namespace testing;
    SaleRecord record = this->create();
    record.state = SaleState::warming;
    const auto changed = this->orders().change_sale(record, false, t0);
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(changed->version, 2u);
    EXPECT_EQ(changed->state, SaleState::warming);
    const auto stale = this->orders().change_sale(record, false, t0);
    ASSERT_FALSE(stale.has_value());
    EXPECT_EQ(stale.error().code, StoreErrc::conflict);
    record.sale.id = SaleId("nowhere");
    EXPECT_EQ(this->orders().change_sale(record, false, t0).error().code, StoreErrc::not_found);
}

TYPED_TEST_P(OrdersContract, ItemsCanBeReplacedBeforeTheyAreSold) {
    using namespace testing;
    SaleRecord record = this->create(5);
    record.sale.items.front().units_total = 50;
    record.sale.items.front().name = "Telephone";
    const auto changed = this->orders().change_sale(record, true, t0);
    ASSERT_TRUE(changed.has_value());
    EXPECT_EQ(changed->sale.items.front().name, "Telephone");
    EXPECT_EQ(this->stock(), (Stock{50, 50, 0, 0}));
}

TYPED_TEST_P(OrdersContract, ARestockCountsOnceForItsVersion) {
    using namespace testing;
    const SaleRecord record = this->create(5);
    ASSERT_TRUE(this->orders().restock(record.sale.id, ItemId("phone"), 3, record.version, t0).has_value());
    EXPECT_EQ(this->orders().restock(record.sale.id, ItemId("phone"), 3, record.version, t0).error().code,
              StoreErrc::conflict);
    EXPECT_EQ(this->stock(), (Stock{8, 8, 0, 0}));
    EXPECT_EQ(this->orders().restock(record.sale.id, ItemId("none"), 3, record.version + 1, t0).error().code,
              StoreErrc::not_found);
    EXPECT_EQ(this->orders()
                  .restock(record.sale.id, ItemId("phone"), units_max, record.version + 1, t0)
                  .error()
                  .code,
              StoreErrc::not_allowed);
    EXPECT_EQ(this->reader().sales()->front().version, record.version + 1)
        << "a failed restock changes nothing";
}

TYPED_TEST_P(OrdersContract, PlacesOrdersAndMovesThePositionTogether) {
    using namespace testing;
    this->create(10, 2);
    const std::vector batch{placement(1, entry(1, alice, 2)), placement(2, entry(2, bob))};
    const auto placed = this->orders().place(0, batch, t0 + 1s);
    ASSERT_TRUE(placed.has_value());
    EXPECT_EQ(*placed, (std::vector{Placed::ordered, Placed::ordered}));
    this->reopen();
    EXPECT_EQ(*this->reader().position(), 2u);
    EXPECT_EQ(*this->reader().last_order(), OrderId{1002});
    EXPECT_EQ(this->stock(), (Stock{10, 7, 3, 0}));
    const auto order = this->reader().find_order(OrderId{1001});
    ASSERT_TRUE(order.has_value() && order->has_value());
    EXPECT_EQ((*order)->amount_minor, 2 * 999900);
    EXPECT_EQ((*order)->currency, "TWD");
    EXPECT_EQ((*order)->state, OrderState::pending_payment);
    EXPECT_EQ((*order)->pay_by, t0 + 1s + 900s);
    const auto found = this->reader().find_purchase(purchase(2));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->order, OrderId{1002});
    EXPECT_EQ((*found)->hold, HoldState::held);
    EXPECT_EQ((*found)->acceptance, entry(2, bob).acceptance);
}

TYPED_TEST_P(OrdersContract, ARecordIsPlacedOnceHoweverOftenItComes) {
    using namespace testing;
    this->create();
    ASSERT_TRUE(this->orders().place(0, std::vector{placement(1, entry(1))}, t0).has_value());
    EXPECT_EQ(this->orders().place(0, std::vector{placement(1, entry(1))}, t0).error().code,
              StoreErrc::conflict);
    // The same purchase under a later position: known, and nothing is taken.
    const auto again = this->orders().place(1, std::vector{placement(2, entry(1))}, t0);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->front(), Placed::known_before);
    EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));
}

TYPED_TEST_P(OrdersContract, WhatHasNoUnitOrNoRightIsCancelledAndSaysWhy) {
    using namespace testing;
    this->create(2, 1);
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, alice)),
                            placement(3, entry(3, bob)), placement(4, entry(4, carol))};
    const auto placed = this->orders().place(0, batch, t0);
    ASSERT_TRUE(placed.has_value());
    EXPECT_EQ(*placed, (std::vector{Placed::ordered, Placed::cancelled, Placed::ordered, Placed::cancelled}));
    EXPECT_EQ(this->stock(), (Stock{2, 0, 2, 0}));
    for (const uint32_t id : {2u, 4u}) {
        const auto found = this->reader().find_purchase(purchase(id));
        ASSERT_TRUE(found.has_value() && found->has_value());
        EXPECT_EQ((*found)->state, PurchaseState::cancelled);
        EXPECT_EQ((*found)->hold, HoldState::finished);
        EXPECT_FALSE((*found)->reason.empty());
        EXPECT_FALSE((*found)->order.has_value());
    }
}

TYPED_TEST_P(OrdersContract, ARecordThatCannotBePlacedTakesNothingAndCanBeBuried) {
    using namespace testing;
    this->create();
    LedgerEntry stray = entry(2, bob);
    stray.item = ItemId("unheard-of");
    const std::vector batch{placement(1, entry(1)), placement(2, stray)};
    const auto placed = this->orders().place(0, batch, t0);
    ASSERT_FALSE(placed.has_value());
    EXPECT_EQ(placed.error().code, StoreErrc::not_allowed);
    EXPECT_EQ(*this->reader().position(), 0u);
    EXPECT_EQ(this->stock(), (Stock{10, 10, 0, 0}));

    ASSERT_TRUE(this->orders().place(0, std::vector{batch[0]}, t0).has_value());
    ASSERT_TRUE(this->orders().bury(1, batch[1].record, "no such item", t0).has_value());
    EXPECT_EQ(*this->reader().position(), 2u);
    const auto letters = this->reader().dead_letters(0, 10);
    ASSERT_TRUE(letters.has_value());
    ASSERT_EQ(letters->size(), 1u);
    EXPECT_EQ(letters->front().reason, "no such item");
    const auto found = this->reader().find_purchase(purchase(2));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->state, PurchaseState::cancelled);
    EXPECT_EQ((*found)->reason, reason_unplaceable) << "the cause is not for the buyer";
    EXPECT_EQ(this->orders().bury(1, batch[1].record, "again", t0).error().code, StoreErrc::conflict);
}

TYPED_TEST_P(OrdersContract, ACancelGivesUnitAndRightBackOnce) {
    using namespace testing;
    this->create(10, 2);
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, alice))};
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    EXPECT_EQ(this->orders().cancel(OrderId{1001}, bob, t0).error().code, StoreErrc::not_found);
    EXPECT_EQ(this->orders().cancel(OrderId{7}, alice, t0).error().code, StoreErrc::not_found);
    for (int time = 0; time < 2; ++time) {
        const auto cancelled = this->orders().cancel(OrderId{1001}, alice, t0 + 5s);
        ASSERT_TRUE(cancelled.has_value());
        EXPECT_EQ(cancelled->state, OrderState::cancelled);
        EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));
    }
    const auto found = this->reader().find_purchase(purchase(1));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->state, PurchaseState::cancelled);
    EXPECT_EQ((*found)->order, OrderId{1001});
    EXPECT_EQ((*found)->hold, HoldState::finished);
    const auto again = this->orders().place(2, std::vector{placement(3, entry(3, alice))}, t0);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->front(), Placed::ordered);
}

TYPED_TEST_P(OrdersContract, ABuyerSeesOwnOrdersNewestFirst) {
    using namespace testing;
    this->create(10, 3);
    std::vector<Placement> batch;
    for (uint32_t i = 1; i <= 3; ++i) batch.push_back(placement(i, entry(i, alice)));
    batch.push_back(placement(4, entry(4, bob)));
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    const auto first = this->reader().orders_of(alice, {}, 2);
    ASSERT_TRUE(first.has_value());
    ASSERT_EQ(first->size(), 2u);
    EXPECT_EQ((*first)[0].id, OrderId{1003});
    const auto rest = this->reader().orders_of(alice, (*first)[1].id, 2);
    ASSERT_TRUE(rest.has_value());
    ASSERT_EQ(rest->size(), 1u);
    EXPECT_EQ(rest->front().id, OrderId{1001});
}

TYPED_TEST_P(OrdersContract, EveryPurchaseIsVisitedForTheRebuild) {
    using namespace testing;
    this->create(10, 3);
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, alice))};
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    ASSERT_TRUE(this->orders().cancel(OrderId{1002}, alice, t0).has_value());
    std::map<PurchaseId, HoldState> seen;
    ASSERT_TRUE(
        this->reader()
            .each_purchase([&](const PurchaseRecord& one) { seen[one.acceptance.purchase] = one.hold; })
            .has_value());
    EXPECT_EQ(seen, (std::map<PurchaseId, HoldState>{{purchase(1), HoldState::held},
                                                     {purchase(2), HoldState::finished}}));
}

TYPED_TEST_P(OrdersContract, EveryOrderAndHoldingIsVisitedForTheAudit) {
    using namespace testing;
    this->create(10, 3);
    const std::vector batch{placement(1, entry(1, alice, 2)), placement(2, entry(2, alice)),
                            placement(3, entry(3, bob))};
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    ASSERT_TRUE(this->orders().cancel(OrderId{1001}, alice, t0).has_value());
    ASSERT_TRUE(this->orders().cancel(OrderId{1003}, bob, t0).has_value());
    std::map<OrderId, OrderState> orders;
    ASSERT_TRUE(
        this->reader().each_order([&](const OrderRecord& one) { orders[one.id] = one.state; }).has_value());
    EXPECT_EQ(orders, (std::map<OrderId, OrderState>{{OrderId{1001}, OrderState::cancelled},
                                                     {OrderId{1002}, OrderState::pending_payment},
                                                     {OrderId{1003}, OrderState::cancelled}}));
    std::map<BuyerId, uint32_t> holdings;
    ASSERT_TRUE(this->reader()
                    .each_holding([&](const Holding& one) { holdings[one.buyer] = one.units; })
                    .has_value());
    EXPECT_EQ(holdings, (std::map<BuyerId, uint32_t>{{alice, 1}})) << "who holds nothing has no row";
}

REGISTER_TYPED_TEST_SUITE_P(OrdersContract, ReadsBackASaleAndRefusesItsTwin,
                            AChangeNeedsTheVersionThatItWasMadeFrom, ItemsCanBeReplacedBeforeTheyAreSold,
                            ARestockCountsOnceForItsVersion, PlacesOrdersAndMovesThePositionTogether,
                            ARecordIsPlacedOnceHoweverOftenItComes,
                            WhatHasNoUnitOrNoRightIsCancelledAndSaysWhy,
                            ARecordThatCannotBePlacedTakesNothingAndCanBeBuried,
                            ACancelGivesUnitAndRightBackOnce, ABuyerSeesOwnOrdersNewestFirst,
                            EveryPurchaseIsVisitedForTheRebuild, EveryOrderAndHoldingIsVisitedForTheAudit);

}  // namespace doorbuster
