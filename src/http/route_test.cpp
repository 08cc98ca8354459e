#include "http/route.hpp"

#include <gtest/gtest.h>

#include "http/etag.hpp"

namespace doorbuster {
namespace {

TEST(PathParts, TakesAPathApart) {
    const PathParts path("/v1/sales/drop/stock");
    ASSERT_EQ(path.size(), 4u);
    EXPECT_EQ(path[0], "v1");
    EXPECT_EQ(path[3], "stock");
}

TEST(PathParts, WhatNoCallHasMatchesNone) {
    for (const char* path :
         {"", "/", "v1", "//", "/v1/", "/v1//sales", "/v1/sales/a/b/c", "/v1/sales/a/b/"}) {
        EXPECT_EQ(PathParts(path).size(), 0u) << path;
    }
}

TEST(QueryField, IsFoundByItsWholeName) {
    EXPECT_EQ(query_field("limit=20&before=7", "before"), "7");
    EXPECT_EQ(query_field("limit=1&limit=2", "limit"), "1");
    EXPECT_EQ(query_field("limit", "limit"), "");
    EXPECT_EQ(query_field("xlimit=3&limi=4", "limit"), std::nullopt);
    EXPECT_EQ(query_field("", "limit"), std::nullopt);
}

TEST(ParseNumber, TakesAllOfItOrNothing) {
    EXPECT_EQ(parse_number<int64_t>("9223372036854775807"), INT64_MAX);
    for (const char* text : {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0", "9223372036854775808"}) {
        EXPECT_EQ(parse_number<int64_t>(text), std::nullopt) << text;
    }
}

TEST(Etag, DiffersWhereTheBytesDo) {
    EXPECT_EQ(etag_of("a"), etag_of("a"));
    EXPECT_NE(etag_of("a"), etag_of("b"));
}

TEST(Etag, ReadersCompareWeakly) {
    EXPECT_TRUE(none_match_hits("\"a\"", "\"a\""));
    EXPECT_TRUE(none_match_hits("\"x\", W/\"a\"", "\"a\""));
    EXPECT_TRUE(none_match_hits("*", "\"a\""));
    EXPECT_FALSE(none_match_hits("\"x\"", "\"a\""));
    EXPECT_FALSE(none_match_hits("", "\"a\""));
}

TEST(Etag, WritersCompareStrongly) {
    EXPECT_EQ(version_in("\"7\""), 7u);
    for (const char* tag : {"", "7", "\"\"", "\"", "W/\"7\"", "\"7\", \"8\"", "\"-7\"", "\"7x\"", "*"}) {
        EXPECT_EQ(version_in(tag), std::nullopt) << tag;
    }
}

}  // namespace
}  // namespace doorbuster
