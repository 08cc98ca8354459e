#include "http/stream_room.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace doorbuster {
namespace {

const BuyerId alice("alice"), bob("bob"), carol("carol");

TEST(StreamRoom, OneBuyerHasNoMoreThanTheirOwn) {
    StreamRoom room({.streams_max = 10, .streams_per_buyer_max = 2});
    EXPECT_TRUE(room.take(alice));
    EXPECT_TRUE(room.take(alice));
    EXPECT_FALSE(room.take(alice));
    EXPECT_EQ(room.streams(), 2u) << "what was refused takes nothing";
    EXPECT_TRUE(room.take(bob));
    room.give_back(alice);
    EXPECT_TRUE(room.take(alice));
}

TEST(StreamRoom, AllTogetherHaveNoMoreThanTheHouse) {
    StreamRoom room({.streams_max = 2, .streams_per_buyer_max = 2});
    EXPECT_TRUE(room.take(alice));
    EXPECT_TRUE(room.take(bob));
    EXPECT_FALSE(room.take(carol));
    room.give_back(bob);
    EXPECT_TRUE(room.take(carol));
}

TEST(StreamRoom, BoundsHoldWhenGatesTakeAtOnce) {
    StreamRoom room({.streams_max = 50, .streams_per_buyer_max = 30});
    std::atomic<uint32_t> taken{0}, taken_by_alice{0};
    std::vector<std::thread> gates;
    for (int gate = 0; gate < 4; ++gate) {
        gates.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                if (room.take(alice)) ++taken, ++taken_by_alice;
                if (room.take(bob)) ++taken;
                if (room.take(carol)) {
                    room.give_back(carol);
                }
            }
        });
    }
    for (std::thread& gate : gates) gate.join();
    EXPECT_EQ(taken, 50u);
    EXPECT_LE(taken_by_alice, 30u);
    EXPECT_EQ(room.streams(), 50u);
}

}  // namespace
}  // namespace doorbuster
