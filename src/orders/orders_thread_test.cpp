#include "orders/orders_thread.hpp"

#include <gtest/gtest.h>

#include <future>

#include "sale/testing.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace doorbuster
