#include "audit/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster::audit {
namespace {

using namespace doorbuster::testing;

// A sale as it happened: the real book decides, the real stores keep it.
class ReplayTest : public ::testing::TestWithParam<StockPolicy> {
protected:
    ReplayTest() {
        orders_ = std::move(*SqliteOrders::open(folder_.path("orders.db")));
        ledger_ = std::move(*SqliteLedger::open(folder_.path("ledger.db")));
        ledger_reader_ = std::move(*SqliteLedgerReader::open(folder_.path("ledger.db")));
        sale_ = phone_drop(2);
        sale_.stock_policy = GetParam();
        EXPECT_TRUE(orders_->create_sale(sale_, SaleState::open, t0).has_value());
        book_.emplace(Book::Terms{.units_per_buyer_max = 1,
                                  .opens_at = sale_.opens_at,
                                  .closes_at = sale_.closes_at,
                                  .policy = sale_.stock_policy},
                      Stock{.units_total = 2, .units_available = 2}, Phase::selling);
    }

    Instant now() { return t0 + milliseconds(++clock_); }

    bool buy(uint32_t id, const BuyerId& buyer, std::optional<PurchaseId> replaces = {}) {
        const auto answer = book_->reserve({purchase(id), buyer, 1, now(), replaces.has_value()});
        if (answer.outcome != ReserveOutcome::accepted) return false;
        const LedgerEntry accepted{SaleId("phone-drop"),
                                   ItemId("phone"),
                                   {purchase(id), buyer, 1, answer.sequence, answer.accepted_at},
                                   replaces};
        EXPECT_TRUE(ledger_->append(std::span(&accepted, 1)).has_value());
        return true;
    }
    void place() {
        const uint64_t position = *orders_->reader().position();
        std::vector<Placement> batch;
        for (const LedgerRecord& record : *ledger_reader_->read_after(position, 100))
            batch.push_back({record, OrderId{static_cast<int64_t>(1000 + record.position)}});
        const auto placed = orders_->place(position, batch, now());
        for (size_t i = 0; i < batch.size(); ++i) {
            if ((*placed)[i] == Placed::reinstated)
                (void)book_->sell(batch[i].record.entry->acceptance.purchase);
        }
    }
    OrderRecord order(int64_t id) { return **orders_->reader().find_order(OrderId{id}); }
    void move(const OrderMove& what) {
        ASSERT_EQ(orders_->move(std::span(&what, 1), now())->front(), Moved::done);
    }
    void end(int64_t id) {
        const PurchaseId holder = order(id).holder;
        move(*expire(order(id)));
        EXPECT_TRUE(book_->release(holder));
    }
    void pay(int64_t id, int64_t payment) {
        move(*begin_payment(order(id), PaymentId{payment}, t0));
        const PaymentRecord attempt = **orders_->reader().find_payment(PaymentId{payment});
        move(*rule_on(order(id), attempt,
                      {ProviderState::captured, attempt.amount_minor, attempt.currency, {}})
                  .move);
    }

    Records records() { return *read_records(*ledger_reader_, orders_->reader(), SaleId("phone-drop")); }
    static std::string text_of(const Replayed& replayed) {
        std::string text;
        for (const std::string& one : replayed.mismatches) text += one + "\n";
        return text;
    }

    TemporaryFolder folder_;
    std::unique_ptr<SqliteOrders> orders_;
    std::unique_ptr<SqliteLedger> ledger_;
    std::unique_ptr<SqliteLedgerReader> ledger_reader_;
    Sale sale_;
    std::optional<Book> book_;
    int clock_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Policies, ReplayTest,
                         ::testing::Values(StockPolicy::reserve, StockPolicy::at_order,
                                           StockPolicy::at_payment));

TEST_P(ReplayTest, TheSameComesOutOnceMore) {
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    pay(1001, 7);
    ASSERT_TRUE(book_->sell(purchase(1)));
    end(1002);
    ASSERT_TRUE(buy(3, carol));
    ASSERT_TRUE(orders_->restock(SaleId("phone-drop"), ItemId("phone"), 1, 1, now()).has_value());
    book_->restock(1);
    ASSERT_TRUE(buy(4, bob));
    place();
    ASSERT_TRUE(buy(5, BuyerId("dave")) || GetParam() != StockPolicy::at_payment) << "in flight";

    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
    EXPECT_EQ(replayed.digest_replayed, replayed.digest_stored);
    EXPECT_EQ(replayed.ledger_records, 4u);
    EXPECT_EQ(replayed.moves, 3u - (GetParam() == StockPolicy::at_order ? 1 : 0));
    EXPECT_EQ(replay(records()).digest_replayed, replayed.digest_replayed);
}

TEST_P(ReplayTest, AChangedOutcomeIsNoticed) {
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    Records changed = records();
    changed.purchases.front().hold = HoldState::finished;
    EXPECT_EQ(replay(changed).mismatches_total, 1u);
    changed = records();
    changed.sales.front().stock.front().units_available += 1;
    EXPECT_EQ(replay(changed).mismatches_total, 1u);
    changed = records();
    changed.holdings.pop_back();
    EXPECT_EQ(replay(changed).mismatches_total, 1u);
    changed = records();
    changed.ledger.back().entry->acceptance.sequence = 7;
    EXPECT_FALSE(replay(changed).agrees());
    changed = records();
    changed.ledger.back().entry->acceptance.accepted_at = t0 - 1h;
    EXPECT_FALSE(replay(changed).agrees()) << "time ran backwards, or the sale was not open";
}

TEST_P(ReplayTest, AnAcceptanceThatNoUnitExplainsIsNoticed) {
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    end(1002);
    ASSERT_TRUE(buy(3, carol));
    place();
    Records changed = records();
    for (StockMove& move : changed.stock_moves) move.position = 3;  // given back only afterwards
    EXPECT_EQ(replay(changed).agrees(), GetParam() == StockPolicy::at_payment)
        << "where an order takes no unit, there is nothing to wait for";
}

TEST_P(ReplayTest, AClockThatWasSetBackIsNotHeldAgainstTheLedger) {
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    clock_ += 3'600'000;
    end(1002);
    clock_ -= 3'600'000;
    ASSERT_TRUE(buy(3, carol)) << "accepted before bob's unit came back, if the clock were asked";
    place();
    end(1003);
    ASSERT_TRUE(buy(4, bob));
    place();
    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
    EXPECT_EQ(replayed.moves, 2u);
}

TEST_P(ReplayTest, AUnitThatACancellationGaveBackExplainsAnAcceptanceWhateverTheClockSays) {
    if (GetParam() == StockPolicy::at_payment) return;  // an order takes no unit there
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    clock_ += 3'600'000;
    // The worker cannot place bob's, and says so; the book's unit comes back to it.
    const uint64_t position = *orders_->reader().position();
    const auto accepted = *ledger_reader_->read_after(position, 100);
    const std::vector batch{Placement{accepted[0], OrderId{1001}}};
    ASSERT_TRUE(orders_->place(position, batch, now()).has_value());
    ASSERT_TRUE(orders_->bury(1, accepted[1], "it cannot be placed", now()).has_value());
    ASSERT_TRUE(book_->release(purchase(2)));
    clock_ -= 3'600'000;
    ASSERT_TRUE(buy(3, carol));
    place();
    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
}

TEST_P(ReplayTest, AMoveOfAPurchaseThatTheLedgerDoesNotKnowIsTold) {
    ASSERT_TRUE(buy(1, alice));
    place();
    end(1001);
    Records changed = records();
    changed.stock_moves.front().purchase = purchase(9);
    EXPECT_FALSE(replay(changed).agrees());
}

TEST_P(ReplayTest, ALatePaymentComesBackUnderItsFreshId) {
    if (GetParam() == StockPolicy::at_payment) return;  // the stock row decides there
    ASSERT_TRUE(buy(1, alice));
    place();
    move(*begin_payment(order(1001), PaymentId{7}, t0));
    move(*expire(order(1001)));
    const auto hear = [&](ProviderState state) {
        const PaymentRecord attempt = **orders_->reader().find_payment(PaymentId{7});
        const auto ruling =
            rule_on(order(1001), attempt, {state, attempt.amount_minor, attempt.currency, {}});
        move(*ruling.move);
    };
    hear(ProviderState::voided);
    ASSERT_TRUE(book_->release(purchase(1)));
    hear(ProviderState::captured);
    ASSERT_EQ(order(1001).state, OrderState::reinstating);
    ASSERT_TRUE(buy(9, alice, purchase(1)));
    place();
    ASSERT_EQ(order(1001).state, OrderState::paid);
    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
    EXPECT_EQ(replayed.ledger_records, 2u);
}

TEST_P(ReplayTest, ALatePaymentThatTheWorkerCannotPlaceGivesItsUnitBack) {
    if (GetParam() == StockPolicy::at_payment) return;  // the stock row decides there
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    move(*begin_payment(order(1001), PaymentId{7}, t0));
    move(*expire(order(1001)));
    const auto hear = [&](ProviderState state) {
        const PaymentRecord attempt = **orders_->reader().find_payment(PaymentId{7});
        move(*rule_on(order(1001), attempt, {state, attempt.amount_minor, attempt.currency, {}}).move);
    };
    hear(ProviderState::voided);
    ASSERT_TRUE(book_->release(purchase(1)));
    hear(ProviderState::captured);
    ASSERT_TRUE(buy(9, alice, purchase(1)));
    const LedgerRecord late = ledger_reader_->read_after(2, 1)->front();
    ASSERT_TRUE(orders_->bury(2, late, "it cannot be placed", now()).has_value());
    ASSERT_TRUE(book_->release(purchase(9)));
    ASSERT_TRUE(buy(3, carol)) << "with the unit that came back";
    place();
    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
}

TEST_P(ReplayTest, ACancellationAtTheWorkerGivesTheBooksUnitBack) {
    ASSERT_TRUE(buy(1, alice));
    place();
    // A second unit for alice that the book should never have given.
    const LedgerEntry wrong{SaleId("phone-drop"), ItemId("phone"), {purchase(2), alice, 1, 2, now()}, {}};
    ASSERT_TRUE(ledger_->append(std::span(&wrong, 1)).has_value());
    place();
    const Records read = records();
    ASSERT_EQ(read.cancellations.size(), 1u);
    const Replayed replayed = replay(read);
    ASSERT_EQ(replayed.mismatches_total, 3u) << text_of(replayed);
    EXPECT_NE(replayed.mismatches.front().find("limit_reached"), std::string::npos);
}

TEST_P(ReplayTest, APaymentThatTheBookHeardOfLaterIsNotHeldAgainstTheLedger) {
    if (GetParam() != StockPolicy::at_payment) return;
    ASSERT_TRUE(buy(1, alice));
    ASSERT_TRUE(buy(2, bob));
    place();
    pay(1001, 7);
    ASSERT_TRUE(book_->sell(purchase(1)));
    pay(1002, 8);                // the last unit: committed,
    ASSERT_TRUE(buy(3, carol));  // while the book has not heard of it
    ASSERT_TRUE(book_->sell(purchase(2)));
    place();
    const Replayed replayed = replay(records());
    EXPECT_TRUE(replayed.agrees()) << text_of(replayed);
}

}  // namespace
}  // namespace doorbuster::audit
