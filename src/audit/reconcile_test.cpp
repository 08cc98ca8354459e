#include "audit/reconcile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;
using ::testing::ElementsAre;

struct HeardCommands final : BookControl {
    void control(ControlCommand command, std::function<void()>) override { heard.push_back(command); }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)>) override {}
    std::vector<ControlCommand> heard;
};

// Real stores, which are spoilt with plain SQL: a difference of each kind is found with its ids,
// repaired, and not found again; repairing once more changes nothing.
class ReconcileTest : public ::testing::Test {
protected:
    ReconcileTest() {
        orders_ = std::move(*SqliteOrders::open(path("orders.db")));
        ledger_ = std::move(*SqliteLedger::open(path("ledger.db")));
        ledger_reader_ = std::move(*SqliteLedgerReader::open(path("ledger.db")));
        reader_ = std::move(*SqliteOrdersReader::open(path("orders.db")));
        audit_reader_ = std::move(*SqliteAuditReader::open(path("orders.db")));
        EXPECT_TRUE(orders_->create_sale(phone_drop(5), SaleState::open, t0).has_value());
        accept(entry(1, alice));
        accept(entry(2, bob));
        accept(entry(3, carol));
        place_all();
    }

    std::string path(const std::string& name) const { return folder_.path(name); }

    void accept(const LedgerEntry& what) { ASSERT_TRUE(ledger_->append(std::span(&what, 1)).has_value()); }
    void place_all() {
        const uint64_t position = *reader_->position();
        std::vector<Placement> batch;
        for (const LedgerRecord& record : *ledger_reader_->read_after(position, 100))
            batch.push_back({record, OrderId{static_cast<int64_t>(1000 + record.position)}});
        ASSERT_TRUE(orders_->place(position, batch, t0).has_value());
    }
    void pay(int64_t order_id, int64_t payment_id) {
        move(*begin_payment(order(order_id), PaymentId{payment_id}, t0));
        const PaymentRecord attempt = payment(payment_id);
        move(*rule_on(order(order_id), attempt,
                      {ProviderState::captured, attempt.amount_minor, attempt.currency, {}})
                  .move);
    }
    void move(const OrderMove& what) {
        ASSERT_EQ(orders_->move(std::span(&what, 1), t0)->front(), Moved::done);
    }
    OrderRecord order(int64_t id) { return **reader_->find_order(OrderId{id}); }
    PaymentRecord payment(int64_t id) { return **reader_->find_payment(PaymentId{id}); }
    Stock stock() { return reader_->sales()->front().stock.front(); }

    // Behind everybody's back, constraints off.
    void spoil(const std::string& sql, const std::string& file = "orders.db") {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(path(file).c_str(), &database), SQLITE_OK);
        char* error = nullptr;
        sqlite3_exec(database, ("PRAGMA ignore_check_constraints = ON;" + sql).c_str(), nullptr, nullptr,
                     &error);
        EXPECT_EQ(error, nullptr) << error;
        sqlite3_close(database);
    }

    Report run(bool repairs) {
        auto report = count_sale(*ledger_reader_, *reader_, *audit_reader_, SaleId("phone-drop"),
                                 Trigger::word, t0 + 1min);
        EXPECT_TRUE(report.has_value());
        const Settling settling{orders_->audit(), books_, [this](Instant) { return OrderId{next_order_++}; }};
        EXPECT_TRUE(settle(*report, repairs, settling, t0 + 1min).has_value());
        return *report;
    }
    static std::vector<std::string> kinds_in(const Report& report) {
        std::vector<std::string> kinds;
        for (const Finding& one : report.findings) {
            if (one.state != FindingState::known) kinds.emplace_back(name_of(one.difference.kind));
        }
        return kinds;
    }
    // Found, named, mended, and clean; then nothing more to do.
    std::vector<std::string> repair() {
        const Report found = run(false);
        EXPECT_FALSE(found.agrees());
        const Report mended = run(true);
        EXPECT_EQ(kinds_in(mended), kinds_in(found)) << "looking changes nothing";
        for (const Finding& one : mended.findings) {
            EXPECT_TRUE(one.state == FindingState::repaired || one.state == FindingState::known)
                << one.difference.key() << ": " << name_of(one.state) << " " << one.error;
        }
        const Stock before = stock();
        const Report after = run(true);
        EXPECT_THAT(kinds_in(after), ElementsAre());
        EXPECT_TRUE(after.agrees());
        EXPECT_EQ(stock(), before);
        return kinds_in(found);
    }
    template <class Command>
    size_t heard() const {
        size_t count = 0;
        for (const ControlCommand& one : books_.heard) count += std::holds_alternative<Command>(one);
        return count;
    }

    TemporaryFolder folder_;
    std::unique_ptr<SqliteOrders> orders_;
    std::unique_ptr<SqliteLedger> ledger_;
    std::unique_ptr<SqliteLedgerReader> ledger_reader_;
    std::unique_ptr<SqliteOrdersReader> reader_;
    std::unique_ptr<SqliteAuditReader> audit_reader_;
    HeardCommands books_;
    int64_t next_order_ = 5000;
};

TEST_F(ReconcileTest, ASoundSaleAgreesAlsoWithPurchasesInFlight) {
    accept(entry(4, BuyerId("dave")));
    const Report report = run(true);
    EXPECT_TRUE(report.agrees());
    EXPECT_EQ(report.in_flight, 1u);
    EXPECT_EQ(report.findings.size(), 0u);
    EXPECT_TRUE(books_.heard.empty());
}

TEST_F(ReconcileTest, TheCutIsOneMomentWhateverIsWrittenMeanwhile) {
    const auto read = reader_->at_one_moment([&]() -> StoreResult<void> {
        EXPECT_EQ(*reader_->position(), 3u);
        accept(entry(4, BuyerId("dave")));
        const std::vector batch{placement(4, entry(4, BuyerId("dave")))};
        EXPECT_TRUE(orders_->place(3, batch, t0).has_value()) << "nobody waits for the reader";
        EXPECT_EQ(*reader_->position(), 3u);
        EXPECT_EQ(stock(), (Stock{5, 2, 3, 0}));
        return {};
    });
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*reader_->position(), 4u);
}

TEST_F(ReconcileTest, AnUnknownSaleIsNotFound) {
    const auto report =
        count_sale(*ledger_reader_, *reader_, *audit_reader_, SaleId("other"), Trigger::word, t0);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, StoreErrc::not_found);
}

TEST_F(ReconcileTest, TheStockRowFollowsTheOrdersByADelta) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    EXPECT_THAT(repair(), ElementsAre("units"));
    EXPECT_EQ(stock(), (Stock{5, 2, 3, 0}));
    EXPECT_EQ(heard<RecountBook>(), 1u);
}

TEST_F(ReconcileTest, ADeltaStaysRightWhenTheSaleGoesOnMeanwhile) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    auto report =
        count_sale(*ledger_reader_, *reader_, *audit_reader_, SaleId("phone-drop"), Trigger::word, t0);
    accept(entry(4, BuyerId("dave")));
    place_all();
    move(*cancel(order(1001)));
    const Settling settling{orders_->audit(), books_, [](Instant) { return OrderId{}; }};
    ASSERT_TRUE(settle(*report, true, settling, t0).has_value());
    EXPECT_EQ(stock(), (Stock{5, 2, 3, 0})) << "bob, carol and dave";
    EXPECT_TRUE(run(false).agrees());
}

TEST_F(ReconcileTest, OfTwoRunsThatCountedTheSameOneRepairs) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    const auto counted = [&] {
        return *count_sale(*ledger_reader_, *reader_, *audit_reader_, SaleId("phone-drop"), Trigger::word,
                           t0);
    };
    Report first = counted(), second = counted();
    const Settling settling{orders_->audit(), books_, [](Instant) { return OrderId{}; }};
    ASSERT_TRUE(settle(first, true, settling, t0).has_value());
    ASSERT_TRUE(settle(second, true, settling, t0).has_value());
    EXPECT_EQ(second.findings.front().state, FindingState::changed_meanwhile);
    EXPECT_EQ(stock(), (Stock{5, 2, 3, 0}));
}

TEST_F(ReconcileTest, ALostPurchaseIsPlacedAfterAll) {
    spoil(
        "DELETE FROM orders WHERE id = 1002; DELETE FROM purchases WHERE position = 2;"
        "UPDATE items SET units_available = 3, units_held = 2");
    EXPECT_THAT(repair(), ElementsAre("ledger_without_purchase"));
    EXPECT_EQ(stock(), (Stock{5, 2, 3, 0}));
    EXPECT_EQ(order(5000).buyer, bob);
    EXPECT_EQ(*reader_->position(), 3u);
    EXPECT_EQ(heard<TakeRecord>(), 1u);
}

TEST_F(ReconcileTest, AnUnpaidOrderThatNobodyAcceptedIsCancelled) {
    spoil("DELETE FROM ledger WHERE position = 3", "ledger.db");
    EXPECT_THAT(repair(), ElementsAre("purchase_without_ledger"));
    EXPECT_EQ(order(1003).state, OrderState::cancelled);
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(heard<ReleasePurchase>(), 1u);
}

TEST_F(ReconcileTest, APaidOrderIsNeverTakenAway) {
    pay(1003, 7);
    spoil("DELETE FROM ledger WHERE position = 3", "ledger.db");
    EXPECT_THAT(repair(), ElementsAre("purchase_without_ledger"));
    EXPECT_EQ(order(1003).state, OrderState::paid);
    const Report known = run(false);
    ASSERT_EQ(known.findings.size(), 1u) << "it is known, and stays in sight";
    EXPECT_EQ(known.findings.front().state, FindingState::known);
    EXPECT_EQ(known.known_before(), 1u);
}

TEST_F(ReconcileTest, AGapInTheLedgerIsAcknowledged) {
    spoil("UPDATE ledger SET sequence = 9 WHERE position = 3", "ledger.db");
    EXPECT_THAT(repair(), ElementsAre("sequence_gap"));
}

TEST_F(ReconcileTest, APurchaseWhoseOrderIsLostIsCancelledExplicitly) {
    spoil("DELETE FROM orders WHERE id = 1002");
    EXPECT_THAT(repair(), ElementsAre("units", "purchase_without_order"));
    const auto purchase_row = *reader_->find_purchase(purchase(2));
    EXPECT_EQ(purchase_row->state, PurchaseState::cancelled);
    EXPECT_FALSE(purchase_row->reason.empty());
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
}

TEST_F(ReconcileTest, APaidOrderWithoutAnyPaymentEndsAndGivesItsUnitBack) {
    spoil(
        "UPDATE orders SET state = 'paid', hold = 'sold' WHERE id = 1002;"
        "UPDATE items SET units_held = 2, units_sold = 1");
    EXPECT_THAT(repair(), ElementsAre("paid_without_capture"));
    EXPECT_EQ(order(1002).state, OrderState::refunded);
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(heard<ReleasePurchase>(), 1u);
}

TEST_F(ReconcileTest, APaidOrderWithAnOpenAttemptIsAskedAboutAgain) {
    pay(1002, 7);
    spoil("UPDATE payments SET state = 'open', captured_minor = 0, look_at_ms = NULL WHERE id = 7");
    const Report report = run(true);
    EXPECT_THAT(kinds_in(report), ElementsAre("paid_without_capture"));
    EXPECT_EQ(payment(7).look_at, t0 + 1min);
    EXPECT_EQ(order(1002).state, OrderState::paid);
}

TEST_F(ReconcileTest, MoneyForNothingIsRefunded) {
    pay(1002, 7);
    spoil(
        "UPDATE orders SET state = 'expired', hold = 'finished' WHERE id = 1002;"
        "UPDATE items SET units_available = 3, units_sold = 0");
    EXPECT_THAT(repair(), ElementsAre("capture_without_order"));
    EXPECT_EQ(payment(7).state, PaymentState::refunding);
    EXPECT_EQ(payment(7).look_at, t0 + 1min);
}

TEST_F(ReconcileTest, BeyondTheLimitTheNewestUnpaidOrderGoes) {
    pay(1002, 7);
    spoil(
        "UPDATE orders SET buyer = 'bob' WHERE id = 1003; UPDATE purchases SET buyer = 'bob' WHERE position "
        "= 3");
    EXPECT_THAT(repair(), ElementsAre("holding_over_limit"));
    EXPECT_EQ(order(1003).state, OrderState::cancelled);
    EXPECT_EQ(order(1002).state, OrderState::paid);
    EXPECT_EQ(stock(), (Stock{5, 3, 1, 1}));
}

TEST_F(ReconcileTest, AnEndedOrderGivesItsUnitBack) {
    spoil("UPDATE orders SET state = 'expired' WHERE id = 1002");
    EXPECT_THAT(repair(), ElementsAre("unit_not_released"));
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(heard<ReleasePurchase>(), 1u);
}

TEST_F(ReconcileTest, AUnitGivenBackTwiceIsTakenBackOnce) {
    move(*cancel(order(1002)));
    spoil(
        "INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms) SELECT kind, sale, item, "
        "purchase, "
        "units, at_ms FROM stock_moves WHERE kind = 'released';"
        "UPDATE items SET units_available = 4, units_held = 1");
    EXPECT_THAT(repair(), ElementsAre("units", "released_twice"));
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
}

TEST_F(ReconcileTest, EveryRunAndEveryDifferenceIsHistory) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    run(false);
    run(true);
    run(false);
    const auto runs = audit_reader_->runs(SaleId("phone-drop"), {}, 10);
    ASSERT_EQ(runs->size(), 3u);
    EXPECT_TRUE((*runs)[0].agrees);
    EXPECT_EQ((*runs)[1].repaired, 1u);
    EXPECT_EQ((*runs)[2].differences, 1u);
    const auto differences = audit_reader_->differences((*runs)[1].number);
    ASSERT_EQ(differences->size(), 1u);
    EXPECT_EQ(differences->front().kind, "units");
    EXPECT_EQ(differences->front().outcome, "repaired");
    EXPECT_EQ(differences->front().repair, "add +1 available, -1 held, +0 sold to the stock row");
}

}  // namespace
}  // namespace doorbuster::audit
