#include "store_cluster/pg_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "sale/testing.hpp"
#include "store_cluster/pg_pool.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using pg::Connection;
using pg::Failure;
using pg::Params;
using pg::Rows;
using pg::Transaction;
using testing::TestDatabase;

template <class Body>
StoreError failure_of(Body&& body) {
    const auto done = pg::guarded("a test", body);
    EXPECT_TRUE(done.has_error());
    return done ? StoreError{} : done.error();
}

TEST(PgValues, WhatGoesInComesOutAlsoInArraysWithGaps) {
    TestDatabase database;
    Connection connection(database.options());
    pg::Integers integers;
    integers.push(int64_t{-5});
    integers.push(std::optional<int64_t>());
    integers.push(INT64_MAX);
    pg::Texts texts;
    texts.push("王小明");
    texts.push("");
    texts.push_or_null("");
    pg::Uuids uuids;
    uuids.push(testing::purchase(7));
    uuids.push(std::optional<PurchaseId>());
    uuids.push(testing::purchase(9));
    const Rows rows =
        connection.run("SELECT a, b, c FROM unnest($1::bigint[], $2::text[], $3::uuid[]) AS t(a, b, c)",
                       Params().add(integers).add(texts).add(uuids));
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].integer(0), -5);
    EXPECT_TRUE(rows[1].is_null(0));
    EXPECT_EQ(rows[2].integer(0), INT64_MAX);
    EXPECT_EQ(rows[0].text(1), "王小明");
    EXPECT_FALSE(rows[1].is_null(1));
    EXPECT_TRUE(rows[2].is_null(1));
    EXPECT_EQ(rows[0].purchase(2), testing::purchase(7));
    EXPECT_EQ(rows[1].purchase_or_none(2), std::nullopt);
    EXPECT_TRUE(connection.run("SELECT unnest($1::bigint[])", Params().add(pg::Integers())).empty());
}

TEST(PgValues, OnlyWhatATextColumnTakesIsStorable) {
    TestDatabase database;
    Connection connection(database.options());
    const std::vector<std::string> texts = {
        "",     "alice",    "王小明",       "\xf0\x9f\x8e\x81", std::string("a\0b", 3), "\xff",
        "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",     "\xf4\x90\x80\x80"};
    for (const std::string& text : texts) {
        const auto kept =
            pg::guarded("a test", [&] { connection.run("SELECT $1::text", Params().add(text)); });
        EXPECT_EQ(pg::is_storable(text), kept.has_value()) << text;
    }
}

TEST(PgConnection, AFailureTellsWhatKindItIs) {
    TestDatabase database;
    Connection connection(database.options());
    EXPECT_EQ(failure_of([&] { connection.run("SELECT * FROM nowhere"); }).code, StoreErrc::damaged);
    EXPECT_EQ(failure_of([&] { connection.run("INSERT INTO notifier(position) VALUES(1)"); }).code,
              StoreErrc::not_allowed);
    const auto read_only = failure_of([&] {
        const Transaction transaction(connection, Transaction::Kind::read_one_moment);
        connection.run("DELETE FROM settings");
    });
    EXPECT_EQ(read_only.code, StoreErrc::read_only);
    EXPECT_FALSE(read_only.outcome_unknown);
    auto elsewhere = database.options();
    elsewhere.url += "-not-there";
    EXPECT_EQ(failure_of([&] { Connection unreachable(elsewhere); }).code, StoreErrc::unavailable);
}

TEST(PgConnection, BehindAFailedStatementNothingRunsAndTheConnectionGoesOn) {
    TestDatabase database;
    Connection connection(database.options());
    {
        const Transaction transaction(connection);
        connection.queue("INSERT INTO settings VALUES('one', '')");
        connection.queue("INSERT INTO notifier(position) VALUES(1)");
        connection.queue("INSERT INTO settings VALUES('two', '')");
        EXPECT_THROW(connection.settle(), Failure);
        EXPECT_THROW(connection.run("SELECT 1::bigint"), Failure) << "the transaction is over";
    }
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM settings"), 0);
    Transaction transaction(connection);
    connection.queue("INSERT INTO settings VALUES('two', '')");
    transaction.commit();
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM settings"), 1);
}

TEST(PgConnection, ACommitOfAFailedTransactionIsNoSuccess) {
    TestDatabase database;
    Connection connection(database.options());
    Transaction transaction(connection);
    EXPECT_THROW(connection.run("SELECT * FROM nowhere"), Failure);
    const auto failed = failure_of([&] { transaction.commit(); });
    EXPECT_FALSE(failed.outcome_unknown) << "the server has said so";
}

TEST(PgConnection, AStatementHasItsTime) {
    TestDatabase database;
    auto options = database.options();
    options.statement_max = 3s;
    Connection connection(options);
    EXPECT_EQ(failure_of([&] { connection.run("SELECT pg_sleep(600)"); }).code, StoreErrc::unavailable);
    EXPECT_EQ(connection.read_integer("SELECT 7::bigint"), 7) << "and the connection goes on";
}

TEST(PgConnection, AServerThatDoesNotAnswerIsGivenUp) {
    TestDatabase database;
    auto options = database.options();
    options.answer_max = 3s;
    Connection connection(options);
    EXPECT_EQ(failure_of([&] { connection.run("SELECT pg_sleep(600)"); }).code, StoreErrc::unavailable);
    EXPECT_TRUE(connection.is_broken());

    // One that takes the connection and says nothing.
    const std::string folder = testing::postgres().folder() + "/silent";
    std::filesystem::create_directory(folder);
    const int silent = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(address.sun_path, (folder + "/.s.PGSQL.5432").c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(silent, 1), 0);
    pg::ConnectionOptions dead{.url = "host=" + folder + " user=doorbuster", .connect_max = 20ms};
    EXPECT_EQ(failure_of([&] { Connection unreachable(dead); }).code, StoreErrc::unavailable);
    close(silent);
    std::filesystem::remove_all(folder);
}

TEST(PgConnection, ACommitIsDurableWhateverTheServerIsSetTo) {
    TestDatabase database;
    auto options = database.options();
    options.url += " options='-c synchronous_commit=off'";
    Connection connection(options);
    EXPECT_EQ(connection.run("SHOW synchronous_commit").front().text(0), "on");
    EXPECT_EQ(connection.run("SHOW transaction_isolation").front().text(0), "read committed");
}

TEST(PgPool, KeepsItsConnectionsAndClosesTheOthers) {
    TestDatabase database;
    pg::Pool pool({.connection = database.options(), .connections = 2, .overflow_max = 1});
    ASSERT_TRUE(pool.warm().has_value());
    EXPECT_EQ(pool.open(), 2u);
    {
        const auto one = pool.take(), two = pool.take(), three = pool.take();
        EXPECT_EQ(pool.open(), 3u);
    }
    EXPECT_EQ(pool.open(), 2u);
}

TEST(PgPool, WhoFindsAllBusyWaitsOnlySoLong) {
    TestDatabase database;
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 0, .wait_max = 10ms});
    std::optional<pg::Pool::Handle> held(pool.take());
    EXPECT_EQ(failure_of([&] { pool.take(); }).code, StoreErrc::unavailable);
    held.reset();
    EXPECT_EQ(pool.take()->read_integer("SELECT 1::bigint"), 1);
}

TEST(PgPool, ABrokenConnectionIsReplaced) {
    TestDatabase database;
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 1});
    {
        const auto victim = pool.take();
        const auto other = pool.take();
        other->run("SELECT pg_terminate_backend($1::bigint::int, 60000)",
                   Params().add(victim->server_process()));
        EXPECT_EQ(victim->read_integer("SELECT 1::bigint"), 1) << "it was idle: nothing was lost";
    }
    EXPECT_EQ(pool.open(), 1u);
}

}  // namespace
}  // namespace doorbuster
