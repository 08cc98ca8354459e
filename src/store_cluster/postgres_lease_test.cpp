#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "store/contract_testing.hpp"
#include "store_cluster/postgres_node_lease.hpp"
#include "store_cluster/postgres_partition_lease.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class PostgresLeases : public ::testing::Test {
protected:
    static constexpr milliseconds lasts = 1h;  // a test takes no minute of it

    std::optional<PartitionLease> take(uint64_t partition) {
        return *PartitionLease::take(connection, partition, {.owner = "test", .lasts = lasts});
    }
    // As if so much time had passed for the server.
    void pass(std::string_view table, milliseconds time) {
        connection.run_script("UPDATE doorbuster." + std::string(table) +
                              " SET expires_at = expires_at - interval '1 ms' * " +
                              std::to_string(time.count()));
    }

    TestDatabase database;
    pg::Connection connection{database.options()};
};

TEST_F(PostgresLeases, APartitionHasOneWorkerUntilItsTimeIsOver) {
    const auto first = take(3);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->place().generation, 1u);
    EXPECT_TRUE(first->holds());
    EXPECT_FALSE(first->holds(pg::boot_time() + lasts + 1s));
    EXPECT_FALSE(take(3).has_value());
    EXPECT_TRUE(take(4).has_value()) << "another partition is another matter";
    pass("partition_leases", lasts - 1min);
    EXPECT_FALSE(take(3).has_value()) << "not before its time";
    pass("partition_leases", 2min);
    const auto second = take(3);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->place().generation, 2u);
}

TEST_F(PostgresLeases, ARenewedOneLastsAndALostOneIsNotRenewed) {
    auto first = take(3);
    pass("partition_leases", lasts - 1min);
    ASSERT_TRUE(first->renew(connection).has_value());
    pass("partition_leases", lasts - 1min);
    EXPECT_FALSE(take(3).has_value());
    pass("partition_leases", 2min);
    auto second = take(3);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(first->renew(connection).error().code, StoreErrc::conflict);
    ASSERT_TRUE(second->give_back(connection).has_value());
    EXPECT_FALSE(second->holds());
    EXPECT_TRUE(take(3).has_value()) << "given back, it is free at once";
}

TEST_F(PostgresLeases, AWorkerThatSleptThroughItsLeaseMovesNothing) {
    const auto orders = database.open();
    ASSERT_TRUE(orders->create_sale(phone_drop(10, 3), SaleState::scheduled, t0).has_value());
    const auto first = take(1);
    const auto slept = database.open(first->place());
    ASSERT_TRUE(slept->place(0, std::vector{placement(1, entry(1))}, t0).has_value());

    pass("partition_leases", lasts + 1s);
    const auto second = take(1);
    const auto awake = database.open(second->place());
    EXPECT_EQ(*awake->reader().position(), 1u) << "it goes on where the first one was";

    const std::vector next{placement(2, entry(2))};
    EXPECT_EQ(slept->place(1, next, t0).error().code, StoreErrc::conflict);
    EXPECT_EQ(slept->bury(1, next.front().record, "no", t0).error().code, StoreErrc::conflict);
    EXPECT_EQ(connection
                  .run("UPDATE partition_offsets SET position = 2 WHERE partition = 1 AND position = 1 "
                       "AND generation = 1")
                  .changed(),
              0u);
    EXPECT_FALSE(awake->reader().find_purchase(purchase(2))->has_value());
    ASSERT_TRUE(awake->place(1, next, t0).has_value());
    EXPECT_EQ(slept->failure(), std::nullopt) << "that it lost its place is no unknown outcome";
}

TEST_F(PostgresLeases, NoTwoNodesShareANumber) {
    constexpr int nodes = 8;
    std::mutex mutex;
    std::set<uint32_t> numbers;
    std::vector<std::thread> threads;
    for (int i = 0; i < nodes; ++i) {
        threads.emplace_back([&] {
            pg::Connection own(database.options());
            for (int again = 0; again < 3; ++again) {
                const auto lease = NodeLease::take(own, {.owner = "node"});
                ASSERT_TRUE(lease.has_value()) << lease.error().text();
                std::lock_guard lock(mutex);
                EXPECT_TRUE(numbers.insert(lease->node()).second) << lease->node();
            }
        });
    }
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(numbers.size(), nodes * 3u);
}

TEST_F(PostgresLeases, ANumberIsGivenAgainOnlyWellAfterItsTime) {
    const NodeLease::Terms terms{.owner = "node", .lasts = 60s, .nodes_max = 2};
    auto first = NodeLease::take(connection, terms), second = NodeLease::take(connection, terms);
    ASSERT_TRUE(first.has_value() && second.has_value());
    EXPECT_NE(first->node(), second->node());
    EXPECT_EQ(NodeLease::take(connection, terms).error().code, StoreErrc::in_use);
    pass("node_leases", 61s);
    EXPECT_EQ(NodeLease::take(connection, terms).error().code, StoreErrc::in_use)
        << "over, but its holder may not know yet";
    ASSERT_TRUE(second->renew(connection).has_value());
    pass("node_leases", 60s);
    const auto again = NodeLease::take(connection, terms);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->node(), first->node()) << "the one that was not renewed";
    EXPECT_EQ(first->renew(connection).error().code, StoreErrc::conflict);
    EXPECT_TRUE(second->holds());
    EXPECT_FALSE(second->holds(pg::boot_time() + 61s));
}

TEST_F(PostgresLeases, ANumberThatIsGivenBackIsFreeAMinuteLater) {
    const NodeLease::Terms terms{.owner = "node", .lasts = 600s, .nodes_max = 2};
    auto first = NodeLease::take(connection, terms), second = NodeLease::take(connection, terms);
    ASSERT_TRUE(first.has_value() && second.has_value());
    ASSERT_TRUE(first->give_back(connection).has_value());
    EXPECT_FALSE(first->holds());
    EXPECT_EQ(NodeLease::take(connection, terms).error().code, StoreErrc::in_use)
        << "an id of it may still be on its way";
    pass("node_leases", 61s);
    const auto again = NodeLease::take(connection, terms);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->node(), first->node());
    ASSERT_TRUE(first->give_back(connection).has_value()) << "it is another's, and stays so";
    EXPECT_EQ(NodeLease::take(connection, terms).error().code, StoreErrc::in_use);
    pass("node_leases", 61s);
    EXPECT_EQ(NodeLease::take(connection, terms).error().code, StoreErrc::in_use);
}

}  // namespace
}  // namespace doorbuster
