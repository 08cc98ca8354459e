#include "http/admin_risk.hpp"

#include <gtest/gtest.h>

#include "http/json.hpp"

namespace doorbuster {
namespace {

auto read(std::string_view text) {
    return read_level(parse_json(text).value());
}

TEST(LevelBody, NamesALevelOrAuto) {
    EXPECT_EQ(read(R"({"level":"purchase_only"})")->floor, Level::purchase_only);
    EXPECT_EQ(read(R"({"level":"auto"})")->floor, std::nullopt);
}

TEST(LevelBody, AnythingElseIsRefusedWithAPointer) {
    for (const char* text : {"{}", R"({"level":"open"})", R"({"level":null})", R"({"level":3})"}) {
        const auto level = read(text);
        ASSERT_FALSE(level) << text;
        EXPECT_EQ(level.error().at(0).pointer, "/level");
    }
    EXPECT_FALSE(read(R"("closed")"));
    EXPECT_EQ(read(R"({"level":"closed","for_s":5})").error().at(0).pointer, "/for_s");
}

}  // namespace
}  // namespace doorbuster
