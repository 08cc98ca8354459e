// Several writers over one database: what one decides rests on what the others have done.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "store/contract_testing.hpp"
#include "store_cluster/postgres_partition_lease.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

BuyerId buyer(uint32_t number) {
    return BuyerId("buyer-" + std::to_string(number));
}

// Ids of its own for each writer.
Placement placement_of(uint64_t partition, uint64_t position, uint32_t number, const BuyerId& who) {
    return {{.position = position, .entry = entry(number, who), .raw = {}},
            OrderId{static_cast<int64_t>(partition * 1'000'000 + position)}};
}

class PostgresWriters : public ::testing::Test {
protected:
    std::unique_ptr<PostgresOrders> worker(uint64_t partition) {
        const auto lease = PartitionLease::take(connection, partition, {.owner = "test"});
        EXPECT_TRUE(lease.has_value() && lease->has_value());
        return database.open((*lease)->place());
    }
    Stock stock() { return orders->reader().sales()->front().stock.front(); }
    int64_t count(std::string_view sql) { return connection.read_integer(sql); }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
};

TEST_F(PostgresWriters, TogetherTheySellWhatIsThereAndTellTheRest) {
    constexpr uint32_t units = 100, batches = 8, per_batch = 5, workers = 4;
    ASSERT_TRUE(orders->create_sale(phone_drop(units), SaleState::scheduled, t0).has_value());
    std::atomic<uint32_t> ordered = 0, cancelled = 0;
    std::vector<std::thread> threads;
    for (uint32_t w = 1; w <= workers; ++w) {
        threads.emplace_back([&, w, own = worker(w)] {
            uint64_t position = 0;
            for (uint32_t b = 0; b < batches; ++b) {
                const uint64_t before = position;
                std::vector<Placement> batch;
                for (uint32_t i = 0; i < per_batch; ++i) {
                    ++position;
                    const auto number = static_cast<uint32_t>(w * 1000 + position);
                    batch.push_back(placement_of(w, position, number, buyer(number)));
                }
                const auto placed = own->place(before, batch, t0);
                ASSERT_TRUE(placed.has_value()) << placed.error().text();
                for (const Placed one : *placed) (one == Placed::ordered ? ordered : cancelled)++;
            }
        });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(ordered, units);
    EXPECT_EQ(cancelled, workers * batches * per_batch - units);
    EXPECT_EQ(stock(), (Stock{units, 0, units, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM orders"), units);
    EXPECT_EQ(count("SELECT count(*) FROM purchases WHERE state = 'cancelled'"), cancelled);
    EXPECT_EQ(count("SELECT count(*) FROM releases"), cancelled) << "what had no unit goes back to Redis";
    EXPECT_EQ(count("SELECT count(*) FROM events"), workers * batches * per_batch);
}

TEST_F(PostgresWriters, ABuyersLimitHoldsAcrossThem) {
    constexpr uint32_t buyers = 25;
    ASSERT_TRUE(orders->create_sale(phone_drop(1000, 1), SaleState::scheduled, t0).has_value());
    std::vector<std::thread> threads;
    for (uint32_t w = 1; w <= 2; ++w) {
        threads.emplace_back([&, w, own = worker(w)] {
            for (uint32_t i = 1; i <= buyers; ++i) {
                const std::vector batch{placement_of(w, i, w * 1000 + i, buyer(i))};
                ASSERT_TRUE(own->place(i - 1, batch, t0).has_value());
            }
        });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(count("SELECT count(*) FROM orders"), buyers);
    EXPECT_EQ(count("SELECT coalesce(max(units), 0) FROM buyer_holdings"), 1);
    EXPECT_EQ(stock(), (Stock{1000, 1000 - buyers, buyers, 0}));
}

TEST_F(PostgresWriters, ThePurchaseThatTwoBringIsPlacedOnce) {
    ASSERT_TRUE(orders->create_sale(phone_drop(1000, 5), SaleState::scheduled, t0).has_value());
    std::atomic<uint32_t> ordered = 0, known = 0;
    std::vector<std::thread> threads;
    for (uint32_t w = 1; w <= 2; ++w) {
        threads.emplace_back([&, w, own = worker(w)] {
            for (uint32_t i = 1; i <= 30; ++i) {
                const std::vector batch{placement_of(w, i, i, buyer(i))};
                const auto placed = own->place(i - 1, batch, t0);
                ASSERT_TRUE(placed.has_value()) << placed.error().text();
                (placed->front() == Placed::ordered ? ordered : known)++;
            }
        });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(ordered, 30u);
    EXPECT_EQ(known, 30u);
    EXPECT_EQ(stock(), (Stock{1000, 970, 30, 0}));
}

// Two at the same moment, held so by the row that both need.
TEST_F(PostgresWriters, WhatWasDecidedOnAnOldStockRowIsDecidedAgain) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10, 1), SaleState::scheduled, t0).has_value());
    pg::Connection other(database.options());
    pg::Transaction faster(other);  // alice's only unit, through another worker
    other.queue("UPDATE items SET units_available = 9, units_held = 1, version = version + 1");
    other.run(
        "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, version, "
        "created_at_ms, pay_by_ms, updated_at_ms, hold) VALUES(7, gen_random_uuid(), 'phone-drop', 'phone', "
        "'alice', 1, 1, 'TWD', 'pending_payment', 1, 1, 1, 1, 'held')");
    StoreResult<std::vector<Placed>> placed;
    std::thread slower([&] { placed = orders->place(0, std::vector{placement(1, entry(1, alice))}, t0); });
    EXPECT_NE(await_blocked(connection), 0) << "it has read, and waits to write";
    faster.commit();
    slower.join();
    ASSERT_TRUE(placed.has_value()) << placed.error().text();
    EXPECT_EQ(placed->front(), Placed::cancelled) << "by then alice had hers";
    EXPECT_EQ(count("SELECT count(*) FROM orders"), 1);
    EXPECT_EQ(stock(), (Stock{10, 9, 1, 0}));
}

TEST_F(PostgresWriters, APurchaseThatAnotherWritesMeanwhileIsKnown) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10, 1), SaleState::scheduled, t0).has_value());
    pg::Connection other(database.options());
    pg::Transaction faster(other);
    other.run(
        "INSERT INTO purchases(id, sale, item, buyer, units, sequence, accepted_at_ms, partition, position, "
        "state, order_id) VALUES($1, 'phone-drop', 'phone', 'alice', 1, 1, 1, 9, 1, 'ordered', 7)",
        pg::Params().add(purchase(1)));
    StoreResult<std::vector<Placed>> placed;
    std::thread slower([&] { placed = orders->place(0, std::vector{placement(1, entry(1, alice))}, t0); });
    EXPECT_NE(await_blocked(connection), 0);
    faster.commit();
    slower.join();
    ASSERT_TRUE(placed.has_value()) << placed.error().text();
    EXPECT_EQ(placed->front(), Placed::known_before);
    EXPECT_EQ(stock(), (Stock{10, 10, 0, 0}));
}

TEST_F(PostgresWriters, ReleasesAndOrdersOfOneItemLoseNothing) {
    constexpr uint32_t rounds = 25;
    ASSERT_TRUE(orders->create_sale(phone_drop(100), SaleState::scheduled, t0).has_value());
    for (uint32_t i = 1; i <= rounds; ++i) {
        ASSERT_TRUE(orders->place(i - 1, std::vector{placement(i, entry(i, buyer(i)))}, t0).has_value());
    }
    std::atomic<uint32_t> released = 0;
    std::thread placing([&, own = worker(1)] {
        for (uint32_t i = 1; i <= rounds; ++i) {
            const std::vector batch{placement_of(1, i, 1000 + i, buyer(1000 + i))};
            ASSERT_TRUE(own->place(i - 1, batch, t0).has_value());
        }
    });
    // Both try every one of them: each is released once.
    std::vector<std::thread> releasing;
    for (int t = 0; t < 2; ++t) {
        releasing.emplace_back([&, own = database.open()] {
            for (uint32_t i = 1; i <= rounds; ++i) {
                const auto order = own->reader().find_order(OrderId{1000 + i});
                const auto move = expire(**order);
                if (!move) continue;  // the other was faster
                const auto moved = own->move(std::span(&*move, 1), t0);
                ASSERT_TRUE(moved.has_value()) << moved.error().text();
                released += moved->front() == Moved::done ? 1 : 0;
            }
        });
    }
    placing.join();
    for (std::thread& one : releasing) one.join();
    EXPECT_EQ(released, rounds);
    EXPECT_EQ(stock(), (Stock{100, 100 - rounds, rounds, 0}));
    EXPECT_EQ(count("SELECT count(*) FROM releases"), rounds);
    EXPECT_EQ(count("SELECT count(*) FROM stock_moves"), rounds);
}

TEST_F(PostgresWriters, AReleaseRowCarriesTheEpochOfTheStockRow) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10), SaleState::scheduled, t0).has_value());
    ASSERT_TRUE(orders->place(0, std::vector{placement(1, entry(1))}, t0).has_value());
    connection.run("UPDATE items SET epoch = 6");
    const auto cancelled = cancel(**orders->reader().find_order(OrderId{1001}));
    ASSERT_EQ(orders->move(std::span(&*cancelled, 1), t0)->front(), Moved::done);
    ASSERT_TRUE(orders->restock(SaleId("phone-drop"), ItemId("phone"), 3, 1, t0).has_value());
    EXPECT_EQ(count("SELECT count(*) FROM releases WHERE epoch = 6 AND applied_at_ms IS NULL"), 2);
    EXPECT_EQ(count("SELECT units FROM releases WHERE purchase IS NULL"), 3) << "a restock";
}

TEST_F(PostgresWriters, TheEventsOfALateCommitAreTakenAllTheSame) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10), SaleState::scheduled, t0).has_value());
    {
        pg::Transaction late(connection);  // has the lower number, and commits behind the higher
        connection.run("INSERT INTO events(kind, at_ms, sale) VALUES('sale.paused', 1, 'phone-drop')");
        ASSERT_TRUE(orders->place(0, std::vector{placement(1, entry(1))}, t0).has_value());
        EXPECT_EQ(*orders->outbox().take_events(100, true, t0), 1u);
        late.commit();
    }
    EXPECT_EQ(*orders->outbox().take_events(100, true, t0), 1u);
    EXPECT_EQ(orders->outbox().due(t0, 10)->size(), 2u);
}

TEST_F(PostgresWriters, OneMomentIsOneMoment) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10), SaleState::scheduled, t0).has_value());
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 0});
    PostgresOrdersReader reader(pool);
    const auto read = reader.at_one_moment([&]() -> StoreResult<void> {
        EXPECT_EQ(reader.sales()->front().stock.front().units_available, 10u);
        EXPECT_TRUE(orders->place(0, std::vector{placement(1, entry(1))}, t0).has_value());
        EXPECT_EQ(reader.sales()->front().stock.front().units_available, 10u);
        uint64_t seen = 0;
        EXPECT_TRUE(reader.each_order([&](const OrderRecord&) { ++seen; }).has_value());
        EXPECT_EQ(seen, 0u);
        return {};
    });
    EXPECT_TRUE(read.has_value());
    EXPECT_EQ(reader.sales()->front().stock.front().units_available, 9u);
}

TEST_F(PostgresWriters, ARecordThatNoTableCanHoldIsBuriedWithoutAPurchase) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10), SaleState::scheduled, t0).has_value());
    const std::vector batch{placement(1, entry(1, BuyerId(std::string_view("a\0b", 3))))};
    const auto placed = orders->place(0, batch, t0);
    ASSERT_FALSE(placed.has_value());
    EXPECT_EQ(placed.error().code, StoreErrc::not_allowed);
    ASSERT_TRUE(orders->bury(0, batch.front().record, "no text", t0).has_value());
    EXPECT_EQ(orders->reader().dead_letters(0, 10)->size(), 1u);
    EXPECT_EQ(*orders->reader().position(), 1u);
}

TEST_F(PostgresWriters, AStockRowWithoutTheUnitsIsFoundOutAndNothingMoves) {
    ASSERT_TRUE(orders->create_sale(phone_drop(10), SaleState::scheduled, t0).has_value());
    ASSERT_TRUE(orders->place(0, std::vector{placement(1, entry(1))}, t0).has_value());
    connection.run("UPDATE items SET units_held = 0, units_available = 10");
    const auto move = cancel(**orders->reader().find_order(OrderId{1001}));
    EXPECT_EQ(orders->move(std::span(&*move, 1), t0)->front(), Moved::damaged);
    EXPECT_EQ((*orders->reader().find_order(OrderId{1001}))->state, OrderState::pending_payment);
    EXPECT_EQ(count("SELECT count(*) FROM releases"), 0);
}

}  // namespace
}  // namespace doorbuster
