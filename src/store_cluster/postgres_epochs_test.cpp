#include "store_cluster/postgres_epochs.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "store/contract_testing.hpp"
#include "store_cluster/postgres_partition_lease.hpp"
#include "store_cluster/postgres_rebuilds.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

const SaleId sale("phone-drop");
const ItemId item("phone");

class PostgresEpochsTest : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(orders->create_sale(phone_drop(1000, 1), SaleState::scheduled, t0).has_value());
    }
    ItemEpoch now() {
        const auto lease = epochs.lease("test", 1s);
        EXPECT_TRUE(lease.has_value() && lease->items().size() == 1);
        return lease->items().front();
    }
    // As the coordinator does, but for everything that happens outside PostgreSQL.
    void rebuild(const std::string& pin) {
        const auto closed = epochs.close(sale, item, now().epoch);
        ASSERT_TRUE(closed.has_value() && closed->has_value());
        const auto cut = epochs.cut(sale, item, **closed);
        ASSERT_TRUE(cut.has_value() && cut->has_value());
        ASSERT_TRUE(*epochs.open(sale, item, (*cut)->epoch, pin));
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()}, other{database.options()};
    PostgresEpochs epochs{connection}, rival{other};
};

TEST_F(PostgresEpochsTest, ALeaseNamesTheEpochAndThePinOnlyWhileItIsOpen) {
    EXPECT_EQ(now().epoch, 0u);
    EXPECT_FALSE(now().pin) << "a sale that was never warm";
    rebuild("redis-1");
    EXPECT_EQ(now().epoch, 2u);
    EXPECT_EQ(now().pin, "redis-1");
    ASSERT_TRUE(epochs.close(sale, item, 2).has_value());
    EXPECT_EQ(now().epoch, 3u);
    EXPECT_FALSE(now().pin);

    const auto lease = epochs.lease("test", 1h);
    EXPECT_TRUE(lease->holds());
    EXPECT_FALSE(lease->holds(pg::boot_time() + 1h)) << "counted from before it was asked for";
    EXPECT_FALSE(EpochLease().holds());
}

TEST_F(PostgresEpochsTest, OfTwoCoordinatorsOneGoesOn) {
    rebuild("redis-1");
    ASSERT_EQ(*epochs.close(sale, item, 2), 3u);
    EXPECT_EQ(*rival.close(sale, item, 2), std::nullopt) << "the other one was faster";
    ASSERT_EQ(*rival.close(sale, item, 3), 4u) << "it takes over, from the first step on";
    EXPECT_FALSE(epochs.cut(sale, item, 3)->has_value());
    const auto cut = rival.cut(sale, item, 4);
    ASSERT_TRUE(cut.has_value() && cut->has_value());
    EXPECT_EQ((*cut)->epoch, 5u);
    EXPECT_FALSE(*epochs.open(sale, item, 4, "redis-2"));
    EXPECT_TRUE(*rival.open(sale, item, 5, "redis-3"));
    EXPECT_FALSE(*rival.open(sale, item, 5, "redis-4")) << "an open epoch keeps its pin";
    EXPECT_FALSE(rival.cut(sale, item, 5)->has_value()) << "what is open is not cut";
    EXPECT_EQ(now().pin, "redis-3");
}

TEST_F(PostgresEpochsTest, ACutHasFinishedPurchasesToo) {
    const std::vector batch{placement(1, entry(1)), placement(2, entry(2, bob)), placement(3, entry(3))};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());  // alice's second is over her limit
    ASSERT_EQ(*epochs.close(sale, item, 0), 1u);
    const auto cut = epochs.cut(sale, item, 1);
    ASSERT_TRUE(cut.has_value() && cut->has_value());
    EXPECT_EQ((*cut)->stock, (Stock{1000, 998, 2, 0}));
    EXPECT_EQ((*cut)->sale.sale.id, sale);
    ASSERT_EQ((*cut)->purchases.size(), 3u);
    EXPECT_EQ((*cut)->purchases[0].purchase.hold, HoldState::held);
    EXPECT_EQ((*cut)->purchases[2].purchase.hold, HoldState::finished);
    EXPECT_EQ((*cut)->purchases[2].purchase.acceptance.purchase, purchase(3));
}

TEST_F(PostgresEpochsTest, UnitsAndPurchasesOfACutAreOfOneMoment) {
    constexpr uint32_t batches = 60, per_batch = 5;
    ASSERT_EQ(*epochs.close(sale, item, 0), 1u);
    const auto lease = PartitionLease::take(connection, 1, {.owner = "test"});
    ASSERT_TRUE(lease.has_value() && lease->has_value());
    std::thread worker([&, own = database.open((*lease)->place())] {
        for (uint32_t at = 0; at < batches * per_batch; at += per_batch) {
            std::vector<Placement> batch;
            for (uint32_t i = at + 1; i <= at + per_batch; ++i) {
                batch.push_back(placement(i, entry(i, BuyerId("buyer-" + std::to_string(i)))));
            }
            const auto placed = own->place(at, batch, t0);
            ASSERT_TRUE(placed.has_value()) << placed.error().text();
        }
    });
    // Each cut follows from the one before: to a coordinator that took over it is the same step.
    uint64_t epoch = 1;
    uint32_t held = 0;
    while (held < batches * per_batch) {
        const auto cut = epochs.cut(sale, item, epoch);
        ASSERT_TRUE(cut.has_value() && cut->has_value());
        epoch = (*cut)->epoch;
        held = (*cut)->stock.units_held;
        EXPECT_EQ((*cut)->purchases.size(), held);
        if (::testing::Test::HasFailure()) break;
    }
    worker.join();
    EXPECT_EQ(orders->reader().sales()->front().stock.front(), (Stock{1000, 700, 300, 0}));
}

TEST_F(PostgresEpochsTest, ACutWaitsForUnitsThatAreBeingMoved) {
    ASSERT_EQ(*epochs.close(sale, item, 0), 1u);
    std::optional<EpochCut> cut;
    std::thread coordinator;
    {
        pg::Transaction moving(other);
        other.run("UPDATE items SET units_available = units_available - 7, units_held = units_held + 7");
        coordinator = std::thread([&] { cut = *epochs.cut(sale, item, 1); });
        pg::Connection watcher(database.options());
        EXPECT_NE(await_blocked(watcher), 0);
        moving.commit();
    }
    coordinator.join();
    ASSERT_TRUE(cut.has_value());
    EXPECT_EQ(cut->stock.units_held, 7u);
}

TEST_F(PostgresEpochsTest, AnEpochIsSealedWhenEveryPartitionHasPassedItsSeal) {
    const std::vector<int64_t> partitions{2, 5};
    EXPECT_FALSE(*epochs.is_sealed(sale, item, 4, partitions));
    connection.run("INSERT INTO seals(sale, item, partition, epoch) VALUES('phone-drop', 'phone', 2, 4)");
    EXPECT_FALSE(*epochs.is_sealed(sale, item, 4, partitions));
    connection.run("INSERT INTO seals(sale, item, partition, epoch) VALUES('phone-drop', 'phone', 5, 3)");
    EXPECT_FALSE(*epochs.is_sealed(sale, item, 4, partitions)) << "an older seal is not enough";
    connection.run("UPDATE seals SET epoch = 9 WHERE partition = 5");
    EXPECT_TRUE(*epochs.is_sealed(sale, item, 4, partitions)) << "it closes every epoch up to its own";
    EXPECT_FALSE(*epochs.is_sealed(sale, ItemId("tablet"), 4, partitions));
}

TEST_F(PostgresEpochsTest, HoldersThatAreGoneAreForgotten) {
    ASSERT_TRUE(epochs.lease("gone", 1s).has_value());
    ASSERT_TRUE(epochs.lease("late", 1s).has_value());
    connection.run(
        "UPDATE epoch_leases SET expires_at = expires_at - interval '2 hours' WHERE holder = 'gone'");
    ASSERT_TRUE(epochs.lease("test", 1s).has_value());
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM epoch_leases WHERE holder = 'gone'"), 0);
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM epoch_leases"), 2);
}

TEST_F(PostgresEpochsTest, AReconciledSaleIsLeasedToNobody) {
    connection.run("UPDATE sales SET state = 'reconciled'");
    EXPECT_TRUE(epochs.lease("test", 1s)->items().empty());
}

TEST_F(PostgresEpochsTest, AWordForARebuildHoldsForTheEpochThatItWasSpokenIn) {
    rebuild("redis-1");
    EXPECT_EQ(epochs.watch()->front().asked_for, "");
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "once more").has_value());
    const WatchedItem watched = epochs.watch()->front();
    EXPECT_EQ(watched.asked_for, "the operator's word") << "the first reason stays";
    EXPECT_EQ(watched.now.pin, "redis-1");
    EXPECT_EQ(watched.state, SaleState::scheduled);
    rebuild("redis-2");
    EXPECT_EQ(epochs.watch()->front().asked_for, "");
    EXPECT_EQ(epochs.ask_for_rebuild(sale, ItemId("unheard-of"), "").error().code, StoreErrc::not_found);
}

TEST_F(PostgresEpochsTest, TheOperatorHearsWhichEpochIsToEndAndWhenTheNextIsOpen) {
    rebuild("redis-1");
    PostgresRebuilds rebuilds(connection);
    const std::vector<ItemId> items{item};
    const auto asked = rebuilds.ask(sale, items, "Redis was moved");
    ASSERT_TRUE(asked.has_value() && asked->size() == 1);
    EXPECT_EQ(asked->front().item, item);
    EXPECT_EQ(asked->front().epoch, 2u);
    EXPECT_TRUE(asked->front().is_open);
    EXPECT_EQ(epochs.watch()->front().asked_for, "Redis was moved");

    ASSERT_TRUE(epochs.close(sale, item, 2).has_value());
    EXPECT_EQ(rebuilds.epochs(sale)->front().epoch, 3u);
    EXPECT_FALSE(rebuilds.epochs(sale)->front().is_open);
    rebuild("redis-2");
    EXPECT_GT(rebuilds.epochs(sale)->front().epoch, asked->front().epoch);
    EXPECT_TRUE(rebuilds.epochs(sale)->front().is_open);

    const std::vector<ItemId> unknown{item, ItemId("unheard-of")};
    EXPECT_EQ(rebuilds.ask(sale, unknown, "").error().code, StoreErrc::not_found);
}

TEST_F(PostgresEpochsTest, ACutMayReadForLongerThanAnyOtherStatement) {
    const std::vector batch{placement(1, entry(1, alice))};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    const uint64_t closed = epochs.close(sale, item, now().epoch)->value();
    auto options = database.options();
    options.statement_max = options.answer_max = 10s;  // for all but one of the cut's statements
    // As many purchases as take eleven seconds to read.
    database.spoil();
    connection.run_script(
        "SET search_path = doorbuster; ALTER TABLE purchases RENAME TO many; "
        "CREATE VIEW purchases AS SELECT * FROM many WHERE pg_sleep(11) IS NOT NULL");
    pg::Connection coordinator(options), reader(options);
    std::thread reading(
        [&] { EXPECT_THROW(reader.run("SELECT count(*) FROM purchases"), pg::Failure) << "it is too long"; });
    const auto cut = PostgresEpochs(coordinator).cut(sale, item, closed);
    reading.join();
    ASSERT_TRUE(cut.has_value()) << cut.error().text();
    ASSERT_EQ((*cut)->purchases.size(), 1u);
    EXPECT_EQ(coordinator.run("SHOW statement_timeout").front().text(0), "10s") << "in that transaction only";
}

}  // namespace
}  // namespace doorbuster
