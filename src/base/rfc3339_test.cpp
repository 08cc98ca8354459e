#include "base/rfc3339.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace doorbuster {
namespace {

TEST(Rfc3339, ReadsOffsetsAndFractions) {
    EXPECT_EQ(to_ms(*parse_rfc3339("2026-12-01T12:00:00Z")), 1796126400000);
    EXPECT_EQ(to_ms(*parse_rfc3339("2026-12-01T20:00:00+08:00")), 1796126400000);
    EXPECT_EQ(to_ms(*parse_rfc3339("2026-12-01T12:00:00.2509Z")), 1796126400250);
    EXPECT_EQ(format_rfc3339(from_ms(1796126400000)), "2026-12-01T12:00:00Z");
    EXPECT_EQ(format_rfc3339(from_ms(1796126400005)), "2026-12-01T12:00:00.005Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
    for (const std::string_view text :
         {"", "2026-12-01", "2026-12-01 12:00:00Z", "2026-02-30T12:00:00Z", "2026-12-01T24:00:00Z",
          "2026-12-01T12:00:00", "2026-12-01T12:00:00.Z", "2026-12-01T12:00:00Zz", "1969-12-31T23:59:59Z",
          "2026-13-01T12:00:00Z", "2026-12-01T12:00:00+0800", "-026-12-01T12:00:00Z",
          "1970-01-01T00:00:00+01:00"}) {
        EXPECT_FALSE(parse_rfc3339(text).has_value()) << text;
    }
}

RC_GTEST_PROP(Rfc3339, ReadsBackWhatItWrote, ()) {
    const Instant at = from_ms(*rc::gen::inRange<int64_t>(0, 253402300799999));
    RC_ASSERT(parse_rfc3339(format_rfc3339(at)) == at);
}

}  // namespace
}  // namespace doorbuster
