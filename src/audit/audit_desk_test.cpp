#include "audit/audit_desk.hpp"

#include <gtest/gtest.h>

#include "audit/reconcile.hpp"
#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;

struct NoBooks final : BookControl {
    void control(ControlCommand, std::function<void()>) override {}
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)>) override {}
};

class AuditDeskTest : public ::testing::Test {
protected:
    AuditDeskTest() : orders_(std::move(*SqliteOrders::open(path("orders.db")))) {
        ledger_ = std::move(*SqliteLedger::open(path("ledger.db")));
        create(SaleState::open);
        desk_ = std::make_unique<AuditDesk>(
            AuditDesk::Readers{std::move(*SqliteLedgerReader::open(path("ledger.db"))),
                               std::move(*SqliteOrdersReader::open(path("orders.db"))),
                               std::move(*SqliteAuditReader::open(path("orders.db")))},
            300s,
            AuditDesk::Hooks{.settle =
                                 [this](Report& report, const Wish& wish) {
                                     return settle(
                                         report, wish,
                                         {orders_->audit(), books_, [](Instant) { return OrderId{9}; }}, t0);
                                 },
                             .reconciled = [this](const SaleId& sale) { reconciled_.push_back(sale); }});
    }

    std::string path(const std::string& name) const { return folder_.path(name); }
    void create(SaleState state) { ASSERT_TRUE(orders_->create_sale(phone_drop(5), state, t0).has_value()); }
    void close() {
        SaleRecord record = orders_->reader().sales()->front();
        record.state = SaleState::closed;
        ASSERT_TRUE(orders_->change_sale(record, false, t0).has_value());
    }
    void place() {
        const std::vector batch{placement(1, entry(1))};
        ASSERT_TRUE(orders_->place(0, batch, t0).has_value());
    }
    void end_order() {
        const OrderMove move = *expire(**orders_->reader().find_order(OrderId{1001}));
        ASSERT_EQ(orders_->move(std::span(&move, 1), t0)->front(), Moved::done);
    }
    // Runs since the last call, at so many seconds of uptime.
    uint64_t runs_at(int seconds) {
        const size_t before = runs();
        EXPECT_TRUE(desk_->tick(t0, std::chrono::seconds(seconds)).has_value());
        return runs() - before;
    }
    size_t runs() { return desk_->history().runs(SaleId("phone-drop"), {}, 100)->size(); }
    uint64_t differences() {
        const auto figures = desk_->figures();
        return figures.empty() ? 0 : figures.front().differences;
    }

    TemporaryFolder folder_;
    std::unique_ptr<SqliteOrders> orders_;
    std::unique_ptr<SqliteLedger> ledger_;
    NoBooks books_;
    std::vector<SaleId> reconciled_;
    std::unique_ptr<AuditDesk> desk_;
};

TEST_F(AuditDeskTest, ASaleThatSellsIsCountedByTheTimer) {
    EXPECT_EQ(runs_at(10), 0u);
    EXPECT_EQ(runs_at(309), 0u);
    EXPECT_EQ(runs_at(310), 1u);
    EXPECT_EQ(runs_at(311), 0u);
    EXPECT_EQ(runs_at(610), 1u);
    EXPECT_EQ(desk_->history().runs(SaleId("phone-drop"), {}, 10)->front().trigger, "timer");
    EXPECT_TRUE(reconciled_.empty());
}

TEST_F(AuditDeskTest, AClosedSaleIsReconciledOnceEveryOrderIsSettled) {
    const LedgerEntry accepted = entry(1);
    ASSERT_TRUE(ledger_->append(std::span(&accepted, 1)).has_value());
    EXPECT_EQ(runs_at(10), 0u);
    close();
    EXPECT_EQ(runs_at(20), 1u) << "at once after the close";
    EXPECT_TRUE(reconciled_.empty()) << "a purchase is in flight";
    place();
    EXPECT_EQ(runs_at(30), 0u) << "an order is open: nothing to hurry for";
    end_order();
    EXPECT_EQ(runs_at(40), 1u) << "settled: counted without waiting for the timer";
    EXPECT_EQ(reconciled_, std::vector{SaleId("phone-drop")});
    EXPECT_EQ(desk_->history().runs(SaleId("phone-drop"), {}, 10)->front().trigger, "close");
}

TEST_F(AuditDeskTest, ASaleWithADifferenceIsNotReconciled) {
    // A record that the worker passed over.
    const LedgerEntry accepted[] = {entry(1), entry(2, bob)};
    ASSERT_TRUE(ledger_->append(accepted).has_value());
    const std::vector batch{placement(2, entry(2, bob))};
    ASSERT_TRUE(orders_->place(0, batch, t0).has_value());
    const OrderMove move = *expire(**orders_->reader().find_order(OrderId{1002}));
    ASSERT_EQ(orders_->move(std::span(&move, 1), t0)->front(), Moved::done);
    close();
    EXPECT_EQ(runs_at(20), 1u);
    EXPECT_TRUE(reconciled_.empty());
    EXPECT_EQ(differences(), 1u);
    EXPECT_EQ(runs_at(100), 0u) << "it is looked at again, but not all the time";

    const auto repaired = desk_->reconcile(SaleId("phone-drop"), Trigger::word, {.repair = true}, t0);
    ASSERT_TRUE(repaired.has_value());
    EXPECT_TRUE(repaired->agrees());
    ASSERT_TRUE(repaired->after_repair.has_value());
    EXPECT_EQ(differences(), 0u);
}

TEST_F(AuditDeskTest, NoSaleWaitsForEverBehindOneThatIsDueAgain) {
    Sale other = phone_drop(5);
    other.id = SaleId("zebra-drop");
    ASSERT_TRUE(orders_->create_sale(other, SaleState::open, t0).has_value());
    EXPECT_EQ(runs_at(10), 0u);
    EXPECT_EQ(runs_at(310), 1u);
    EXPECT_EQ(runs_at(610), 0u) << "the first is due again, but the other waits since then";
    EXPECT_EQ(desk_->history().runs(other.id, {}, 10)->size(), 1u);
    EXPECT_EQ(runs_at(611), 1u);
}

TEST_F(AuditDeskTest, WhatNobodySellsIsNotCounted) {
    SaleRecord record = orders_->reader().sales()->front();
    record.state = SaleState::scheduled;
    ASSERT_TRUE(orders_->change_sale(record, false, t0).has_value());
    EXPECT_EQ(runs_at(10), 0u);
    EXPECT_EQ(runs_at(1000), 0u);
    EXPECT_EQ(desk_->replay(SaleId("nothing")).error().code, StoreErrc::not_found);
}

}  // namespace
}  // namespace doorbuster::audit
