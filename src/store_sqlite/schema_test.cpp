#include "store_sqlite/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "store_sqlite/data_folder.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using testing::TemporaryFolder;

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Schema, ANewerDatabaseIsRefusedAndLeftAsItIs) {
    TemporaryFolder folder;
    const std::string path = folder.path("ledger.db");
    ASSERT_TRUE(SqliteLedger::open(path).has_value());
    {
        sqlite::Connection connection(path, sqlite::Access::write);
        connection.execute("PRAGMA user_version = 999");
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    const std::string before = bytes_of(path);
    const auto opened = SqliteLedger::open(path);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, StoreErrc::newer_schema);
    EXPECT_NE(opened.error().detail.find("999"), std::string::npos) << opened.error().detail;
    EXPECT_EQ(bytes_of(path), before);
}

TEST(Schema, AnotherProgramsDatabaseIsRefused) {
    TemporaryFolder folder;
    const std::string path = folder.path("orders.db");
    {
        sqlite::Connection connection(path, sqlite::Access::write);
        connection.execute("CREATE TABLE theirs(a)");
    }
    const auto opened = SqliteOrders::open(path);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, StoreErrc::damaged);
}

TEST(Schema, AFileThatIsNoDatabaseIsRefused) {
    TemporaryFolder folder;
    std::ofstream(folder.path("ledger.db")) << std::string(4096, 'x');
    const auto opened = SqliteLedger::open(folder.path("ledger.db"));
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, StoreErrc::damaged);
}

TEST(Schema, AnOldDatabaseIsCarriedForwardStepByStep) {
    TemporaryFolder folder;
    constexpr const char* steps[] = {"CREATE TABLE one(a); INSERT INTO one VALUES(7);",
                                     "ALTER TABLE one ADD COLUMN b DEFAULT 5;"};
    sqlite::Connection connection(folder.path("some.db"), sqlite::Access::write);
    sqlite::prepare(connection, {"some.db", 1, std::span(steps).first(1)});
    EXPECT_EQ(connection.read_integer("PRAGMA user_version"), 1);
    sqlite::prepare(connection, {"some.db", 1, steps});
    EXPECT_EQ(connection.read_integer("PRAGMA user_version"), 2);
    EXPECT_EQ(connection.read_integer("SELECT a + b FROM one"), 12);
}

TEST(Schema, PurchasesOfTheFirstVersionAreKept) {
    TemporaryFolder folder;
    sqlite::Connection connection(folder.path("orders.db"), sqlite::Access::write);
    const sqlite::Schema& newest = sqlite::orders_schema;
    sqlite::prepare(connection, {newest.name, newest.application_id, newest.migrations.first(1)});
    connection.execute(
        "INSERT INTO purchases VALUES(x'0102', 'drop', 'phone', 'alice', 1, 7, 1000, 9, 'ordered', NULL, 5)");
    sqlite::prepare(connection, newest);
    EXPECT_EQ(
        connection.read_integer("SELECT position FROM purchases WHERE id = x'0102' AND sequence = 7 AND "
                                "buyer = 'alice' AND order_id = 5"),
        9);
    EXPECT_THROW(connection.execute(
                     "INSERT INTO purchases SELECT id, sale, item, buyer, units, sequence, accepted_at_ms, "
                     "position + 1, state, reason, order_id FROM purchases"),
                 sqlite::Failure);
}

TEST(Schema, OrdersOfTheSecondVersionAreKept) {
    TemporaryFolder folder;
    sqlite::Connection connection(folder.path("orders.db"), sqlite::Access::write);
    const sqlite::Schema& newest = sqlite::orders_schema;
    sqlite::prepare(connection, {newest.name, newest.application_id, newest.migrations.first(2)});
    connection.execute(
        "INSERT INTO sales VALUES('drop', 'open', 1, '', 1, 2, 0, 'reserve', 900, 'none', 1, 1);"
        "INSERT INTO items VALUES('drop', 'phone', 0, '', 5, 5, 'TWD', 3, 9, 6, 3, 0, 1);"
        "INSERT INTO purchases VALUES(x'01', 'drop', 'phone', 'alice', 2, 1, 1, 1, 'ordered', NULL, 11);"
        "INSERT INTO purchases VALUES(x'02', 'drop', 'phone', 'alice', 1, 2, 1, 2, 'ordered', NULL, 12);"
        "INSERT INTO purchases VALUES(x'03', 'drop', 'phone', 'alice', 1, 3, 1, 3, 'cancelled', 'so', 13);"
        "INSERT INTO orders SELECT order_id, id, sale, item, buyer, units, 5, 'TWD', "
        "iif(state = 'ordered', 'pending_payment', 'cancelled'), 1, 1, 1, 1 FROM purchases;"
        "INSERT INTO buyer_holdings VALUES('drop', 'phone', 'alice', 3);");
    sqlite::prepare(connection, newest);
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM orders"), 3);
    EXPECT_EQ(connection.read_integer("SELECT units FROM buyer_holdings WHERE buyer = 'alice'"), 3);
}

TEST(Schema, OnlyAnOrderThatHasGivenItsUnitsBackCountsForNothing) {
    TemporaryFolder folder;
    sqlite::Connection connection(folder.path("orders.db"), sqlite::Access::write);
    sqlite::prepare(connection, sqlite::orders_schema);
    connection.execute("PRAGMA foreign_keys = OFF");
    int64_t id = 0;
    for (const std::string_view hold : {"held", "sold", "open", "finished"}) {
        sqlite::Statement insert(connection,
                                 "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, "
                                 "currency, state, version, created_at_ms, pay_by_ms, updated_at_ms, hold) "
                                 "VALUES(?1, ?1, '', '', '', 7, 0, '', 'refunding', 1, 1, 1, 1, ?2)");
        insert.bind(1, ++id).bind(2, hold).run();
        const auto active =
            connection.read_integer("SELECT units_active FROM orders ORDER BY id DESC LIMIT 1");
        EXPECT_EQ(active, hold == "finished" ? 0 : 7) << hold;
    }
    EXPECT_THROW(connection.execute("UPDATE orders SET state = 'paid' WHERE hold = 'held'"), sqlite::Failure)
        << "what is paid is sold";
}

// Without its last steps.
void prepare_older(sqlite::Connection& connection, const sqlite::Schema& newest, size_t steps) {
    sqlite::prepare(connection, {newest.name, newest.application_id,
                                 newest.migrations.first(newest.migrations.size() - steps)});
}

TEST(Schema, OrdersThatPaymentsReferToAreCarriedForwardWithThem) {
    TemporaryFolder folder;
    sqlite::Connection connection(folder.path("orders.db"), sqlite::Access::write);
    prepare_older(connection, sqlite::orders_schema, 4);
    connection.execute(
        "INSERT INTO sales(id, state, version, title, opens_at_ms, closes_at_ms, warm_before_s, "
        "stock_policy, "
        "payment_window_s, human_check, created_at_ms, updated_at_ms) "
        "VALUES('drop', 'open', 1, '', 1, 2, 0, 'reserve', 900, 'none', 1, 1);"
        "INSERT INTO items(sale, id, ordinal, name, price_minor, original_price_minor, currency, "
        "units_per_buyer_max, units_total, units_available, units_held, units_sold, version) "
        "VALUES('drop', 'phone', 0, '', 5, 5, 'TWD', 3, 9, 7, 2, 0, 1);"
        "INSERT INTO purchases VALUES(x'01', 'drop', 'phone', 'alice', 2, 1, 1, 1, 'ordered', NULL, 11);"
        "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, version, "
        "created_at_ms, pay_by_ms, updated_at_ms, hold, payment, reason) "
        "VALUES(11, x'01', 'drop', 'phone', 'alice', 2, 10, 'TWD', 'voiding', 3, 4, 5, 6, 'held', 21, 'so');"
        "INSERT INTO payments VALUES(21, 11, 'voiding', 1, 10, 'TWD', 0, 'TWD', '', 1, 1, 9, 0);"
        "INSERT INTO events VALUES(31, 'order.paying', 1, 'drop', 11, NULL, 21);"
        "INSERT INTO deliveries VALUES(31, 'pending', 2, 1, 77, 6);"
        "INSERT INTO delivery_attempts VALUES(31, 1, 1, 500, '', 3);"
        "INSERT INTO stock_moves VALUES(41, 'sold', 'drop', 'phone', x'01', 2, 8, 1);");
    const auto names = [&] {
        sqlite::Statement select(
            connection,
            "SELECT group_concat(name) FROM (SELECT type || ' ' || name AS name FROM sqlite_master "
            "WHERE name NOT LIKE 'sqlite_%' ORDER BY 1)");
        sqlite::Rows rows(select);
        return rows.next() ? std::string(rows->text(0)) : std::string();
    };
    const std::string before = names();
    prepare_older(connection, sqlite::orders_schema, 3);
    EXPECT_EQ(names(), before) << "every table, index and view";
    sqlite::prepare(connection, sqlite::orders_schema);
    const std::pair<const char*, int64_t> kept[] = {
        {"SELECT sum(id * 100 + version * 10 + (payment = 21) + (reason = 'so')) FROM orders", 1132},
        {"SELECT units FROM buyer_holdings WHERE buyer = 'alice'", 2},
        {"SELECT order_id FROM payments WHERE id = 21", 11},
        {"SELECT next_at_ms FROM deliveries JOIN delivery_attempts USING(event) WHERE state = 'pending'", 77},
        {"SELECT position FROM stock_moves WHERE kind = 'sold' AND purchase = x'01'", 1},
        {"SELECT id FROM orders INDEXED BY orders_by_buyer WHERE buyer_key = buyer_key('alice')", 11},
        {"PRAGMA foreign_keys", 1},
        {"SELECT count(*) FROM pragma_foreign_key_check", 0}};
    for (const auto& [question, answer] : kept)
        EXPECT_EQ(connection.read_integer(question), answer) << question;
    for (const char* wrong : {"DELETE FROM orders", "UPDATE orders SET hold = 'lost'", "DELETE FROM items",
                              "DELETE FROM purchases", "UPDATE stock_moves SET kind = 'lost'",
                              "UPDATE deliveries SET state = 'lost'"}) {
        EXPECT_THROW(connection.execute(wrong), sqlite::Failure) << wrong;
    }
}

TEST(Schema, ALedgerWithIndexesIsCarriedForward) {
    TemporaryFolder folder;
    {
        sqlite::Connection connection(folder.path("ledger.db"), sqlite::Access::write);
        prepare_older(connection, sqlite::ledger_schema, 2);
        connection.execute(
            "INSERT INTO ledger(position, sale, item, sequence, purchase, buyer, units, accepted_at_ms, "
            "replaces) "
            "VALUES(7, 'drop', 'phone', 3, x'00112233445566778899aabbccddeeff', 'alice', 2, 1000, "
            "x'ff112233445566778899aabbccddeeff')");
    }
    const auto ledger = SqliteLedger::open(folder.path("ledger.db"));
    ASSERT_TRUE(ledger.has_value());
    const auto reader = SqliteLedgerReader::open(folder.path("ledger.db"));
    ASSERT_TRUE(reader.has_value());
    const auto records = (*reader)->read_after(0, 10);
    ASSERT_TRUE(records.has_value() && records->size() == 1 && records->front().entry);
    EXPECT_EQ(records->front().position, 7u);
    const LedgerEntry& entry = *records->front().entry;
    EXPECT_EQ(entry.acceptance.sequence, 3u);
    EXPECT_EQ(entry.acceptance.units, 2u);
    ASSERT_TRUE(entry.replaces);
    EXPECT_EQ(entry.replaces->bytes[0], 0xff);
    const auto again = (*ledger)->append(std::vector{entry});
    ASSERT_FALSE(again.has_value()) << "a sequence number is given once";
    EXPECT_EQ(again.error().code, StoreErrc::not_allowed);
}

TEST(Schema, AFailedMigrationLeavesTheOldVersion) {
    TemporaryFolder folder;
    constexpr const char* steps[] = {"CREATE TABLE one(a);", "CREATE TABLE two(b); NONSENSE;"};
    sqlite::Connection connection(folder.path("some.db"), sqlite::Access::write);
    EXPECT_THROW(sqlite::prepare(connection, {"some.db", 1, steps}), sqlite::Failure);
    EXPECT_EQ(connection.read_integer("PRAGMA user_version"), 1);
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM sqlite_master WHERE name = 'two'"), 0);
}

TEST(Schema, OnlyANewDatabaseGetsLargerPages) {
    TemporaryFolder folder;
    sqlite::Connection fresh(folder.path("fresh.db"), sqlite::Access::write);
    sqlite::prepare(fresh, sqlite::orders_schema);
    EXPECT_EQ(fresh.read_integer("PRAGMA page_size"), 16 * 1024);
    sqlite::Connection old(folder.path("old.db"), sqlite::Access::write);
    const sqlite::Schema& newest = sqlite::orders_schema;
    sqlite::prepare(old, {newest.name, newest.application_id, newest.migrations.first(1)});
    sqlite::prepare(old, newest);
    EXPECT_EQ(old.read_integer("PRAGMA page_size"), 4096);
}

TEST(Schema, ACommitIsSyncedToDisk) {
    TemporaryFolder folder;
    sqlite::Connection connection(folder.path("ledger.db"), sqlite::Access::write);
    sqlite::prepare(connection, sqlite::ledger_schema);
    constexpr int full = 2;
    EXPECT_EQ(connection.read_integer("PRAGMA synchronous"), full);
}

TEST(DataFolder, OneProcessHoldsItAtATime) {
    TemporaryFolder folder;
    {
        const auto held = DataFolder::hold(folder.path("data"));
        ASSERT_TRUE(held.has_value());
        const auto second = DataFolder::hold(folder.path("data"));
        ASSERT_FALSE(second.has_value());
        EXPECT_EQ(second.error().code, StoreErrc::in_use);
        EXPECT_NE(second.error().detail.find(std::to_string(getpid())), std::string::npos);
    }
    EXPECT_TRUE(DataFolder::hold(folder.path("data")).has_value());
}

TEST(DataFolder, APlaceThatCannotBeAFolderSaysSo) {
    TemporaryFolder folder;
    std::ofstream(folder.path("file")) << "x";
    const auto held = DataFolder::hold(folder.path("file") + "/data");
    ASSERT_FALSE(held.has_value());
    EXPECT_NE(held.error().text().find("file/data"), std::string::npos);
}

}  // namespace
}  // namespace doorbuster
