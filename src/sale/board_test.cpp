#include "sale/board.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(ItemBoard, TheFlagFollowsTheLastUnitAndCountsItsChanges) {
    ItemBoard board;
    board.show({1, 1, 0, 0});
    EXPECT_FALSE(board.sold_out());
    const uint64_t before = board.sold_out_version();
    board.show({1, 0, 1, 0});
    EXPECT_TRUE(board.sold_out());
    board.show({1, 0, 0, 1});
    EXPECT_EQ(board.sold_out_version(), before + 1) << "no change, no count";
    board.show({2, 1, 0, 1});
    EXPECT_FALSE(board.sold_out()) << "a restock clears it";
    EXPECT_EQ(board.sold_out_version(), before + 2);
}

TEST(ItemBoard, FullOrdersAreShownBesideTheStockAndClearTheSameWay) {
    ItemBoard board;
    board.show({2, 2, 0, 0}, true);
    EXPECT_TRUE(board.orders_full());
    EXPECT_FALSE(board.sold_out()) << "units are left";
    board.show({2, 2, 0, 0}, false);
    EXPECT_FALSE(board.orders_full());
}

TEST(ItemBoard, WhatWasHeardFromElsewhereStandsUntilItsEndWhoeverSleeps) {
    static int64_t now_ns;
    const auto clock = [] { return now_ns; };
    ItemBoard board;
    now_ns = 100;
    board.show_flags_until({.sold_out = true, .orders_full = true}, clock, 150);
    EXPECT_TRUE(board.sold_out());
    EXPECT_TRUE(board.orders_full());
    now_ns = 150;
    EXPECT_FALSE(board.sold_out());
    EXPECT_FALSE(board.orders_full());
    board.show_flags_until({.sold_out = true}, clock, 200);
    EXPECT_TRUE(board.sold_out()) << "it was heard again";
    EXPECT_FALSE(board.orders_full());
}

TEST(ItemBoard, AReaderNeverSeesHalfAChange) {
    ItemBoard board;
    board.show({1000, 1000, 0, 0});
    std::jthread writer([&board](std::stop_token stop) {
        for (uint32_t i = 0; !stop.stop_requested(); i = (i + 1) % 1001) board.show({1000, 1000 - i, i, 0});
    });
    for (int i = 0; i < 200'000; ++i) {
        const Stock stock = board.stock();
        ASSERT_EQ(stock.units_available + stock.units_held + stock.units_sold, stock.units_total);
    }
}

TEST(Fingerprints, WhatWasAddedIsAlwaysFoundAlsoWhileTheTableGrows) {
    Fingerprints prints;
    constexpr uint32_t count = 20'000;
    std::atomic<uint32_t> added{0};
    std::jthread writer([&] {
        for (uint32_t i = 0; i < count; ++i) {
            prints.add(SeededHash{}(purchase(i)));
            added.store(i + 1, std::memory_order_release);
        }
    });
    for (uint32_t seen = 0; seen < count;) {
        seen = added.load(std::memory_order_acquire);
        for (uint32_t i = 0; i < seen; i += 1 + seen / 64)
            ASSERT_TRUE(prints.perhaps_contains(SeededHash{}(purchase(i))));
    }
    for (uint32_t i = 0; i < count; ++i) ASSERT_TRUE(prints.perhaps_contains(SeededHash{}(purchase(i))));
}

TEST(Fingerprints, WhatWasNotAddedIsNotFound) {
    Fingerprints prints;
    for (uint32_t i = 0; i < 1000; ++i) prints.add(SeededHash{}(purchase(i)));
    for (uint32_t i = 1000; i < 2000; ++i) EXPECT_FALSE(prints.perhaps_contains(SeededHash{}(purchase(i))));
}

}  // namespace
}  // namespace doorbuster
