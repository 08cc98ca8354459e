#include "store_cluster/cluster_relay.hpp"

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store_cluster/cluster_load.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

const SaleId sale("phone-drop");
const ItemId item("phone");

// A sale of ten, at most one each, in a real Redis and a real PostgreSQL.
class RelayTest : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(orders->create_sale(sold(), SaleState::open, t0).has_value());
        rebuild();
    }
    virtual Sale sold() { return phone_drop(10, 1); }

    // Without the waits for those who sell: here nobody does.
    void rebuild() {
        const EpochLease before = lease();
        const auto closed = epochs.close(sale, item, before.items().front().epoch);
        ASSERT_TRUE(closed.has_value() && closed->has_value());
        const auto cut = epochs.cut(sale, item, **closed);
        ASSERT_TRUE(cut.has_value() && cut->has_value());
        (void)ask(redis, load_library_call());
        const auto pin = read_pin(*ask(redis, load_call(bucket, book_load_of(**cut, item))));
        ASSERT_TRUE(pin.has_value()) << pin.error().detail;
        ASSERT_TRUE(*epochs.open(sale, item, (*cut)->epoch, *pin));
        fence = {*pin, (*cut)->epoch};
    }
    EpochLease lease(milliseconds lasts = 60s) { return *epochs.lease("test", lasts); }

    // Taken in Redis and brought to PostgreSQL.
    void buy(uint32_t number, const BuyerId& buyer) {
        const std::vector<ReserveEntry> entries{{.purchase = purchase(number), .buyer = buyer}};
        const auto said = read_reserve(*ask(redis, reserve_call(bucket, fence, entries, t0)), 1);
        ASSERT_TRUE(said.has_value() && said->front() && said->front()->outcome == ReserveOutcome::accepted);
        const std::vector batch{placement(position + 1, entry(number, buyer))};
        const auto placed = orders->place(position++, batch, t0);
        ASSERT_TRUE(placed.has_value() && placed->front() == Placed::ordered);
    }
    // The order of the `nth` that was placed: its unit is on its way back.
    void cancel(uint64_t nth) {
        const auto order = orders->reader().find_order(placement(nth, entry(1)).order);
        ASSERT_TRUE(order.has_value() && order->has_value());
        const std::vector moves{*doorbuster::cancel(**order)};
        const auto moved = orders->move(moves, t0);
        ASSERT_TRUE(moved.has_value() && moved->front() == Moved::done);
    }
    Relay::Turn step(const EpochLease& under) {
        const auto turn = relay.step(under, redis, t0);
        EXPECT_TRUE(turn.has_value());
        return *turn;
    }
    int64_t waiting() {
        return connection.read_integer("SELECT count(*) FROM releases WHERE applied_at_ms IS NULL");
    }
    Stock in_redis() {
        const auto peek = read_peek(*ask(redis, peek_call(bucket)));
        EXPECT_TRUE(peek.has_value() && peek->book);
        return peek->book->figures.stock;
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    RedisServer server;
    RedisSession redis = server.connect();
    const BookBucket bucket{sale, item};
    Fence fence;
    Relay relay{connection};
    uint64_t position = 0;
};

TEST_F(RelayTest, AUnitThatPostgresTookBackIsSoldAgain) {
    buy(1, alice);
    buy(2, bob);
    cancel(1);
    EXPECT_EQ(in_redis(), (Stock{10, 8, 2, 0})) << "it is still on its way";
    const Relay::Turn turn = step(lease());
    EXPECT_EQ(turn.applied, 1u);
    EXPECT_EQ(turn.kept + turn.absorbed, 0u);
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(waiting(), 0);
    EXPECT_EQ(step(lease()).applied, 0u);
    buy(3, alice);  // she has her right back, too
}

TEST_F(RelayTest, AnAnswerThatWasLostIsAskedForAgainAndCountsOnce) {
    buy(1, alice);
    cancel(1);
    ASSERT_TRUE(orders->restock(sale, item, 5, orders->reader().sales()->front().version, t0).has_value());
    ASSERT_EQ(step(lease()).applied, 2u);
    EXPECT_EQ(in_redis(), (Stock{15, 15, 0, 0}));
    connection.run("UPDATE releases SET applied_at_ms = NULL");  // as if nobody had heard Redis' answer
    EXPECT_EQ(step(lease()).applied, 2u);
    EXPECT_EQ(in_redis(), (Stock{15, 15, 0, 0}));
    EXPECT_EQ(waiting(), 0);
}

TEST_F(RelayTest, WithoutALeaseOrUnderAnotherEpochNothingIsSent) {
    buy(1, alice);
    cancel(1);
    EXPECT_EQ(step(EpochLease()).kept, 1u);
    EXPECT_EQ(step(lease(0ms)).kept, 1u) << "it is over";
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0}));

    const EpochLease old = lease();
    rebuild();
    buy(2, bob);
    cancel(2);
    const Relay::Turn turn = step(old);
    EXPECT_EQ(turn.absorbed, 1u) << "the cut has counted the first";
    EXPECT_EQ(turn.kept, 1u) << "the second is of an epoch that the lease does not know";
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(step(lease()).applied, 1u);
    EXPECT_EQ(in_redis(), (Stock{10, 10, 0, 0}));
}

TEST_F(RelayTest, ARedisThatLostEverythingKeepsItsRowsUntilTheCutHasCountedThem) {
    buy(1, alice);
    buy(2, bob);
    cancel(1);
    (void)ask(redis, {"FLUSHALL"});
    EXPECT_EQ(step(lease()).kept, 1u) << "fenced: it is not the book that was pinned";
    EXPECT_EQ(waiting(), 1);

    rebuild();
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0}));
    EXPECT_EQ(step(lease()).absorbed, 1u);
    EXPECT_EQ(waiting(), 0);
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0})) << "not given back a second time";

    // What was finished before the loss is known after it: the same key takes no second unit.
    const std::vector<ReserveEntry> again{{.purchase = purchase(1), .buyer = alice}};
    const auto said = read_reserve(*ask(redis, reserve_call(bucket, fence, again, t0)), 1);
    ASSERT_TRUE(said.has_value() && said->front());
    EXPECT_EQ(said->front()->outcome, ReserveOutcome::repeated);
    EXPECT_EQ(said->front()->take.state, HoldState::finished);
    EXPECT_FALSE(said->front()->is_pending);
}

TEST_F(RelayTest, AReconciledSaleStandsInNobodysWay) {
    buy(1, alice);
    cancel(1);
    connection.run("UPDATE sales SET state = 'reconciled'");
    const Relay::Turn turn = step(lease());
    EXPECT_EQ(turn.applied + turn.absorbed + turn.kept, 0u);
}

TEST_F(RelayTest, ARedisThatDoesNotAnswerKeepsItsRows) {
    buy(1, alice);
    cancel(1);
    const EpochLease held = lease();
    server.stop();
    EXPECT_EQ(step(held).kept, 1u);
    EXPECT_EQ(waiting(), 1);
}

// Two orders at a time, and the unit goes when one is paid.
class SlotsRelayTest : public RelayTest {
protected:
    Sale sold() override {
        Sale made = phone_drop(10, 1);
        made.stock_policy = StockPolicy::at_payment;
        made.items.front().orders_max = 2;
        return made;
    }
    OrderRecord order(uint64_t nth) {
        return orders->reader().find_order(placement(nth, entry(1)).order)->value();
    }
    void move(const std::optional<OrderMove>& one) {
        ASSERT_TRUE(one.has_value());
        const auto moved = orders->move(std::vector{*one}, t0);
        ASSERT_TRUE(moved.has_value() && moved->front() == Moved::done);
    }
    void hear(uint64_t nth, ProviderState state) {
        const OrderRecord now = order(nth);
        const PaymentRecord paying = orders->reader().find_payment(*now.payment)->value();
        move(rule_on(now, paying, {state, paying.amount_minor, paying.currency, {}}).move);
    }
    uint32_t slots() { return read_peek(*ask(redis, peek_call(bucket)))->book->figures.slots_used; }
};

TEST_F(SlotsRelayTest, APaymentGivesTheSlotOfItsOrderBack) {
    buy(1, alice);
    buy(2, bob);
    ASSERT_EQ(slots(), 2u);
    move(begin_payment(order(1), PaymentId{7}, t0));
    hear(1, ProviderState::captured);
    EXPECT_EQ(step(lease(0ms)).kept, 1u) << "a relay that dies leaves the row";
    EXPECT_EQ(step(lease()).applied, 1u);
    EXPECT_EQ(slots(), 1u);
    EXPECT_EQ(in_redis(), (Stock{10, 9, 0, 1}));
    connection.run("UPDATE releases SET applied_at_ms = NULL");  // as if nobody had heard Redis' answer
    EXPECT_EQ(step(lease()).applied, 1u);
    EXPECT_EQ(slots(), 1u) << "once";
    buy(3, carol);
    EXPECT_EQ(slots(), 2u);
}

TEST_F(SlotsRelayTest, ALatePaymentThatFoundAUnitKeepsNoSlot) {
    buy(1, alice);
    move(begin_payment(order(1), PaymentId{7}, t0));
    move(expire(order(1)));
    hear(1, ProviderState::voided);
    EXPECT_EQ(step(lease()).applied, 1u);
    ASSERT_EQ(slots(), 0u);
    hear(1, ProviderState::captured);
    ASSERT_EQ(order(1).state, OrderState::reinstating);

    const std::vector<ReserveEntry> entries{
        {.purchase = purchase(11), .buyer = alice, .replaces = purchase(1)}};
    const auto said = read_reserve(*ask(redis, reserve_call(bucket, fence, entries, t0)), 1);
    ASSERT_TRUE(said.has_value() && said->front()->outcome == ReserveOutcome::accepted);
    ASSERT_EQ(slots(), 1u);
    LedgerEntry again = entry(11, alice);
    again.replaces = purchase(1);
    const auto placed = orders->place(position, std::vector{placement(position + 1, again)}, t0);
    ASSERT_TRUE(placed.has_value() && placed->front() == Placed::reinstated);
    EXPECT_EQ(step(lease()).applied, 1u);
    EXPECT_EQ(slots(), 0u);
    EXPECT_EQ(in_redis(), (Stock{10, 9, 0, 1}));
}

TEST_F(RelayTest, WhereTheOrderTookTheUnitItsPaymentIsNoRelease) {
    buy(1, alice);
    const OrderRecord order = orders->reader().find_order(placement(1, entry(1)).order)->value();
    ASSERT_TRUE(orders->move(std::vector{*begin_payment(order, PaymentId{7}, t0)}, t0).has_value());
    const OrderRecord paying = orders->reader().find_order(order.id)->value();
    const PaymentRecord payment = orders->reader().find_payment(PaymentId{7})->value();
    const auto ruled =
        rule_on(paying, payment, {ProviderState::captured, payment.amount_minor, payment.currency, {}});
    ASSERT_EQ(orders->move(std::vector{*ruled.move}, t0)->front(), Moved::done);
    EXPECT_EQ(waiting(), 0);
}

}  // namespace
}  // namespace doorbuster
