#include "orders/orders_thread.hpp"

#include <gtest/gtest.h>

#include <future>

#include "sale/testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

struct DeafBooks final : BookControl {
    void control(ControlCommand, std::function<void()> applied) override {
        if (applied) applied();
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};

class OrdersThreadTest : public ::testing::Test {
protected:
    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    MonotonicClock clock;
    std::atomic<int> turns{0}, failures{0};
    const StoreError trouble{StoreErrc::unavailable, "testing", "away"};
};

TEST_F(OrdersThreadTest, AFailureThatWasMendedLetsEverybodyGoOn) {
    std::promise<void> went_on;
    OrdersThread thread(*orders, nullptr, clock, 16, [&](const StoreError&) {
        ++failures;
        return true;
    });
    thread.also_run([&](Instant, Uptime) -> StoreResult<bool> {
        if (++turns == 1) return trouble;
        if (turns == 2) went_on.set_value();
        return false;
    });
    thread.start();
    went_on.get_future().wait();
    thread.stop(0ms);
    EXPECT_EQ(failures, 1);
}

TEST_F(OrdersThreadTest, AfterOneThatWasNotOnlyTasksAreRun) {
    std::promise<void> failed;
    OrdersThread thread(*orders, nullptr, clock, 16, [&](const StoreError&) {
        failed.set_value();
        return false;
    });
    thread.also_run([&](Instant, Uptime) -> StoreResult<bool> {
        ++turns;
        return trouble;
    });
    thread.start();
    failed.get_future().wait();
    for (int i = 0; i < 3; ++i) {
        std::promise<void> ran;
        ASSERT_TRUE(thread.post([&] { ran.set_value(); }));
        ran.get_future().wait();
    }
    thread.stop(0ms);
    EXPECT_EQ(turns, 1);
}

TEST_F(OrdersThreadTest, OneTaskTooManyIsRefusedAndAnAnswerNever) {
    std::promise<void> begun, go_on;
    OrdersThread thread(*orders, nullptr, clock, 1, [](const StoreError&) { return false; });
    ASSERT_TRUE(thread.post([&] {
        begun.set_value();
        go_on.get_future().wait();
    }));
    thread.start();
    begun.get_future().wait();
    std::atomic<int> ran{0};
    EXPECT_TRUE(thread.post([&] { ++ran; }));
    EXPECT_FALSE(thread.post([&] { ++ran; }));
    thread.post_answer([&] { ++ran; });
    go_on.set_value();
    thread.stop(0ms);
    EXPECT_EQ(ran, 2);
}

// The owner's thread tells that the ledger has grown; the worker goes at the pace of a rush then.
TEST_F(OrdersThreadTest, TheWorkerHearsThatTheLedgerHasGrown) {
    ASSERT_TRUE(orders->create_sale(phone_drop(100), SaleState::open, t0).has_value());
    const auto ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    const auto reader = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    std::vector<LedgerEntry> entries;
    for (uint32_t i = 1; i <= 50; ++i) entries.push_back(entry(i, BuyerId("buyer-" + std::to_string(i))));
    ASSERT_TRUE(ledger->append(entries).has_value());
    DeafBooks books;
    Snowflake ids(1);
    // At the pace of a rush all of it would take most of a minute.
    OrderWorker worker(*reader, *orders, books, ids,
                       {.rate_per_second_max = 1000, .rate_per_second_in_rush = 1});
    ASSERT_TRUE(worker.load().has_value());
    OrdersThread thread(*orders, &worker, clock, 16, [](const StoreError&) { return false; });
    std::promise<void> placed_one;
    thread.also_run([&](Instant, Uptime) -> StoreResult<bool> {
        thread.ledger_grew();  // purchases come in all the time
        if (worker.ordered() > 0 && ++turns == 1) placed_one.set_value();
        return false;
    });
    thread.ledger_grew();
    thread.start();
    placed_one.get_future().wait();
    EXPECT_LT(worker.ordered(), 50u);
    thread.stop(1min);
    EXPECT_EQ(worker.ordered(), 50u) << "whoever wants to end does not hold back";
}

}  // namespace
}  // namespace doorbuster
