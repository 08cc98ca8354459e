// What every orders store must do. An adapter's test instantiates it with a Fixture that has
//   Orders& orders();
//   OrdersReader& reader();  // over a connection of its own
//   void reopen();           // closes and opens again, as a restart does
//   void wipe();             // begins again with nothing
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
    // One sale of a policy, one order of alice's (order 1001, purchase 1).
    OrderRecord create_order(StockPolicy policy, uint32_t units = 10) {
        Sale sale = testing::phone_drop(units);
        sale.stock_policy = policy;
        EXPECT_TRUE(this->orders().create_sale(sale, SaleState::scheduled, testing::t0).has_value());
        const std::vector batch{testing::placement(1, testing::entry(1))};
        EXPECT_TRUE(this->orders().place(0, batch, testing::t0).has_value());
        return order(1001);
    }

    Stock stock() { return this->reader().sales()->front().stock.front(); }
    OrderRecord order(int64_t id) { return **this->reader().find_order(OrderId{id}); }
    PaymentRecord payment(int64_t id) { return **this->reader().find_payment(PaymentId{id}); }

    Moved move(const std::optional<OrderMove>& move, Instant now = testing::t0) {
        EXPECT_TRUE(move.has_value());
        const auto moved = this->orders().move(std::span(&*move, 1), now);
        EXPECT_TRUE(moved.has_value());
        return moved->front();
    }
    Moved cancel(int64_t id) { return move(doorbuster::cancel(order(id))); }

    // Order 1001 with an attempt, and what the provider says about it.
    Moved begin(int64_t payment) { return move(begin_payment(order(1001), PaymentId{payment}, testing::t0)); }
    PaymentRuling hear(int64_t id, ProviderState state) {
        const PaymentRecord about = payment(id);
        return rule_on(order(1001), about, {state, about.amount_minor, about.currency, {}});
    }
    std::vector<EventKind> events() {
        std::vector<EventKind> kinds;
        for (const EventRecord& event : *this->reader().events_after(0, 100)) kinds.push_back(event.kind);
        return kinds;
    }
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

// The known one comes last: by then the others of its batch have been written, in a way that is given up.
TYPED_TEST_P(OrdersContract, ARecordThatIsKnownKeepsNoneOfItsBatchFromBeingPlaced) {
    using namespace testing;
    this->create(10, 3);
    ASSERT_TRUE(this->orders().place(0, std::vector{placement(1, entry(1))}, t0).has_value());
    const std::vector batch{placement(2, entry(2, bob)), placement(3, entry(3, carol)),
                            placement(4, entry(1))};
    const auto placed = this->orders().place(1, batch, t0);
    ASSERT_TRUE(placed.has_value());
    EXPECT_EQ(*placed, (std::vector{Placed::ordered, Placed::ordered, Placed::known_before}));
    EXPECT_EQ(*this->reader().position(), 4u);
    EXPECT_EQ(this->stock(), (Stock{10, 7, 3, 0}));
    for (const uint32_t number : {1u, 2u, 3u}) {
        const auto order = this->reader().find_order(OrderId{1000 + number});
        ASSERT_TRUE(order.has_value() && order->has_value()) << number;
        EXPECT_EQ((*order)->purchase, purchase(number));
    }
    EXPECT_FALSE(this->reader().find_order(OrderId{1004})->has_value());
    EXPECT_EQ(this->events(), std::vector(3, EventKind::order_created)) << "each is told once";
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
    const OrderRecord as_read = this->order(1001);
    EXPECT_EQ(this->move(doorbuster::cancel(as_read)), Moved::done);
    EXPECT_EQ(this->move(doorbuster::cancel(as_read)), Moved::conflict) << "it is not the one that was read";
    EXPECT_EQ(this->order(1001).state, OrderState::cancelled);
    EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));
    const auto found = this->reader().find_purchase(purchase(1));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->state, PurchaseState::cancelled);
    EXPECT_EQ((*found)->reason, reason_by_buyer);
    EXPECT_EQ((*found)->order, OrderId{1001});
    EXPECT_EQ((*found)->hold, HoldState::finished);
    const auto again = this->orders().place(2, std::vector{placement(3, entry(3, alice))}, t0);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->front(), Placed::ordered);
}

TYPED_TEST_P(OrdersContract, AMoveThatCannotBeDoneLeavesNothingBehindAndDisturbsNoOther) {
    using namespace testing;
    this->create(10, 2);
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, bob))};
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    OrderMove stale = *begin_payment(this->order(1001), PaymentId{7}, t0);
    stale.before.version += 1;
    const std::vector moves{stale, *doorbuster::cancel(this->order(1002))};
    const auto moved = this->orders().move(moves, t0);
    ASSERT_TRUE(moved.has_value());
    EXPECT_EQ(*moved, (std::vector{Moved::conflict, Moved::done}));
    EXPECT_EQ(this->order(1001).state, OrderState::pending_payment);
    EXPECT_FALSE(this->reader().find_payment(PaymentId{7})->has_value());
    EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(this->events(),
              (std::vector{EventKind::order_created, EventKind::order_created, EventKind::order_cancelled}));
}

TYPED_TEST_P(OrdersContract, APaymentTakesItsOrderFromHeldToSold) {
    using namespace testing;
    this->create_order(StockPolicy::reserve);
    ASSERT_EQ(this->begin(7), Moved::done);
    EXPECT_EQ(this->order(1001).payment, PaymentId{7});
    EXPECT_EQ(this->payment(7).state, PaymentState::creating);
    EXPECT_EQ(this->payment(7).amount_minor, this->order(1001).amount_minor);
    ASSERT_EQ(this->reader().due_payments(DuePayments::awaited, t0, 10)->size(), 1u);
    PaymentRuling paid = this->hear(7, ProviderState::captured);
    paid.move->payment->after.look_at.reset();
    ASSERT_EQ(this->move(paid.move), Moved::done);
    this->reopen();
    EXPECT_EQ(this->order(1001).state, OrderState::paid);
    EXPECT_EQ(this->stock(), (Stock{10, 9, 0, 1}));
    EXPECT_TRUE(this->reader().due_payments(DuePayments::awaited, t0 + 1h, 10)->empty());
    EXPECT_EQ(this->move(paid.move), Moved::conflict) << "a capture counts once";
    EXPECT_EQ(this->events(), (std::vector{EventKind::order_created, EventKind::order_paid}));
    EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->hold, HoldState::sold);
    EXPECT_EQ(*this->reader().last_payment(), PaymentId{7});
}

TYPED_TEST_P(OrdersContract, WhatIsAwaitedIsFoundApartFromWhatIsOnlyWatched) {
    using namespace testing;
    this->create_order(StockPolicy::reserve);
    ASSERT_EQ(this->begin(7), Moved::done);
    const auto due = [&](DuePayments which, Instant now) {
        std::vector<PaymentId> ids;
        const auto found = this->reader().due_payments(which, now, 10);
        for (const PaymentRecord& one : *found) ids.push_back(one.id);
        return ids;
    };
    EXPECT_EQ(due(DuePayments::awaited, t0), std::vector{PaymentId{7}});
    EXPECT_TRUE(due(DuePayments::watched, t0).empty());
    ASSERT_EQ(this->move(this->hear(7, ProviderState::voided).move), Moved::done);
    EXPECT_TRUE(due(DuePayments::awaited, t0).empty());
    EXPECT_EQ(due(DuePayments::watched, t0), std::vector{PaymentId{7}});
    EXPECT_TRUE(due(DuePayments::watched, t0 - 1s).empty());
    ASSERT_EQ(this->begin(8), Moved::done);
    EXPECT_EQ(due(DuePayments::awaited, t0), std::vector{PaymentId{8}});
    EXPECT_EQ(this->reader().backlog(t0)->payments_to_settle, 2u);
    EXPECT_EQ(this->reader().backlog(t0)->refund_asks_max, 0u);

    PaymentRecord asked = this->payment(8);
    asked.state = PaymentState::refunding;
    asked.looks = 11;
    ASSERT_TRUE(this->orders().change_payment({this->payment(8), asked}, {}, t0).has_value());
    EXPECT_EQ(this->reader().backlog(t0)->refund_asks_max, 11u);
}

TYPED_TEST_P(OrdersContract, EveryStockPolicyKeepsTheSumOfUnits) {
    using namespace testing;
    struct Expected {
        StockPolicy policy;
        Stock ordered, released;
        HoldState hold;
    };
    for (const Expected& expected :
         {Expected{StockPolicy::at_order, {10, 9, 0, 1}, {10, 10, 0, 0}, HoldState::sold},
          Expected{StockPolicy::at_payment, {10, 10, 0, 0}, {10, 10, 0, 0}, HoldState::open}}) {
        this->wipe();
        const OrderRecord order = this->create_order(expected.policy);
        EXPECT_EQ(order.hold, expected.hold);
        EXPECT_EQ(order.policy, expected.policy);
        EXPECT_EQ(this->stock(), expected.ordered);
        EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->hold, expected.hold);
        ASSERT_EQ(this->move(expire(order)), Moved::done);
        EXPECT_EQ(this->stock(), expected.released);
        EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->reason, reason_expired);
    }
}

TYPED_TEST_P(OrdersContract, WherePaymentTakesTheUnitAPayerMayFindNone) {
    using namespace testing;
    Sale sale = phone_drop(1);
    sale.stock_policy = StockPolicy::at_payment;
    ASSERT_TRUE(this->orders().create_sale(sale, SaleState::scheduled, t0).has_value());
    const std::vector batch{placement(1, entry(1, alice)), placement(2, entry(2, bob))};
    ASSERT_TRUE(this->orders().place(0, batch, t0).has_value());
    EXPECT_EQ(this->stock(), (Stock{1, 1, 0, 0}));
    ASSERT_EQ(this->move(begin_payment(this->order(1002), PaymentId{8}, t0)), Moved::done);
    const PaymentRecord bobs = this->payment(8);
    ASSERT_EQ(this->move(rule_on(this->order(1002), bobs,
                                 {ProviderState::captured, bobs.amount_minor, bobs.currency, {}})
                             .move),
              Moved::done);
    EXPECT_EQ(this->stock(), (Stock{1, 0, 0, 1}));
    ASSERT_EQ(this->begin(7), Moved::done);
    const PaymentRuling late = this->hear(7, ProviderState::captured);
    EXPECT_EQ(this->move(late.move), Moved::no_unit);
    EXPECT_EQ(this->order(1001).state, OrderState::paying) << "what could not be done left no trace";
    EXPECT_EQ(this->payment(7).state, PaymentState::creating);
    ASSERT_EQ(this->move(late.if_no_unit), Moved::done);
    EXPECT_EQ(this->order(1001).state, OrderState::refunding);
    EXPECT_EQ(this->payment(7).state, PaymentState::refunding);
    EXPECT_EQ(this->stock(), (Stock{1, 0, 0, 1}));
}

TYPED_TEST_P(OrdersContract, ALatePaymentThatFoundAUnitPaysForItsOldOrder) {
    using namespace testing;
    for (const StockPolicy policy : {StockPolicy::reserve, StockPolicy::at_order, StockPolicy::at_payment}) {
        this->wipe();
        this->create_order(policy);
        ASSERT_EQ(this->begin(7), Moved::done);
        ASSERT_EQ(this->move(expire(this->order(1001))), Moved::done);
        ASSERT_EQ(this->move(this->hear(7, ProviderState::voided).move), Moved::done);
        EXPECT_EQ(this->stock(), (Stock{10, 10, 0, 0}));
        ASSERT_EQ(this->move(this->hear(7, ProviderState::captured).move), Moved::done);
        EXPECT_EQ(this->order(1001).state, OrderState::reinstating);
        ASSERT_EQ(this->reader().orders_in(OrderState::reinstating, 10)->size(), 1u);

        LedgerEntry again = entry(2, alice);
        again.replaces = purchase(1);
        const auto placed = this->orders().place(1, std::vector{placement(2, again)}, t0 + 1s);
        ASSERT_TRUE(placed.has_value());
        EXPECT_EQ(placed->front(), Placed::reinstated);
        const OrderRecord order = this->order(1001);
        EXPECT_EQ(order.state, OrderState::paid);
        EXPECT_EQ(order.holder, purchase(2));
        EXPECT_EQ(order.purchase, purchase(1));
        EXPECT_EQ(this->stock(), (Stock{10, 9, 0, 1}));
        EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->hold, HoldState::finished);
        EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->state, PurchaseState::ordered);
        EXPECT_EQ((*this->reader().find_purchase(purchase(2)))->hold, HoldState::sold);
        EXPECT_EQ(this->orders().place(2, std::vector{placement(3, again)}, t0)->front(),
                  Placed::known_before);
        EXPECT_FALSE(this->reader().find_order(OrderId{1002})->has_value()) << "it is the same order";
    }
}

TYPED_TEST_P(OrdersContract, WhatBecameOfAFreshIdIsNotTheShopsToHear) {
    using namespace testing;
    this->create_order(StockPolicy::reserve, 1);
    ASSERT_EQ(this->begin(7), Moved::done);
    ASSERT_EQ(this->move(expire(this->order(1001))), Moved::done);
    ASSERT_EQ(this->move(this->hear(7, ProviderState::voided).move), Moved::done);
    ASSERT_EQ(this->move(this->hear(7, ProviderState::captured).move), Moved::done);
    ASSERT_TRUE(this->orders().place(1, std::vector{placement(2, entry(2, bob))}, t0).has_value());
    const auto heard = this->events();

    LedgerEntry again = entry(3, alice);
    again.replaces = purchase(1);
    ASSERT_EQ(this->orders().place(2, std::vector{placement(3, again)}, t0)->front(), Placed::cancelled);
    LedgerEntry once_more = entry(4, alice);
    once_more.replaces = purchase(1);
    ASSERT_TRUE(this->orders().bury(3, placement(4, once_more).record, "a fault", t0).has_value());
    EXPECT_EQ((*this->reader().find_purchase(purchase(3)))->state, PurchaseState::cancelled);
    EXPECT_EQ((*this->reader().find_purchase(purchase(4)))->state, PurchaseState::cancelled);
    EXPECT_EQ(this->events(), heard) << "it knows purchase 1, and hears of its refund";
    std::vector<PurchaseId> given_back;
    ASSERT_TRUE(this->reader()
                    .each_stock_move([&](const StockMove& one) {
                        if (one.kind == StockMoveKind::released) given_back.push_back(*one.purchase);
                    })
                    .has_value());
    EXPECT_EQ(given_back, (std::vector{purchase(1), purchase(3), purchase(4)})) << "for a replay";
}

TYPED_TEST_P(OrdersContract, ABuriedPurchaseThatIsTriedAgainGetsItsOrder) {
    using namespace testing;
    this->create();
    ASSERT_TRUE(this->orders().bury(0, placement(1, entry(1)).record, "a fault", t0).has_value());
    LedgerEntry again = entry(2, alice);
    again.replaces = purchase(1);
    const auto placed = this->orders().place(1, std::vector{placement(2, again)}, t0);
    ASSERT_TRUE(placed.has_value());
    EXPECT_EQ(placed->front(), Placed::ordered);
    EXPECT_EQ(this->order(1002).purchase, purchase(1));
    EXPECT_EQ(this->order(1002).holder, purchase(2));
    EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->order, OrderId{1002});
    EXPECT_EQ((*this->reader().find_purchase(purchase(1)))->state, PurchaseState::ordered);
    EXPECT_EQ((*this->reader().find_purchase(purchase(2)))->hold, HoldState::held);
    EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));

    ASSERT_TRUE(this->orders().close_letter(1, LetterState::retried, t0).has_value());
    EXPECT_EQ(this->orders().close_letter(1, LetterState::dropped, t0).error().code, StoreErrc::conflict);
    EXPECT_EQ(this->orders().close_letter(9, LetterState::dropped, t0).error().code, StoreErrc::not_found);
    EXPECT_EQ(this->reader().dead_letters(0, 10)->front().state, LetterState::retried);
}

TYPED_TEST_P(OrdersContract, ABatchThatCannotBePlacedLeavesNeitherOrderNorEvent) {
    using namespace testing;
    this->create(10, 3);
    ASSERT_TRUE(this->orders().place(0, std::vector{placement(1, entry(1))}, t0).has_value());
    LedgerEntry late = entry(3, alice);
    late.replaces = purchase(1);  // whose order asked for nothing
    const std::vector batch{placement(2, entry(2, bob)), placement(3, late)};
    EXPECT_EQ(this->orders().place(1, batch, t0).error().code, StoreErrc::not_allowed);
    EXPECT_EQ(*this->reader().position(), 1u);
    EXPECT_FALSE(this->reader().find_order(OrderId{1002})->has_value());
    EXPECT_EQ(this->events(), (std::vector{EventKind::order_created}));
    EXPECT_EQ(this->stock(), (Stock{10, 9, 1, 0}));
}

TYPED_TEST_P(OrdersContract, AnEventOfTheProviderCountsOnceAndMakesItsPaymentDue) {
    using namespace testing;
    this->create_order(StockPolicy::reserve);
    ASSERT_EQ(this->begin(7), Moved::done);
    PaymentChange later{this->payment(7), this->payment(7)};
    later.after.look_at.reset();
    ASSERT_TRUE(this->orders().change_payment(later, {}, t0).has_value());
    EXPECT_EQ(this->orders().change_payment(later, {}, t0).error().code, StoreErrc::conflict);
    EXPECT_EQ(*this->orders().hint("evt_1", PaymentId{7}, t0 + 1s, 1h), true);
    EXPECT_EQ(*this->orders().hint("evt_1", PaymentId{7}, t0 + 2s, 1h), false);
    EXPECT_EQ(this->payment(7).look_at, t0 + 1s);
    EXPECT_EQ(this->orders().hint("evt_2", PaymentId{8}, t0, 1h).error().code, StoreErrc::not_found);
    EXPECT_EQ(*this->orders().hint("evt_1", PaymentId{7}, t0 + 2h, 1h), true) << "kept only for so long";
}

TYPED_TEST_P(OrdersContract, FindsTheOrdersWhoseTimeIsOverTheLongestOverFirst) {
    using namespace testing;
    this->create(10, 3);
    ASSERT_TRUE(this->orders().place(0, std::vector{placement(1, entry(1))}, t0 + 5s).has_value());
    ASSERT_TRUE(this->orders().place(1, std::vector{placement(2, entry(2, bob))}, t0).has_value());
    ASSERT_TRUE(this->orders().place(2, std::vector{placement(3, entry(3, carol))}, t0).has_value());
    ASSERT_EQ(this->cancel(1003), Moved::done);
    EXPECT_TRUE(this->reader().due_orders(t0 + 899s, 10, 0)->empty());
    EXPECT_FALSE(this->reader().backlog(t0 + 899s)->oldest_due.has_value());
    const auto due = this->reader().due_orders(t0 + 905s, 10, 0);
    ASSERT_EQ(due->size(), 2u);
    EXPECT_EQ(due->front().id, OrderId{1002});
    EXPECT_EQ(this->reader().due_orders(t0 + 905s, 1, 0)->size(), 1u);
    EXPECT_EQ(this->reader().due_orders(t0 + 905s, 10, 1)->front().id, OrderId{1001});
    const DueBy stepped{t0 + 905s, t0 + 5s, t0 + 1s};  // set forward by 15 minutes, before the first was made
    ASSERT_EQ(this->reader().due_orders(stepped, 10, 0)->size(), 1u);
    EXPECT_EQ(this->reader().due_orders(stepped, 10, 0)->front().id, OrderId{1001});
    EXPECT_EQ(this->reader().backlog(stepped)->oldest_due, t0 + 905s);
    EXPECT_EQ(this->reader().backlog(t0 + 905s)->oldest_due, t0 + 900s);
    EXPECT_EQ((*this->reader().count_orders())[static_cast<size_t>(OrderState::pending_payment)], 2u);
    EXPECT_EQ(*this->reader().unsettled(SaleId("phone-drop")), 2u);
}

TYPED_TEST_P(OrdersContract, TellsWhatHappenedToASaleOnceForEachChange) {
    using namespace testing;
    SaleRecord record = this->create();
    for (const bool sold_out : {true, true, false, false, true})
        ASSERT_TRUE(this->orders().tell_sold_out(record.sale.id, sold_out, t0).has_value());
    record.state = SaleState::paused;
    ASSERT_TRUE(this->orders().change_sale(record, false, t0).has_value());
    EXPECT_EQ(this->events(), (std::vector{EventKind::sale_sold_out, EventKind::sale_available,
                                           EventKind::sale_sold_out, EventKind::sale_paused}));
}

TYPED_TEST_P(OrdersContract, EveryChangeOfTheStockButAcceptancesIsInTheJournal) {
    using namespace testing;
    this->create_order(StockPolicy::reserve);
    ASSERT_TRUE(this->orders().restock(SaleId("phone-drop"), ItemId("phone"), 3, 1, t0 + 1s).has_value());
    ASSERT_EQ(this->cancel(1001), Moved::done);
    std::vector<std::pair<StockMoveKind, int64_t>> seen;
    ASSERT_TRUE(this->reader()
                    .each_stock_move([&](const StockMove& move) { seen.emplace_back(move.kind, move.units); })
                    .has_value());
    EXPECT_EQ(seen, (std::vector<std::pair<StockMoveKind, int64_t>>{{StockMoveKind::restocked, 3},
                                                                    {StockMoveKind::released, 1}}));
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
    ASSERT_EQ(this->cancel(1002), Moved::done);
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
    ASSERT_EQ(this->cancel(1001), Moved::done);
    ASSERT_EQ(this->cancel(1003), Moved::done);
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

REGISTER_TYPED_TEST_SUITE_P(
    OrdersContract, ReadsBackASaleAndRefusesItsTwin, AChangeNeedsTheVersionThatItWasMadeFrom,
    ItemsCanBeReplacedBeforeTheyAreSold, ARestockCountsOnceForItsVersion,
    PlacesOrdersAndMovesThePositionTogether, ARecordIsPlacedOnceHoweverOftenItComes,
    ARecordThatIsKnownKeepsNoneOfItsBatchFromBeingPlaced, WhatHasNoUnitOrNoRightIsCancelledAndSaysWhy,
    ARecordThatCannotBePlacedTakesNothingAndCanBeBuried, ACancelGivesUnitAndRightBackOnce,
    AMoveThatCannotBeDoneLeavesNothingBehindAndDisturbsNoOther, APaymentTakesItsOrderFromHeldToSold,
    WhatIsAwaitedIsFoundApartFromWhatIsOnlyWatched, EveryStockPolicyKeepsTheSumOfUnits,
    WherePaymentTakesTheUnitAPayerMayFindNone, ALatePaymentThatFoundAUnitPaysForItsOldOrder,
    WhatBecameOfAFreshIdIsNotTheShopsToHear, ABuriedPurchaseThatIsTriedAgainGetsItsOrder,
    ABatchThatCannotBePlacedLeavesNeitherOrderNorEvent, AnEventOfTheProviderCountsOnceAndMakesItsPaymentDue,
    FindsTheOrdersWhoseTimeIsOverTheLongestOverFirst, TellsWhatHappenedToASaleOnceForEachChange,
    EveryChangeOfTheStockButAcceptancesIsInTheJournal, ABuyerSeesOwnOrdersNewestFirst,
    EveryPurchaseIsVisitedForTheRebuild, EveryOrderAndHoldingIsVisitedForTheAudit);

}  // namespace doorbuster
