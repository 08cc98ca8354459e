#include "http/rebuild_body.hpp"

#include <gtest/gtest.h>

#include "http/json.hpp"

namespace doorbuster {
namespace {

RebuildReading read(std::string_view text) {
    return read_rebuild(parse_json(text).value());
}

TEST(RebuildBody, MayNameAnItemAndAReason) {
    const RebuildReading both = read(R"({"item":"phone","reason":"Redis was moved"})");
    EXPECT_TRUE(both.faults.empty());
    EXPECT_EQ(both.item, "phone");
    EXPECT_EQ(both.reason, "Redis was moved");
    EXPECT_EQ(read("{}").item, std::nullopt) << "all of them";
    EXPECT_FALSE(read("{}").reason.empty());
}

TEST(RebuildBody, EveryFaultIsTold) {
    const auto faults = read(R"({"item":7,"reason":"","when":"now"})").faults;
    ASSERT_EQ(faults.size(), 3u);
    EXPECT_EQ(faults[0].pointer, "/item");
    EXPECT_EQ(faults[1].pointer, "/reason");
    EXPECT_EQ(faults[2].pointer, "/when");
    for (const std::string& reason : {std::string("\"two\\nlines\""), '"' + std::string(201, 'x') + '"'}) {
        EXPECT_EQ(read(R"({"reason":)" + reason + "}").faults.size(), 1u) << reason;
    }
    EXPECT_EQ(read("[]").faults.size(), 1u);
}

}  // namespace
}  // namespace doorbuster
