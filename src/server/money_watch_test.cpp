#include "server/money_watch.hpp"

#include <gtest/gtest.h>

#include "orders/money_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

struct WatchedShop : Shop {
    WatchedShop() : Shop(StockPolicy::reserve, 10) {}

    MoneyFigures look() {
        pass(1s);
        EXPECT_TRUE(watch.step(now, uptime).has_value());
        return scrape();
    }
    MoneyFigures scrape() {
        MoneyFigures figures;
        const uint64_t behind = reader->read_after(*orders->reader().position(), 100)->size();
        watch.describe(figures, behind, now);
        return figures;
    }

    MoneyWatch watch{orders->reader(), *reader, process->desk, process->tally};
};

TEST(MoneyWatch, TheLedgersLagIsTheAgeOfTheOldestAcceptanceThatIsNoOrder) {
    WatchedShop shop;
    EXPECT_EQ(shop.look().ledger_lag_seconds, 0);
    shop.press(1, alice);
    shop.pass(40s);
    shop.press(2, bob);
    shop.pass(9s);
    EXPECT_EQ(shop.look().ledger_lag_seconds, 50) << "however late somebody looks";
    shop.work();
    EXPECT_EQ(shop.scrape().ledger_lag_seconds, 0) << "although nobody has looked again";
    EXPECT_EQ(shop.look().ledger_lag_seconds, 0);
}

TEST(MoneyWatch, ABacklogThatMovesIsAsYoungAsItsOldest) {
    WatchedShop shop;
    for (uint32_t i = 1; i <= 9; ++i) {
        shop.press(i, BuyerId("buyer-" + std::to_string(i)));
        EXPECT_EQ(shop.look().ledger_lag_seconds, 1) << "there is always one that waits, never for long";
        shop.work();
    }
}

TEST(MoneyWatch, TellsHowOftenARefundWasAskedForInVain) {
    WatchedShop shop;
    const OrderId order = shop.buy(1, alice);
    const PaymentId payment = shop.begin(order, alice);
    shop.provider.capture(payment);
    EXPECT_TRUE(*shop.process->desk.hint("evt-1", payment, shop.now));
    shop.settle_now();
    EXPECT_EQ(shop.look().refund_asks_max, 0u);
    shop.provider.reachable = false;
    shop.process->desk.refund(order, false, "not as described", shop.now, shop.keep_order());
    EXPECT_EQ(shop.look().refund_asks_max, 0u);
    shop.run_for(1h, 10s);
    EXPECT_GT(shop.look().refund_asks_max, 10u);
    shop.provider.reachable = true;
    shop.run_for(15min, 10s);
    EXPECT_EQ(shop.state(order), OrderState::refunded);
    EXPECT_EQ(shop.look().refund_asks_max, 0u);
}

}  // namespace
}  // namespace doorbuster
