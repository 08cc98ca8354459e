#include "http/json.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace doorbuster {
namespace {

TEST(Json, KeysNamedTwiceInOneObjectAreRefused) {
    EXPECT_TRUE(parse_json(R"({"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":2}]})"));
    EXPECT_FALSE(parse_json(R"({"a":1,"a":1})"));
    EXPECT_FALSE(parse_json(R"({"a":1,"\u0061":1})"));
    EXPECT_FALSE(parse_json(R"([{"x":{"a":1,"b":2,"a":3}}])"));
}

TEST(Json, WhatIsNoJsonIsRefused) {
    for (const char* text : {"", " ", "{", "{}x", "nan", "[1,]", "\"\xc3\""})
        EXPECT_FALSE(parse_json(text)) << text;
    EXPECT_FALSE(parse_json(std::string(1000, '[') + std::string(1000, ']')));
}

TEST(Json, AnInstantIsWrittenForPeopleAndForPrograms) {
    boost::json::object object;
    put_instant(object, "opens_at", from_ms(1'700'000'000'000));
    EXPECT_EQ(boost::json::serialize(object),
              R"({"opens_at":"2023-11-14T22:13:20Z","opens_at_ms":1700000000000})");
}

TEST(Json, BytesOfUnknownOriginBecomeText) {
    EXPECT_EQ(as_utf8("plain \xe6\x89\x8b"), "plain \xe6\x89\x8b");
    EXPECT_EQ(as_utf8("a\xff"), "a\xef\xbf\xbd");
    EXPECT_EQ(as_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");                  // overlong
    EXPECT_EQ(as_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
    EXPECT_EQ(as_utf8("\xf0\x9f\x9b"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // cut short
}

TEST(Json, PointersEscapeTheirOwnSigns) {
    EXPECT_EQ(pointer_step("a/b~c"), "/a~1b~0c");
}

TEST(Json, TheTypeMayBeAbsentButNotAnother) {
    for (const char* type :
         {"", "application/json", "Application/JSON", "application/json ; charset=utf-8"}) {
        EXPECT_TRUE(is_json_type(type)) << type;
    }
    for (const char* type : {"text/plain", "application/jsonp", "application/x-www-form-urlencoded", ";"}) {
        EXPECT_FALSE(is_json_type(type)) << type;
    }
}

}  // namespace
}  // namespace doorbuster
