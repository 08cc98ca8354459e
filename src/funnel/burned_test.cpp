#include "funnel/burned.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

// Marks come from signatures: spread like a good hash.
uint64_t mark(uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
    return number ^ (number >> 31);
}

TEST(Burned, TheFirstAnswerIsTheOnlyOne) {
    Burned burned(64);
    EXPECT_EQ(burned.burn(mark(1), t0 + 5min), Burn::first);
    EXPECT_EQ(burned.burn(mark(1), t0 + 5min), Burn::again);
    EXPECT_EQ(burned.burn(mark(2), t0 + 5min), Burn::first);
    EXPECT_EQ(burned.burn(mark(1), t0 + 5min), Burn::again);
}

TEST(Burned, FullIsToldAndForgetsNobody) {
    Burned burned(64);
    for (uint64_t i = 0; i < 64; ++i) ASSERT_EQ(burned.burn(mark(i), t0 + 5min), Burn::first) << i;
    EXPECT_EQ(burned.burn(mark(64), t0 + 5min), Burn::full);
    EXPECT_EQ(burned.burn(mark(64), t0 + 5min), Burn::full);
    EXPECT_EQ(burned.full_total(), 2u);
    for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(burned.burn(mark(i), t0 + 5min), Burn::again) << i;
}

TEST(Burned, RoomComesBackWhenWhatStandsInItHasExpired) {
    Burned burned(64);
    for (uint64_t i = 0; i < 64; ++i) ASSERT_EQ(burned.burn(mark(i), t0 + 5min), Burn::first);
    // Issued when those had just been: they are good still.
    EXPECT_EQ(burned.burn(mark(100), t0 + 5min + 1s), Burn::full);
    // Issued when the last of those had expired, give or take a slice and the skew.
    for (uint64_t i = 0; i < 64; ++i) ASSERT_EQ(burned.burn(mark(200 + i), t0 + 13min), Burn::first) << i;
    EXPECT_EQ(burned.burn(mark(300), t0 + 13min), Burn::full);
}

TEST(Burned, NoMarkIsForgottenWhileItsCheckIsGood) {
    // Marks of every age compete for a table that is always full.
    Burned burned(64);
    struct Entry {
        uint64_t mark;
        Instant expires_at;
    };
    std::vector<Entry> entries;
    uint64_t next = 0;
    size_t full = 0;
    for (Instant now = t0; now < t0 + 60min; now += 1s) {
        for (int i = 0; i < 2; ++i) {
            const Entry entry{mark(++next), now + Burned::life_max};
            const Burn burn = burned.burn(entry.mark, entry.expires_at);
            ASSERT_NE(burn, Burn::again);
            if (burn == Burn::first) entries.push_back(entry);
            full += burn == Burn::full;
        }
        for (const Entry& entry : entries) {
            if (now < entry.expires_at) {
                ASSERT_EQ(burned.burn(entry.mark, entry.expires_at), Burn::again);
            }
        }
    }
    EXPECT_GT(full, 1000u);
    EXPECT_GT(entries.size(), 5 * 64u) << "room came back several times";
}

TEST(Burned, ExactlyOneOfManyThreadsIsFirst) {
    constexpr size_t threads = 8, checks = 100'000, slots = 262'144;
    Burned burned(slots);
    // Old marks in the way, so that taking over is raced for, too.
    for (uint64_t i = 0; i < slots / 2; ++i) {
        static_cast<void>(burned.burn(mark(1'000'000 + i), t0 - 60min));
    }
    std::vector<std::atomic<uint32_t>> firsts(checks);
    std::atomic<size_t> ready{0};
    std::vector<std::thread> crowd;
    for (size_t t = 0; t < threads; ++t) {
        crowd.emplace_back([&] {
            ready.fetch_add(1);
            while (ready.load() < threads) std::this_thread::yield();
            // All in the same order: whoever is behind catches up where marks already stand, and
            // then they meet at every slot.
            for (size_t check = 0; check < checks; ++check) {
                const Instant expires_at = t0 + std::chrono::seconds(check % 280);
                const Burn burn = burned.burn(mark(check), expires_at);
                if (burn == Burn::first) firsts[check].fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    for (std::thread& thread : crowd) thread.join();
    for (size_t check = 0; check < checks; ++check) ASSERT_EQ(firsts[check].load(), 1u) << check;
    EXPECT_EQ(burned.full_total(), 0u);
}

}  // namespace
}  // namespace doorbuster
