// What every store of the audit must do. An adapter's test instantiates it with a Fixture that has
//   Orders& orders();
//   AuditStore& audit();
//   AuditReader& reader();  // over a connection of its own
#pragma once

#include <gtest/gtest.h>

#include "store/audit_store.hpp"
#include "store/contract_testing.hpp"

namespace doorbuster {

template <class Fixture>
class AuditContract : public ::testing::Test, public Fixture {
public:
    AuditContract() {
        EXPECT_TRUE(this->orders()
                        .create_sale(testing::phone_drop(5), SaleState::scheduled, testing::t0)
                        .has_value());
        const std::vector batch{testing::placement(1, testing::entry(1))};
        EXPECT_TRUE(this->orders().place(0, batch, testing::t0).has_value());
        run = *this->audit().begin(SaleId("phone-drop"), testing::t0);
    }

    Stock stock() { return this->orders().reader().sales()->front().stock.front(); }
    Repair repair(std::string key, Mending mending) {
        return {
            .key = std::move(key), .acknowledges = false, .run = run, .words = "mend it", .mending = mending};
    }
    ShiftUnits shift(int64_t available, int64_t held) {
        return {.sale = SaleId("phone-drop"), .item = ItemId("phone"), .available = available, .held = held};
    }
    Repaired done(const Repair& what) { return this->audit().repair(what, testing::t0)->repaired; }

    uint64_t run = 0;
};

TYPED_TEST_SUITE_P(AuditContract);

TYPED_TEST_P(AuditContract, ARunIsHistoryOnceItIsRecorded) {
    using namespace testing;
    const SaleId sale("phone-drop");
    EXPECT_TRUE(this->reader().runs(sale, {}, 10)->empty());
    const ReconcileRun first{.number = this->run,
                             .sale = sale,
                             .at = t0,
                             .trigger = "timer",
                             .position = 1,
                             .agrees = false,
                             .differences = 1,
                             .known = 2,
                             .repaired = 0};
    const std::vector<RunDifference> differences{
        {"units", "units:phone-drop:phone", "off", "mend", "proposed"}};
    ASSERT_TRUE(this->audit().record(first, differences, "{}").has_value());
    const uint64_t second = *this->audit().begin(sale, t0 + 1s);
    EXPECT_GT(second, this->run);
    ASSERT_TRUE(
        this->audit().record({.number = second, .sale = sale, .agrees = true}, {}, "{\"a\":1}").has_value());

    const auto runs = this->reader().runs(sale, {}, 10);
    ASSERT_EQ(runs->size(), 2u);
    EXPECT_EQ(runs->front().number, second) << "the newest first";
    EXPECT_EQ(runs->back().trigger, "timer");
    EXPECT_EQ(runs->back().known, 2u);
    EXPECT_EQ(this->reader().runs(sale, second, 10)->size(), 1u);
    EXPECT_EQ(this->reader().runs(SaleId("other"), {}, 10)->size(), 0u);
    EXPECT_EQ(**this->reader().report(sale, second), "{\"a\":1}");
    EXPECT_FALSE(this->reader().report(SaleId("other"), second)->has_value());
    const auto kept = this->reader().differences(this->run);
    ASSERT_EQ(kept->size(), 1u);
    EXPECT_EQ(kept->front().detail, "off");
    EXPECT_EQ(this->audit().record({.number = 999, .sale = sale}, {}, "{}").error().code,
              StoreErrc::not_found);
}

TYPED_TEST_P(AuditContract, AKeyIsUsedOnce) {
    EXPECT_EQ(this->done(this->repair("one", this->shift(-1, 1))), Repaired::done);
    EXPECT_EQ(this->stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(this->done(this->repair("one", this->shift(-1, 1))), Repaired::done_before);
    EXPECT_EQ(this->stock(), (Stock{5, 3, 2, 0}));
}

TYPED_TEST_P(AuditContract, ADeltaCountedBeforeAnotherRepairIsNotApplied) {
    EXPECT_EQ(this->done(this->repair("one", this->shift(-1, 1))), Repaired::done);
    EXPECT_EQ(this->done(this->repair("two", this->shift(-1, 1))), Repaired::changed_meanwhile);
    ShiftUnits knowing = this->shift(1, -1);
    ASSERT_TRUE(this->orders()
                    .reader()
                    .each_stock_move([&](const StockMove& move) {
                        knowing.repair_seen = move.number;
                        EXPECT_EQ(move.position, 1u) << "the worker's by then";
                    })
                    .has_value());
    EXPECT_EQ(this->done(this->repair("two", knowing)), Repaired::done)
        << "the try that did nothing has not used the key up";
    EXPECT_EQ(this->stock(), (Stock{5, 4, 1, 0}));
}

TYPED_TEST_P(AuditContract, WhatCannotBeDoneLeavesNoTrace) {
    EXPECT_EQ(this->done(this->repair("one", this->shift(6, -6))), Repaired::changed_meanwhile);
    EXPECT_EQ(this->stock(), (Stock{5, 4, 1, 0}));
    EXPECT_EQ(this->done(this->repair("one", this->shift(1, -1))), Repaired::done);
}

TYPED_TEST_P(AuditContract, OnlyWhatAcknowledgesIsKnown) {
    EXPECT_EQ(this->done(this->repair("mended", this->shift(-1, 1))), Repaired::done);
    Repair seen = this->repair("seen", Acknowledge{});
    seen.acknowledges = true;
    EXPECT_EQ(this->done(seen), Repaired::done);
    EXPECT_EQ(*this->reader().acknowledged(), std::set<std::string>{"seen"});
}

TYPED_TEST_P(AuditContract, ARecordIsPlacedWithoutMovingThePosition) {
    using namespace testing;
    const PlaceRecord place{{.position = 1, .entry = entry(9, bob), .raw = {}}, OrderId{2001}};
    EXPECT_FALSE(this->audit().repair(this->repair("clash", place), t0).has_value())
        << "a position is one record's";
    const PlaceRecord free{{.position = 2, .entry = entry(9, bob), .raw = {}}, OrderId{2001}};
    const auto placed = this->audit().repair(this->repair("place", free), t0);
    ASSERT_TRUE(placed.has_value());
    EXPECT_EQ(placed->repaired, Repaired::done);
    EXPECT_TRUE(std::holds_alternative<TakeRecord>(*placed->tell));
    EXPECT_TRUE(placed->made_order);
    EXPECT_EQ(placed->changed, purchase(9));
    EXPECT_EQ(*this->orders().reader().position(), 1u);
    EXPECT_EQ((*this->orders().reader().find_order(OrderId{2001}))->buyer, bob);
    EXPECT_EQ(this->stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(this->done(this->repair("again", free)), Repaired::changed_meanwhile);
}

TYPED_TEST_P(AuditContract, AStepOfAnOrderNeedsTheVersionThatWasRead) {
    using namespace testing;
    const OrderRecord seen = **this->orders().reader().find_order(OrderId{1001});
    const OrderMove move = *cancel(seen);
    const auto moved = this->audit().repair(this->repair("one", move), t0);
    ASSERT_TRUE(moved.has_value());
    EXPECT_EQ(moved->repaired, Repaired::done);
    const auto* told = std::get_if<ReleasePurchase>(&*moved->tell);
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->purchase, purchase(1));
    ASSERT_TRUE(moved->step.has_value());
    EXPECT_EQ(moved->step->from, OrderState::pending_payment);
    EXPECT_EQ(moved->step->to, OrderState::cancelled);
    EXPECT_EQ(moved->changed, purchase(1));
    EXPECT_EQ(this->stock(), (Stock{5, 5, 0, 0}));
    EXPECT_EQ(this->done(this->repair("two", move)), Repaired::changed_meanwhile);
    EXPECT_EQ(this->stock(), (Stock{5, 5, 0, 0}));
}

TYPED_TEST_P(AuditContract, APaymentIsWrittenAgainOnlyWhereItIsNotThere) {
    using namespace testing;
    const OrderRecord order = **this->orders().reader().find_order(OrderId{1001});
    PaymentChange missing{.before = {}, .after = begin_payment(order, PaymentId{7}, t0)->payment->after};
    missing.after.state = PaymentState::open;
    EXPECT_EQ(this->done(this->repair("one", missing)), Repaired::done);
    const auto written = *this->orders().reader().find_payment(PaymentId{7});
    ASSERT_TRUE(written.has_value());
    EXPECT_EQ(written->state, PaymentState::open);
    EXPECT_EQ(written->look_at, t0);
    EXPECT_EQ(this->done(this->repair("two", missing)), Repaired::changed_meanwhile);
}

REGISTER_TYPED_TEST_SUITE_P(AuditContract, ARunIsHistoryOnceItIsRecorded, AKeyIsUsedOnce,
                            ADeltaCountedBeforeAnotherRepairIsNotApplied, WhatCannotBeDoneLeavesNoTrace,
                            OnlyWhatAcknowledgesIsKnown, ARecordIsPlacedWithoutMovingThePosition,
                            AStepOfAnOrderNeedsTheVersionThatWasRead,
                            APaymentIsWrittenAgainOnlyWhereItIsNotThere);

}  // namespace doorbuster
