#include "base/snowflake.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace doorbuster {
namespace {

RC_GTEST_PROP(Snowflake, EveryIdIsGreaterThanTheOneBeforeWhateverTheClockDoes,
              (const std::vector<int16_t>& steps_ms)) {
    Snowflake ids(7);
    int64_t now_ms = Snowflake::epoch_ms + 1'000'000, last = 0;
    for (const int16_t step_ms : steps_ms) {
        now_ms += step_ms;
        const int64_t id = ids.next(from_ms(now_ms));
        RC_ASSERT(id > last);
        last = id;
    }
}

TEST(Snowflake, AFullMillisecondBorrowsFromTheNext) {
    Snowflake ids(1);
    const Instant now = from_ms(Snowflake::epoch_ms + 5);
    int64_t last = 0;
    for (uint64_t i = 0; i < 3 * Snowflake::ids_per_ms; ++i) {
        const int64_t id = ids.next(now);
        ASSERT_GT(id, last);
        last = id;
    }
    EXPECT_EQ(last >> 22, 5 + 2);
}

TEST(Snowflake, ARestartWithAnEarlierClockGoesOnBehindTheLastId) {
    Snowflake before(3);
    const int64_t last = before.next(from_ms(Snowflake::epoch_ms + 90'000));
    Snowflake after(3, last);
    EXPECT_GT(after.next(from_ms(Snowflake::epoch_ms + 10)), last);
}

TEST(Snowflake, TwoNodesNeverGiveTheSameId) {
    Snowflake a(1), b(2);
    const Instant now = from_ms(Snowflake::epoch_ms + 77);
    EXPECT_NE(a.next(now), b.next(now));
}

}  // namespace
}  // namespace doorbuster
