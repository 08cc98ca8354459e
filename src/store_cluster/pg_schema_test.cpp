#include "store_cluster/pg_schema.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "sale/testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using pg::Connection;
using pg::Failure;
using testing::TestDatabase;

// One whose schema goes.
class EmptyDatabase : public TestDatabase {
public:
    EmptyDatabase() {
        spoil();
        Connection(options()).run_script("DROP SCHEMA doorbuster CASCADE");
    }
};

TEST(PgSchema, ANewerDatabaseIsRefusedAndLeftAsItIs) {
    TestDatabase database;
    database.spoil();
    Connection connection(database.options());
    connection.run_script("INSERT INTO doorbuster.migrations VALUES(999)");
    const auto opened = PostgresOrders::open(database.options());
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, StoreErrc::newer_schema);
    EXPECT_NE(opened.error().detail.find("999"), std::string::npos) << opened.error().detail;
    EXPECT_EQ(connection.read_integer("SELECT max(version)::bigint FROM migrations"), 999);
}

TEST(PgSchema, AnOldDatabaseIsCarriedForwardStepByStep) {
    EmptyDatabase database;
    Connection connection(database.options());
    constexpr const char* steps[] = {"CREATE TABLE one(a bigint); INSERT INTO one VALUES(7);",
                                     "ALTER TABLE one ADD COLUMN b bigint DEFAULT 5;"};
    pg::prepare(connection, std::span(steps).first(1));
    pg::prepare(connection, steps);
    pg::prepare(connection, steps);
    EXPECT_EQ(connection.read_integer("SELECT a + b FROM one"), 12);
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM migrations"), 2);
}

TEST(PgSchema, AFailedStepLeavesTheOldVersion) {
    EmptyDatabase database;
    Connection connection(database.options());
    constexpr const char* steps[] = {"CREATE TABLE one(a bigint);", "CREATE TABLE two(b bigint); NONSENSE;"};
    EXPECT_THROW(pg::prepare(connection, steps), Failure);
    EXPECT_EQ(connection.read_integer("SELECT max(version)::bigint FROM migrations"), 1);
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM pg_tables WHERE tablename = 'two'"), 0);
}

TEST(PgSchema, OfManyThatStartAtOnceOneMigrates) {
    EmptyDatabase database;
    std::vector<std::thread> starting;
    std::atomic<int> opened = 0;
    for (int i = 0; i < 4; ++i) {
        starting.emplace_back(
            [&] { opened += PostgresOrders::open(database.options()).has_value() ? 1 : 0; });
    }
    for (std::thread& one : starting) one.join();
    EXPECT_EQ(opened, 4);
    Connection connection(database.options());
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM migrations"),
              static_cast<int64_t>(pg::migrations.size()));
}

TEST(PgSchema, AStockRowThatCannotBeIsRefused) {
    TestDatabase database;
    const auto orders = database.open();
    ASSERT_TRUE(orders->create_sale(testing::phone_drop(5), SaleState::scheduled, testing::t0).has_value());
    Connection connection(database.options());
    for (const char* wrong : {"UPDATE items SET units_available = -1, units_held = 6",
                              "UPDATE items SET units_available = 4", "UPDATE items SET units_total = 0",
                              "UPDATE items SET epoch_state = 'open'", "UPDATE items SET pin = 'a'"}) {
        const auto done = pg::guarded("a test", [&] { connection.run(wrong); });
        ASSERT_FALSE(done.has_value()) << wrong;
        EXPECT_EQ(done.error().code, StoreErrc::not_allowed) << wrong;
    }
    connection.run("UPDATE items SET epoch = 2, epoch_state = 'open', pin = 'a'");
}

}  // namespace
}  // namespace doorbuster
