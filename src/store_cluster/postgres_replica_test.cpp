#include "store_cluster/postgres_replica.hpp"

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

// A hot standby follows the server of these tests; orders are read from it.
class ReplicaTest : public ::testing::Test {
protected:
    ReplicaTest() {
        EXPECT_TRUE(orders->create_sale(phone_drop(10, 10), SaleState::open, t0).has_value());
        EXPECT_TRUE(orders->place(0, std::vector{placement(1, entry(1))}, t0).has_value());
        standby.emplace(PostgresServer::StandbyOf{postgres()});
        pg::ConnectionOptions of_copy = database.options();
        const std::string from = postgres().folder();
        of_copy.url.replace(of_copy.url.find(from), from.size(), standby->folder());
        at_copy.emplace(of_copy);
        copies.emplace(pg::PoolOptions{.connection = of_copy, .connections = 1, .overflow_max = 1});
        // Never too old: the tests' clock is patience.
        views.emplace(*copies, primaries, PostgresReplica::Options{.behind_max = 1h});
    }
    // It answers as before, with what it has by now.
    void stop_following() {
        at_copy->run_script("SELECT pg_wal_replay_pause()");
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (at_copy->read_integer("SELECT (pg_get_wal_replay_pause_state() = 'paused')::int::bigint") == 0)
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
    std::string reason_of(int64_t order) { return (*views->find_order(OrderId{order}))->reason; }
    void rename(const std::string& reason) {
        connection.run_script("UPDATE doorbuster.orders SET reason = '" + reason + "'");
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    pg::Pool primaries{{.connection = database.options(), .connections = 1, .overflow_max = 1}};
    std::optional<PostgresServer> standby;
    std::optional<pg::Connection> at_copy;
    std::optional<pg::Pool> copies;
    std::optional<PostgresReplica> views;
};

TEST_F(ReplicaTest, OrdersComeFromTheCopyAndWhatItLacksFromThePrimary) {
    // The copy has replayed a commit since it began, so it can say how old it is.
    rename("first");
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (at_copy->read_integer("SELECT count(*) FROM orders WHERE reason = 'first'") == 0)
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    stop_following();
    rename("second");
    EXPECT_EQ(reason_of(1001), "first") << "it was read from the copy";
    EXPECT_EQ(views->orders_of(alice, {}, 10)->front().reason, "first");

    ASSERT_TRUE(orders->place(1, std::vector{placement(2, entry(2))}, t0).has_value());
    ASSERT_TRUE(views->find_order(OrderId{1002})->has_value())
        << "nobody hears that a new order is not there";
    EXPECT_EQ(views->orders_of(alice, {}, 10)->size(), 1u) << "a list may lack it for a while";
    EXPECT_FALSE(views->find_order(OrderId{1003})->has_value());
}

TEST_F(ReplicaTest, ACopyThatIsTooFarBehindIsNotAsked) {
    views.emplace(*copies, primaries, PostgresReplica::Options{.behind_max = 0ms});
    rename("second");
    EXPECT_EQ(reason_of(1001), "second");
    EXPECT_EQ(views->orders_of(alice, {}, 10)->front().reason, "second");
}

TEST_F(ReplicaTest, ACopyThatIsAwayLeavesItToThePrimary) {
    rename("second");
    standby->stop();
    EXPECT_EQ(reason_of(1001), "second");
    EXPECT_EQ(views->orders_of(alice, {}, 10)->front().reason, "second");
}

}  // namespace
}  // namespace doorbuster
