#include "audit/reconcile.hpp"

#include <fmt/format.h>
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

// Faults, as statements.
std::string pay_for_nothing(int payment, int order) {
    return fmt::format(
        "INSERT INTO payments(id, order_id, state, version, amount_minor, currency, captured_minor, "
        "captured_currency, url, created_at_ms, updated_at_ms, looks) SELECT {}, id, 'captured', 1, "
        "amount_minor, currency, amount_minor, currency, '', 0, 0, 0 FROM orders WHERE id = {}",
        payment, order);
}
std::string paid_by_nobody(int order) {
    return fmt::format(
        "UPDATE orders SET state = 'paid', hold = 'sold' WHERE id = {};"
        "UPDATE items SET units_held = units_held - 1, units_sold = units_sold + 1",
        order);
}
std::string pay_by_hand(int payment, int order) {
    return fmt::format("{};{};UPDATE orders SET payment = {} WHERE id = {};", pay_for_nothing(payment, order),
                       paid_by_nobody(order), payment, order);
}
std::string hold_again(int order) {
    return fmt::format(
        "UPDATE orders SET hold = 'held' WHERE id = {};"
        "UPDATE items SET units_held = units_held + 1, units_sold = units_sold - 1",
        order);
}

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

    Settling settling() {
        return {orders_->audit(), books_, [this](Instant) { return OrderId{next_order_++}; },
                [this](const RepairOutcome& one) { outcomes_.push_back(one); }};
    }
    Report count() {
        return *count_sale(*ledger_reader_, *reader_, *audit_reader_, SaleId("phone-drop"), Trigger::word,
                           t0 + 1min);
    }
    Report run(const Wish& wish) {
        Report report = count();
        EXPECT_TRUE(settle(report, wish, settling(), t0 + 1min).has_value());
        return report;
    }
    Report run(bool repair) { return run(Wish{.repair = repair}); }
    Report acknowledge(const std::string& key) { return run(Wish{.acknowledge = {key}}); }
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
    std::vector<RepairOutcome> outcomes_;
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
    ASSERT_TRUE(settle(*report, {.repair = true}, settling(), t0).has_value());
    EXPECT_EQ(stock(), (Stock{5, 2, 3, 0})) << "bob, carol and dave";
    EXPECT_TRUE(run(false).agrees());
}

TEST_F(ReconcileTest, OfTwoRunsThatCountedTheSameOneRepairs) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    Report first = count(), second = count();
    ASSERT_TRUE(settle(first, {.repair = true}, settling(), t0).has_value());
    ASSERT_TRUE(settle(second, {.repair = true}, settling(), t0).has_value());
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
    ASSERT_EQ(outcomes_.size(), 1u) << "whoever counts the orders hears of it";
    EXPECT_TRUE(outcomes_.front().made_order);
    EXPECT_EQ(outcomes_.front().changed, purchase(2));
}

TEST_F(ReconcileTest, AnUnpaidOrderThatNobodyAcceptedIsCancelledAndStaysAQuestion) {
    spoil("DELETE FROM ledger WHERE position = 3", "ledger.db");
    EXPECT_EQ(run(true).repaired(), 1u);
    EXPECT_EQ(order(1003).state, OrderState::cancelled);
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
    EXPECT_EQ(heard<ReleasePurchase>(), 1u);
    ASSERT_EQ(outcomes_.size(), 1u);
    EXPECT_EQ(outcomes_.front().step->from, OrderState::pending_payment);
    EXPECT_EQ(outcomes_.front().step->to, OrderState::cancelled);
    const Report left = run(true);
    EXPECT_THAT(kinds_in(left), ElementsAre("purchase_without_ledger")) << "where did it come from?";
    EXPECT_EQ(left.repaired(), 0u);
    acknowledge(left.findings.front().difference.key());
    EXPECT_TRUE(run(false).agrees());
}

TEST_F(ReconcileTest, APaidOrderIsNeverTakenAway) {
    pay(1003, 7);
    spoil("DELETE FROM ledger WHERE position = 3", "ledger.db");
    EXPECT_FALSE(run(true).agrees());
    EXPECT_EQ(order(1003).state, OrderState::paid);
    acknowledge(run(true).findings.front().difference.key());
    const Report known = run(false);
    ASSERT_EQ(known.findings.size(), 1u) << "it is known, and stays in sight";
    EXPECT_EQ(known.findings.front().state, FindingState::known);
    EXPECT_EQ(known.known_before(), 1u);
    EXPECT_EQ(order(1003).state, OrderState::paid);
}

TEST_F(ReconcileTest, AKeyThatNamesNoDifferenceIsRefusedAndNothingIsDone) {
    spoil("UPDATE items SET units_available = 1, units_held = 4");
    Report report = count();
    const auto settled =
        settle(report, {.repair = true, .acknowledge = {"order_twice:phone-drop"}}, settling(), t0);
    ASSERT_FALSE(settled.has_value());
    EXPECT_EQ(settled.error().code, StoreErrc::not_allowed);
    EXPECT_EQ(stock(), (Stock{5, 1, 4, 0}));
    EXPECT_TRUE(audit_reader_->runs(SaleId("phone-drop"), {}, 10)->empty());
}

TEST_F(ReconcileTest, WhatIsAcknowledgedIsHistory) {
    spoil("UPDATE ledger SET sequence = 9 WHERE position = 3", "ledger.db");
    const std::string key = run(false).findings.front().difference.key();
    const Report said = acknowledge(key);
    EXPECT_EQ(said.findings.front().state, FindingState::acknowledged);
    EXPECT_EQ(said.repaired(), 0u);
    EXPECT_EQ(audit_reader_->differences(said.run)->front().outcome, "acknowledged");
    EXPECT_EQ(*audit_reader_->acknowledged(), std::set{key});
    EXPECT_EQ(acknowledge(key).findings.front().state, FindingState::known) << "saying it again is safe";
}

TEST_F(ReconcileTest, RepairsGoInPiecesThatLetOthersIn) {
    std::vector<std::string> statements;
    for (int i = 0; i < 60; ++i) {
        statements.push_back(
            fmt::format("INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, "
                        "state, version, created_at_ms, pay_by_ms, updated_at_ms, hold) SELECT {}, purchase, "
                        "sale, item, 'buyer-{}', 1, amount_minor, currency, 'expired', 1, 0, 0, 0, 'open' "
                        "FROM orders WHERE id = 1001",
                        2000 + i, i));
    }
    spoil(fmt::format("{}", fmt::join(statements, ";")));
    Report report = count();
    const Wish wish{.repair = true};
    const Settling with = settling();
    Settlement settlement(report, wish, with);
    size_t steps = 0, done_before = 0;
    for (; !settlement.is_done(); ++steps) {
        settlement.prepare();
        ASSERT_TRUE(settlement.step(t0).has_value());
        EXPECT_LE(outcomes_.size() - done_before, Settlement::findings_per_step);
        done_before = outcomes_.size();
    }
    EXPECT_EQ(report.repaired(), 60u);
    EXPECT_GT(steps, report.findings.size() / Settlement::findings_per_step);
    EXPECT_GT(report.findings.size(), 2 * Settlement::findings_per_step);
}

TEST_F(ReconcileTest, APurchaseWhoseOrderIsLostIsCancelledExplicitly) {
    spoil("DELETE FROM orders WHERE id = 1002");
    EXPECT_THAT(repair(), ElementsAre("units", "purchase_without_order"));
    const auto purchase_row = *reader_->find_purchase(purchase(2));
    EXPECT_EQ(purchase_row->state, PurchaseState::cancelled);
    EXPECT_FALSE(purchase_row->reason.empty());
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
}

TEST_F(ReconcileTest, APaidOrderWhosePaymentIsLostIsAskedAboutAndStands) {
    pay(1002, 7);
    spoil("DELETE FROM payments");
    EXPECT_EQ(run(true).repaired(), 1u);
    EXPECT_EQ(order(1002).state, OrderState::paid);
    const PaymentRecord again = payment(7);
    EXPECT_EQ(again.order, OrderId{1002});
    EXPECT_EQ(again.look_at, t0 + 1min);
    const auto view = [&](ProviderState state) {
        return ProviderView{state, again.amount_minor, again.currency, {}};
    };
    const auto captured = rule_on(order(1002), again, view(ProviderState::captured));
    ASSERT_TRUE(captured.payment && !captured.move) << "the provider has the money: the order stands";
    EXPECT_EQ(captured.payment->after.state, PaymentState::captured);
    const auto given_back = rule_on(order(1002), again, view(ProviderState::refunded));
    ASSERT_TRUE(given_back.move) << "the provider gave it back: the order ends";
    EXPECT_EQ(given_back.move->after.state, OrderState::refunded);

    ASSERT_TRUE(orders_->change_payment(*captured.payment, {}, t0).has_value());
    EXPECT_TRUE(run(false).agrees());
}

TEST_F(ReconcileTest, OfTwoRunsThatMissedAPaymentOneWritesIt) {
    pay(1002, 7);
    spoil("DELETE FROM payments");
    Report first = count(), second = count();
    ASSERT_TRUE(settle(first, {.repair = true}, settling(), t0).has_value());
    ASSERT_TRUE(settle(second, {.repair = true}, settling(), t0).has_value());
    EXPECT_EQ(second.findings.front().state, FindingState::changed_meanwhile);
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

TEST_F(ReconcileTest, MoneyThatIsGivenBackKeepsNoUnitHeld) {
    spoil("UPDATE orders SET state = 'refunding' WHERE id = 1002");
    EXPECT_THAT(repair(), ElementsAre("unit_not_released"));
    spoil("UPDATE orders SET state = 'refunded' WHERE id = 1003");
    EXPECT_THAT(repair(), ElementsAre("unit_not_released"));
    EXPECT_EQ(stock(), (Stock{5, 4, 1, 0}));
    EXPECT_EQ(heard<ReleasePurchase>(), 2u);
}

TEST_F(ReconcileTest, APaidOrderHasItsUnitsSold) {
    pay(1002, 7);
    spoil(hold_again(1002));
    EXPECT_THAT(repair(), ElementsAre("hold_disagrees"));
    EXPECT_EQ(order(1002).hold, HoldState::sold);
    EXPECT_EQ(stock(), (Stock{5, 2, 2, 1}));
    EXPECT_EQ(heard<SellPurchase>(), 1u);
}

TEST_F(ReconcileTest, AnUnpaidOrderWhoseUnitsAreSoldIsPutRightByItsEnd) {
    spoil(
        "UPDATE orders SET hold = 'sold' WHERE id = 1002;"
        "UPDATE items SET units_held = units_held - 1, units_sold = units_sold + 1");
    const Report found = run(true);
    EXPECT_THAT(kinds_in(found), ElementsAre("hold_disagrees"));
    EXPECT_EQ(found.repaired(), 0u);
    EXPECT_FALSE(found.agrees());
    move(*cancel(order(1002)));
    EXPECT_TRUE(run(false).agrees());
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
}

TEST_F(ReconcileTest, AUnitGivenBackTwiceIsTakenBackOnce) {
    move(*cancel(order(1002)));
    spoil(
        "INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms) SELECT kind, sale, item, "
        "purchase, "
        "units, at_ms FROM stock_moves WHERE kind = 'released';"
        "UPDATE items SET units_available = 4, units_held = 1");
    EXPECT_THAT(kinds_in(run(true)), ElementsAre("units", "released_twice"));
    EXPECT_EQ(stock(), (Stock{5, 3, 2, 0}));
    const Report left = run(true);
    EXPECT_THAT(kinds_in(left), ElementsAre("released_twice")) << "mended, but why?";
    acknowledge(left.findings.front().difference.key());
    EXPECT_TRUE(run(false).agrees());
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

// A difference of each kind: injected, found with its ids, and brought to its end. A second, other
// fault of the same kind is found again afterwards, whatever was repaired or said about the first.
enum class End {
    mended,  // by a delta, and found no more
    word,    // left until the operator acknowledges it by its key
    never,   // no word makes it good: only what puts the records right
};
struct Injected {
    Kind kind{};
    End end{};
    std::string first, second;  // statements
    const char* file = "orders.db";
    std::string before{};  // puts the file into a shape that can be spoilt; no fault by itself
    std::string healed{};  // of `never`
};
void PrintTo(const Injected& one, std::ostream* into) {
    *into << name_of(one.kind);
}

std::string another_record(int position, int of) {
    return fmt::format(
        "INSERT INTO ledger SELECT {0}, sale, item, epoch, bucket, {0}, purchase, buyer, units, "
        "accepted_at_ms, replaces FROM ledger WHERE position = {1}; ",
        position, of);
}
std::string another_order(int id, int of) {
    return fmt::format(
        "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, version, "
        "created_at_ms, pay_by_ms, updated_at_ms, hold) SELECT {}, purchase, sale, item, buyer, units, "
        "amount_minor, currency, 'cancelled', 1, 0, 0, 0, 'finished' FROM orders WHERE id = {};",
        id, of);
}
std::string lose(int order, int position) {
    return fmt::format(
        "DELETE FROM orders WHERE id = {}; DELETE FROM purchases WHERE position = {};"
        "UPDATE items SET units_available = units_available + 1, units_held = units_held - 1",
        order, position);
}
std::string given_to(const char* buyer, int order) {
    return fmt::format(
        "UPDATE orders SET buyer = '{0}' WHERE id = {1}; UPDATE purchases SET buyer = '{0}' WHERE order_id = "
        "{1}",
        buyer, order);
}
std::string holdings_off_by(int units) {
    return fmt::format(
        "DROP VIEW buyer_holdings; CREATE VIEW buyer_holdings AS SELECT sale, item, buyer, "
        "sum(units_active) + {} * (buyer = 'bob') AS units FROM orders WHERE units_active > 0 "
        "GROUP BY sale, item, buyer",
        units);
}
std::string released(int position, int times) {
    std::string sql;
    for (int i = 0; i < times; ++i) {
        sql += fmt::format(
            "INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms) SELECT 'released', sale, "
            "item, "
            "id, units, 0 FROM purchases WHERE position = {};",
            position);
    }
    return sql;
}

std::vector<Injected> injected() {
    using enum Kind;
    using enum End;
    return {
        {units, mended, "UPDATE items SET units_available = 1, units_held = 4",
         "UPDATE items SET units_available = 4, units_held = 1"},
        {oversold, never, "UPDATE items SET units_total = 2, units_available = 0, units_held = 2",
         "UPDATE items SET units_total = 1, units_available = 0, units_held = 1", "orders.db", "",
         "UPDATE items SET units_total = 5, units_available = 2, units_held = 3"},
        {ledger_without_purchase, mended, lose(1002, 2), lose(1003, 3)},
        {ledger_twice, word, another_record(4, 3), another_record(5, 2), "ledger.db"},
        {purchase_without_ledger, word, "DELETE FROM ledger WHERE position = 3",
         "DELETE FROM ledger WHERE position = 2", "ledger.db"},
        {purchase_without_order, mended, "DELETE FROM orders WHERE id = 1002",
         "DELETE FROM orders WHERE id = 1003"},
        // The trigger that keeps them would keep these, too.
        {order_without_purchase, word,
         "DROP TRIGGER a_purchase_with_an_order_stays; DELETE FROM purchases WHERE position = 2",
         "DELETE FROM purchases WHERE position = 3"},
        {order_twice, word, another_order(1902, 1002), another_order(1903, 1003)},
        {order_disagrees, word, "UPDATE purchases SET units = 2 WHERE position = 2",
         "UPDATE purchases SET units = 3 WHERE position = 2"},
        {amount_disagrees, word, "UPDATE orders SET amount_minor = 1 WHERE id = 1002",
         "UPDATE orders SET amount_minor = 2 WHERE id = 1002"},
        {paid_without_capture, mended, paid_by_nobody(1002), paid_by_nobody(1003)},
        {capture_without_order, mended, pay_for_nothing(71, 1002), pay_for_nothing(72, 1003)},
        {holding_over_limit, mended, given_to("alice", 1002), given_to("alice", 1003)},
        {holding_disagrees, word, holdings_off_by(1), holdings_off_by(2)},
        {unit_not_released, mended, "UPDATE orders SET state = 'expired' WHERE id = 1002",
         "UPDATE orders SET state = 'refunded' WHERE id = 1003"},
        {released_twice, word, released(2, 2), released(2, 1)},
        {hold_disagrees, mended, hold_again(1002), hold_again(1003), "orders.db",
         pay_by_hand(71, 1002) + pay_by_hand(72, 1003)},
        {sequence_gap, word, "UPDATE ledger SET sequence = 9 WHERE position = 3",
         "UPDATE ledger SET sequence = 10 WHERE position = 3", "ledger.db"},
        {sequence_order, word,
         "UPDATE ledger SET sequence = 99 WHERE position = 2; UPDATE ledger SET sequence = 2 WHERE position "
         "= 3",
         "UPDATE ledger SET sequence = 98 WHERE position = 2", "ledger.db"},
    };
}

class EachKind : public ReconcileTest, public ::testing::WithParamInterface<Injected> {
protected:
    const Finding* found(const Report& report) const {
        for (const Finding& one : report.findings) {
            if (one.difference.kind == GetParam().kind && one.state != FindingState::known) return &one;
        }
        return nullptr;
    }
    // The others that the fault brings along, and what only somebody's word ends.
    void acknowledge_all() {
        Wish wish;
        for (const Finding& one : count().findings) {
            if (may_be_acknowledged(one.difference.kind)) wish.acknowledge.insert(one.difference.key());
        }
        run(wish);
    }
};

INSTANTIATE_TEST_SUITE_P(Kinds, EachKind, ::testing::ValuesIn(injected()),
                         [](const auto& one) { return std::string(name_of(one.param.kind)); });

TEST_P(EachKind, IsFoundBroughtToItsEndAndFoundAgain) {
    const Injected& fault = GetParam();
    if (!fault.before.empty()) spoil(fault.before, fault.file);
    ASSERT_TRUE(run(false).agrees());
    spoil(fault.first, fault.file);
    const Report looked = run(false);
    ASSERT_NE(found(looked), nullptr);
    EXPECT_FALSE(looked.agrees());
    const std::string key = found(looked)->difference.key();

    const Report repaired = run(true);
    EXPECT_TRUE(audit_reader_->acknowledged()->empty()) << "a repair acknowledges nothing";
    ASSERT_NE(found(repaired), nullptr) << "looking changes nothing";
    const Report after = run(true);
    switch (fault.end) {
        case End::mended:
            EXPECT_EQ(found(repaired)->state, FindingState::repaired) << found(repaired)->error;
            EXPECT_EQ(found(after), nullptr);
            EXPECT_TRUE(after.agrees());
            break;
        case End::word:
            ASSERT_NE(found(after), nullptr) << "nobody has looked at it";
            EXPECT_EQ(found(after)->state, FindingState::proposed);
            EXPECT_EQ(found(after)->difference.key(), key);
            acknowledge_all();
            EXPECT_TRUE(run(false).agrees());
            break;
        case End::never: {
            ASSERT_NE(found(after), nullptr);
            EXPECT_EQ(found(after)->state, FindingState::proposed);
            Report report = count();
            EXPECT_FALSE(settle(report, {.acknowledge = {key}}, settling(), t0).has_value());
            spoil(fault.healed, fault.file);
            EXPECT_TRUE(run(false).agrees());
            break;
        }
    }

    spoil(fault.second, fault.file);
    const Report again = run(true);
    ASSERT_NE(found(again), nullptr) << "another fault of the same kind";
    EXPECT_NE(found(again)->difference.key(), key);
    EXPECT_FALSE(again.agrees());
}

TEST(EachKind, IsInTheTable) {
    std::set<Kind> tested;
    for (const Injected& one : injected()) EXPECT_TRUE(tested.insert(one.kind).second);
    EXPECT_EQ(tested.size(), kinds);
}

}  // namespace
}  // namespace doorbuster::audit
