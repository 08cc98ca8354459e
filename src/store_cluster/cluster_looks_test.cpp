#include "store_cluster/cluster_looks.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

constexpr pg::BootTime t{std::chrono::hours(1)};

BookPeek::There book(uint64_t sequence_last, uint64_t reopenings, uint64_t epoch = 4) {
    BookPeek::There there{};
    there.epoch = epoch;
    there.figures.sequence_last = sequence_last;
    there.reopenings = reopenings;
    return there;
}

ReserveVerdict taken(uint64_t sequence, uint64_t reopenings, uint64_t epoch = 4) {
    return {.outcome = ReserveOutcome::accepted,
            .take = {.units = 1, .epoch = epoch, .sequence = sequence},
            .reopenings = reopenings};
}

TEST(ClusterLooks, WithoutAReopeningNothingIsNews) {
    const ClusterLooks looks;
    EXPECT_FALSE(looks.is_news(taken(1, 0), t));
}

TEST(ClusterLooks, ATakeBehindAReopeningIsNewsUntilTheReopeningWasSeenForLongEnough) {
    ClusterLooks looks;
    EXPECT_TRUE(looks.is_news(taken(2, 1), t)) << "nothing was seen yet";
    looks.saw(book(1, 0), t);
    looks.saw(book(1, 1), t + 200ms);
    EXPECT_TRUE(looks.is_news(taken(2, 1), t + 200ms + news_max - 1ms));
    EXPECT_FALSE(looks.is_news(taken(2, 1), t + 200ms + news_max));
    EXPECT_TRUE(looks.is_news(taken(2, 2), t + 200ms + news_max)) << "another one came since";
}

// It was taken between the two: flags from before the first may still be shown.
TEST(ClusterLooks, WhoRepeatsBehindASecondReopeningWaitsForTheirOwnTake) {
    ClusterLooks looks;
    looks.saw(book(1, 0), t);
    looks.saw(book(2, 1), t + 200ms);
    looks.saw(book(2, 2), t + 400ms);
    EXPECT_TRUE(looks.is_news(taken(2, 2), t + 200ms + news_max - 1ms));
    EXPECT_FALSE(looks.is_news(taken(2, 2), t + 200ms + news_max)) << "their take had been seen by then";
    EXPECT_TRUE(looks.is_news(taken(3, 2), t + 200ms + news_max));
}

TEST(ClusterLooks, WhatWasSeenInAnotherEpochSaysNothing) {
    ClusterLooks looks;
    looks.saw(book(9, 9), t);
    EXPECT_TRUE(looks.is_news(taken(2, 1, 6), t + news_max));
    looks.saw(book(1, 1, 6), t + news_max);
    EXPECT_TRUE(looks.is_news(taken(2, 1, 6), t + news_max));
    EXPECT_FALSE(looks.is_news(taken(10, 1, 4), t + news_max))
        << "flags of its epoch ended with their leases";
    EXPECT_FALSE(looks.is_news(taken(2, 1, 6), t + 2 * news_max));
}

TEST(ClusterLooks, ManyLooksInASecondMakeTheWaitLongerAndNeverShorter) {
    ClusterLooks looks;
    for (int i = 0; i < 1000; ++i) looks.saw(book(1, 0), t + i * 1ms);
    looks.saw(book(1, 1), t + news_max - 1ms);
    EXPECT_TRUE(looks.is_news(taken(2, 1), t + 2 * news_max - 2ms));
    for (int i = 0; i < 1000; ++i) looks.saw(book(1, 1), t + news_max + i * 1ms);
    EXPECT_FALSE(looks.is_news(taken(2, 1), t + 3 * news_max));
}

}  // namespace
}  // namespace doorbuster
