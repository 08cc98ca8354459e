#include "funnel/limiter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "base/hash.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using enum LimitPolicy::Kind;

constexpr Uptime t0 = 1000s;
constexpr uint64_t seed = 42;

uint64_t key(uint64_t number) {
    return seeded_hash({reinterpret_cast<const char*>(&number), sizeof number}, seed);
}

void on_four_threads(const std::function<void(uint32_t thread)>& body) {
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < 4; ++i) threads.emplace_back([&body, i] { body(i); });
}

TEST(Limiter, HoldsEachKeyOnItsOwn) {
    Limiter limiter({1024, 3});
    const Rate rate({sliding_window, 3, 1s});
    for (uint64_t number = 0; number < 20; ++number) {
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.take(key(number), rate, t0).passes);
        EXPECT_FALSE(limiter.take(key(number), rate, t0).passes);
    }
    EXPECT_EQ(limiter.overflowed_total(), 0u);
}

TEST(Limiter, TwoMillionKeysTakeNoMemoryAndResetNobodysLimit) {
    Limiter limiter({4096, 1});
    const Rate rate({token_bucket, 1, 60s, 2});
    const size_t bytes = limiter.memory_bytes();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(limiter.take(key(0), rate, t0).passes);
    uint64_t passes = 0;
    for (uint64_t number = 1; number <= 2'000'000; ++number) {
        passes += limiter.take(key(number), rate, t0 + Uptime(number)).passes;  // two seconds of them
        if (number % 100'000 != 0) continue;
        EXPECT_FALSE(limiter.take(key(0), rate, t0 + Uptime(number)).passes);
    }
    EXPECT_LE(passes, 4096u + 2 * 64);  // one for each own slot, the burst of each overflow entry
    EXPECT_GT(limiter.overflowed_total(), 1'990'000u);
    EXPECT_EQ(limiter.memory_bytes(), bytes);
    EXPECT_FALSE(limiter.take(key(0), rate, t0 + 59s).passes);
    EXPECT_TRUE(limiter.take(key(0), rate, t0 + 60s).passes);
}

TEST(Limiter, AfterAFloodThereIsRoomAgain) {
    Limiter limiter({1024, 1});
    const Rate rate({token_bucket, 10, 1s, 1});
    for (uint64_t number = 0; number < 10'000; ++number) (void)limiter.take(key(number), rate, t0);
    const uint64_t overflowed = limiter.overflowed_total();
    for (uint64_t number = 20'000; number < 20'200; ++number) {
        EXPECT_TRUE(limiter.take(key(number), rate, t0 + 5s).passes);
    }
    EXPECT_EQ(limiter.overflowed_total(), overflowed);
}

// Each round brings keys that are new to the table to four threads at one instant.
TEST(Limiter, FourThreadsPassExactlyTheLimitOfAKeyThatNoneHasSeenBefore) {
    Limiter limiter({65'536, 3});
    const Rate rate({sliding_window, 3, 1s});
    constexpr uint64_t rounds = 3000;
    std::vector<std::atomic<uint32_t>> passes(rounds);
    std::barrier together(4);
    on_four_threads([&](uint32_t) {
        for (uint64_t round = 0; round < rounds; ++round) {
            if (round % 16 == 0) together.arrive_and_wait();
            for (int i = 0; i < 4; ++i) passes[round] += limiter.take(key(round), rate, t0).passes;
        }
    });
    for (uint64_t round = 0; round < rounds; ++round) EXPECT_EQ(passes[round], 3u) << round;
}

// Thirty keys in eight slots, with time passing: slots change hands all the time.
TEST(Limiter, AKeyFloodOnFourThreadsLoosensNobodysLimit) {
    Limiter limiter({8, 2});
    const Rate rate({sliding_window, 2, 2s});
    struct Pass {
        uint64_t number;
        Uptime at;
    };
    std::array<std::vector<Pass>, 4> passes;
    std::barrier together(4);
    on_four_threads([&](uint32_t thread) {
        std::minstd_rand random(thread + 1);
        std::minstd_rand common(7);  // the same time for all, give or take
        Uptime now = t0;
        for (int round = 0; round < 3000; ++round) {
            together.arrive_and_wait();
            now += Uptime(common() % 3'000'000);
            const Uptime mine = now - Uptime(random() % 900'000);
            for (int i = 0; i < 8; ++i) {
                const uint64_t number = random() % 30;
                if (limiter.take(key(number), rate, mine).passes) passes[thread].push_back({number, mine});
            }
        }
    });
    std::map<uint64_t, std::vector<Uptime>> by_key;
    for (const auto& of_thread : passes) {
        for (const Pass& pass : of_thread) by_key[pass.number].push_back(pass.at);
    }
    EXPECT_EQ(by_key.size(), 30u);
    for (auto& [number, times] : by_key) {
        std::sort(times.begin(), times.end());
        for (size_t i = 2; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 2], 2s) << number;
    }
    EXPECT_GT(limiter.overflowed_total(), 0u);
}

TEST(Limiter, ATokenBucketOnFourThreadsNeverPassesMoreThanBurstAndRate) {
    Limiter limiter({1024, 1});
    const Rate rate({token_bucket, 1000, 1s, 50});
    std::atomic<uint64_t> passes{0};
    on_four_threads([&](uint32_t thread) {
        for (int64_t i = 0; i < 20'000; ++i) {
            passes += limiter.take(key(1), rate, t0 + Uptime(i * 100 + thread)).passes;  // two seconds
        }
    });
    EXPECT_LE(passes, 50u + 2000u);
    EXPECT_GE(passes, 2000u);
}

}  // namespace
}  // namespace doorbuster
