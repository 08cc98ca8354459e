// Connections that break at the worst moment, and servers that go away.
#include <gtest/gtest.h>

#include <thread>

#include "store/contract_testing.hpp"
#include "store_cluster/cutting_proxy_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class PostgresUnknown : public ::testing::Test {
protected:
    PostgresUnknown() {
        EXPECT_TRUE(orders->create_sale(phone_drop(10, 3), SaleState::scheduled, t0).has_value());
    }
    void expect_unknown(CuttingProxy::Cut cut) {
        CuttingProxy proxy(cut);
        auto opened = PostgresOrders::open(proxy.options(database));
        ASSERT_TRUE(opened.has_value()) << opened.error().text();
        PostgresOrders& through = **opened;
        const auto placed = through.place(0, batch, t0);
        ASSERT_TRUE(proxy.has_cut());
        ASSERT_FALSE(placed.has_value());
        EXPECT_EQ(placed.error().code, StoreErrc::unavailable);
        EXPECT_TRUE(placed.error().outcome_unknown);
        ASSERT_TRUE(through.failure().has_value());
        EXPECT_TRUE(through.place(0, batch, t0).error().outcome_unknown) << "it is not tried again blindly";
        EXPECT_TRUE(through.settings().put("a", "b").has_error()) << "nor is anything else written";
        // A read tells.
        const auto found = through.reader().find_purchase(purchase(1));
        ASSERT_TRUE(found.has_value()) << found.error().text();
        const bool has_landed = cut == CuttingProxy::Cut::after_it_landed;
        EXPECT_EQ(found->has_value(), has_landed);
        EXPECT_EQ(*through.reader().position(), has_landed ? 1u : 0u);
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    const std::vector<Placement> batch{placement(1, entry(1))};
};

TEST_F(PostgresUnknown, ACommitWhoseAnswerIsLostIsUnknownAndHadLanded) {
    expect_unknown(CuttingProxy::Cut::after_it_landed);
    // Who opens the store anew goes on behind it.
    EXPECT_EQ(orders->place(0, batch, t0).error().code, StoreErrc::conflict);
    const auto again = orders->place(1, std::vector{placement(2, entry(1))}, t0);
    EXPECT_EQ(again->front(), Placed::known_before);
}

TEST_F(PostgresUnknown, ACommitThatNeverArrivedIsUnknownAndHadNotLanded) {
    expect_unknown(CuttingProxy::Cut::before_it_lands);
    EXPECT_EQ(orders->place(0, batch, t0)->front(), Placed::ordered);
}

// The server says "COMMIT" all the same, with a warning that nobody is to overhear.
TEST_F(PostgresUnknown, ACommitThatNoStandbyConfirmsIsUnknown) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    auto is_time = [&] { return std::chrono::steady_clock::now() < deadline; };
    pg::Connection server(database.options());
    server.run_script("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    server.run("SELECT pg_reload_conf()");
    StoreResult<void> put;
    // The server reads its configuration when it gets round to it: until then a commit goes through.
    std::thread putting([&] {
        while (put.has_value() && is_time()) put = orders->settings().put("level", "closed");
    });
    while (server.run("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
               .empty() &&
           is_time()) {
    }
    putting.join();
    server.run_script("ALTER SYSTEM RESET synchronous_standby_names");
    server.run("SELECT pg_reload_conf()");
    ASSERT_TRUE(put.has_error());
    EXPECT_TRUE(put.error().outcome_unknown) << put.error().text();
    EXPECT_NE(put.error().detail.find("standby"), std::string::npos) << put.error().text();
    EXPECT_EQ(*orders->settings().get("level"), "closed") << "here it is; the next primary may not have it";
    // The others' commits wait for nobody again.
    auto options = database.options();
    options.answer_max = 1s;
    for (bool is_done = false; !is_done && is_time();) {
        const auto store = PostgresOrders::open(options);
        is_done = store.has_value() && (*store)->settings().put("level", "auto").has_value();
    }
}

TEST_F(PostgresUnknown, WhatIsCutOffBeforeItsCommitHasNotHappenedAndMayBeTriedAgain) {
    pg::Connection other(database.options());
    std::optional<pg::Transaction> blocking(std::in_place, other);
    other.run("SELECT version FROM items FOR UPDATE");
    StoreResult<std::vector<Placed>> placed;
    std::thread placing([&] { placed = orders->place(0, batch, t0); });
    // It waits for the row: then its connection is taken from it.
    pg::Connection watching(database.options());
    watching.run("SELECT pg_terminate_backend($1::bigint::int)", pg::Params().add(await_blocked(watching)));
    placing.join();
    ASSERT_FALSE(placed.has_value());
    EXPECT_EQ(placed.error().code, StoreErrc::unavailable);
    EXPECT_FALSE(placed.error().outcome_unknown);
    EXPECT_EQ(orders->failure(), std::nullopt);
    blocking.reset();
    EXPECT_EQ(orders->place(0, batch, t0)->front(), Placed::ordered);
}

TEST_F(PostgresUnknown, AServerThatWasRestartedIsFoundAgain) {
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 0});
    PostgresOrdersReader reader(pool);
    EXPECT_EQ(*reader.position(), 1u);
    postgres().stop();
    const auto meanwhile = orders->place(1, std::vector{placement(2, entry(2))}, t0);
    ASSERT_FALSE(meanwhile.has_value());
    EXPECT_EQ(meanwhile.error().code, StoreErrc::unavailable);
    EXPECT_FALSE(meanwhile.error().outcome_unknown);
    EXPECT_EQ(reader.position().error().code, StoreErrc::unavailable);
    postgres().start();
    EXPECT_EQ(orders->place(1, std::vector{placement(2, entry(2))}, t0)->front(), Placed::ordered);
    EXPECT_EQ(*reader.position(), 2u);
}

TEST_F(PostgresUnknown, OneMomentDoesNotGoOnOverAnotherConnection) {
    pg::Connection other(database.options());
    const auto read = orders->reader().at_one_moment([&]() -> StoreResult<void> {
        EXPECT_TRUE(orders->reader().sales().has_value());
        other.run(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid != pg_backend_pid()");
        for (int i = 0; i < 2; ++i) EXPECT_FALSE(orders->reader().sales().has_value());
        return {};
    });
    EXPECT_TRUE(orders->reader().sales().has_value()) << "and later ones do";
}

}  // namespace
}  // namespace doorbuster
