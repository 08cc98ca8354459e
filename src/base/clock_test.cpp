#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

Instant source_at{};

TEST(MonotonicClock, StandsStillWhileItsSourceIsBehind) {
    MonotonicClock clock([] { return source_at; });
    source_at = from_ms(1000);
    EXPECT_EQ(to_ms(clock.now()), 1000);
    source_at = from_ms(400);
    EXPECT_EQ(to_ms(clock.now()), 1000);
    source_at = from_ms(1001);
    EXPECT_EQ(to_ms(clock.now()), 1001);
}

}  // namespace
}  // namespace doorbuster
