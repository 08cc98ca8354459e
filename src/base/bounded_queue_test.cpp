#include "base/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace doorbuster {
namespace {

TEST(BoundedQueue, RefusesWhenFullAndLosesNothing) {
    BoundedQueue<int> queue(4);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.try_push(int{i}));
    EXPECT_FALSE(queue.try_push(99));
    EXPECT_EQ(queue.size(), 4u);
    int taken = -1;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(queue.pop(taken));
        EXPECT_EQ(taken, i);
    }
    EXPECT_FALSE(queue.pop(taken));
    EXPECT_TRUE(queue.try_push(5));
}

TEST(BoundedQueue, ManyPuttersKeepTheirOwnOrderAndEveryValue) {
    constexpr int putters = 4, each = 20'000;
    BoundedQueue<std::pair<int, int>> queue(64);
    std::vector<std::jthread> threads;
    for (int putter = 0; putter < putters; ++putter) {
        threads.emplace_back([&queue, putter] {
            for (int i = 0; i < each;) {
                if (queue.try_push({putter, i})) {
                    ++i;
                } else {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::vector<int> next(putters, 0);
    std::pair<int, int> taken;
    for (int count = 0; count < putters * each;) {
        if (!queue.pop(taken)) {
            std::this_thread::yield();
            continue;
        }
        ++count;
        ASSERT_EQ(taken.second, next[taken.first]++);
    }
    EXPECT_FALSE(queue.pop(taken));
}

}  // namespace
}  // namespace doorbuster
