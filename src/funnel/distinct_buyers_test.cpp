#include "funnel/distinct_buyers.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <barrier>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/hash.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

constexpr Uptime t0 = 1000s;

uint64_t hashed(uint64_t number) {
    return seeded_hash({reinterpret_cast<const char*>(&number), sizeof number}, 42);
}

class Places : public ::testing::Test {
protected:
    bool enter(uint64_t at, uint64_t buyer, uint32_t buyers_max, Uptime now) {
        return buyers.enter(hashed(at), hashed(1'000'000 + buyer), buyers_max, now).passes;
    }
    DistinctBuyers buyers{1024, 60s};
};

TEST_F(Places, TheFirstBuyersPassAndKeepPassing) {
    for (const uint32_t places : {1u, 3u, 8u, 9u, 20u, 64u}) {
        for (int round = 0; round < 3; ++round) {
            for (uint64_t buyer = 0; buyer < places; ++buyer) EXPECT_TRUE(enter(places, buyer, places, t0));
            EXPECT_FALSE(enter(places, places, places, t0));
        }
        EXPECT_TRUE(enter(100 + places, places, places, t0)) << "another address, or another sale";
    }
}

TEST_F(Places, APlaceIsFreeWhenItsBuyerHasNotBeenSeenForAWhile) {
    EXPECT_TRUE(enter(1, 0, 2, t0));
    EXPECT_TRUE(enter(1, 1, 2, t0));
    EXPECT_TRUE(enter(1, 1, 2, t0 + 50s));
    EXPECT_FALSE(enter(1, 2, 2, t0 + 60s));
    const Decision refused = buyers.enter(hashed(1), hashed(7), 2, t0 + 55s);
    EXPECT_EQ(refused.retry_after, 6s);
    EXPECT_TRUE(enter(1, 2, 2, t0 + 61s));
    EXPECT_FALSE(enter(1, 0, 2, t0 + 61s)) << "its place has gone to another";
    EXPECT_TRUE(enter(1, 1, 2, t0 + 61s));
}

TEST_F(Places, ALowerLimitSendsNobodyOfTheSameBlockAway) {
    for (uint64_t buyer = 0; buyer < 5; ++buyer) EXPECT_TRUE(enter(1, buyer, 5, t0));
    for (uint64_t buyer = 0; buyer < 5; ++buyer) EXPECT_TRUE(enter(1, buyer, 2, t0));
    EXPECT_FALSE(enter(1, 5, 2, t0));
    EXPECT_TRUE(enter(1, 5, 6, t0));
}

TEST_F(Places, SaysHowManyAreLeft) {
    EXPECT_EQ(buyers.enter(hashed(1), hashed(1), 3, t0).remaining, 2u);
    EXPECT_EQ(buyers.enter(hashed(1), hashed(2), 3, t0).remaining, 1u);
    EXPECT_EQ(buyers.enter(hashed(1), hashed(3), 3, t0).remaining, 0u);
}

TEST_F(Places, MoreThanThereArePlacesIsAsManyAsThereAre) {
    uint32_t passes = 0;
    for (uint64_t buyer = 0; buyer < 200; ++buyer) passes += enter(1, buyer, 1000, t0);
    EXPECT_EQ(passes, DistinctBuyers::places_max);
}

TEST_F(Places, AFloodOfAddressesTakesNoMemoryAndFreesNoPlace) {
    const size_t bytes = buyers.memory_bytes();
    EXPECT_TRUE(enter(0, 0, 1, t0));
    for (uint64_t at = 1; at < 200'000; ++at) (void)enter(at, at, 1, t0 + Uptime(at));
    EXPECT_FALSE(enter(0, 1, 1, t0 + 1s));
    EXPECT_TRUE(enter(0, 0, 1, t0 + 1s));
    EXPECT_GT(buyers.overflowed_total(), 0u);
    EXPECT_EQ(buyers.memory_bytes(), bytes);
}

RC_GTEST_PROP(DistinctBuyers, OverSeveralBlocksNeverLetsInMoreAndKeepsWhoIsIn, ()) {
    DistinctBuyers buyers(64, 10s);
    std::map<uint64_t, int64_t> seen_s;
    const auto places = *rc::gen::inRange<uint32_t>(9, 30);
    int64_t now_s = 1000;
    for (int i = *rc::gen::inRange(1, 400); i > 0; --i) {
        now_s += *rc::gen::inRange(0, 8) == 0;
        std::erase_if(seen_s, [&](const auto& seen) { return seen.second + 10 < now_s; });
        const auto buyer = *rc::gen::inRange<uint64_t>(0, 40);
        const bool passes =
            buyers.enter(hashed(1), hashed(buyer), places, std::chrono::seconds(now_s)).passes;
        if (seen_s.contains(buyer)) RC_ASSERT(passes);
        if (passes) seen_s[buyer] = now_s;
        RC_ASSERT(seen_s.size() <= places);
    }
}

RC_GTEST_PROP(DistinctBuyers, AgreesWithAListOfWhoWasSeenWhen, ()) {
    DistinctBuyers buyers(64, 10s);
    std::map<uint64_t, int64_t> seen_s;  // one key, its buyers
    const auto places = *rc::gen::inRange<uint32_t>(1, 6);
    int64_t now_s = 1000;
    for (int i = *rc::gen::inRange(1, 300); i > 0; --i) {
        now_s += *rc::gen::inRange(0, 3);
        std::erase_if(seen_s, [&](const auto& seen) { return seen.second + 10 < now_s; });
        const auto buyer = *rc::gen::inRange<uint64_t>(0, 9);
        const bool expected = seen_s.contains(buyer) || seen_s.size() < places;
        RC_ASSERT(buyers.enter(hashed(1), hashed(buyer), places, std::chrono::seconds(now_s)).passes ==
                  expected);
        if (expected) seen_s[buyer] = now_s;
    }
}

TEST_F(Places, FourThreadsLetInExactlySoManyDistinctBuyers) {
    constexpr uint64_t rounds = 500;
    std::array<std::vector<std::set<uint64_t>>, 4> passed;
    std::barrier together(4);
    {
        std::vector<std::jthread> threads;
        for (uint64_t i = 0; i < 4; ++i) {
            passed[i].resize(rounds);
            threads.emplace_back([&, i] {
                for (uint64_t at = 0; at < rounds; ++at) {
                    together.arrive_and_wait();
                    for (uint64_t buyer = i * 10; buyer < i * 10 + 10; ++buyer) {
                        if (enter(at, buyer, 8, t0)) passed[i][at].insert(buyer);
                    }
                }
            });
        }
    }
    for (uint64_t at = 0; at < rounds; ++at) {
        std::set<uint64_t> all;
        for (const auto& of_thread : passed) all.insert(of_thread[at].begin(), of_thread[at].end());
        EXPECT_EQ(all.size(), 8u) << at;
    }
}

}  // namespace
}  // namespace doorbuster
