#include "funnel/flat_object.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace doorbuster {
namespace {

using Kind = FlatField::Kind;

struct Read {
    std::array<char, 8> text_room, number_room;
    std::array<char, flat_name_bytes_max> names;
    std::array<FlatField, 2> fields{FlatField{.name = "text", .room = text_room},
                                    FlatField{.name = "number", .room = number_room}};
    FlatReading reading;

    explicit Read(std::string_view json) { reading = read_flat_object(json, fields, names); }
    Read(const Read&) = delete;
    const FlatField& text() const { return fields[0]; }
    const FlatField& number() const { return fields[1]; }
};

TEST(FlatObject, ReadsTheFieldsThatAreWanted) {
    const Read read(" { \"number\" : 42 , \"te\\u0078t\" : \"a\\nb\" } ");
    EXPECT_EQ(read.reading.fault, FlatFault::none);
    EXPECT_EQ(read.text().kind, Kind::text);
    EXPECT_EQ(read.text().value, "a\nb");
    EXPECT_EQ(read.number().kind, Kind::whole);
    EXPECT_EQ(read.number().number, 42);
    EXPECT_FALSE(read.reading.other_name);
}

TEST(FlatObject, WhatIsMissingIsAbsent) {
    const Read read("{}");
    EXPECT_EQ(read.reading.fault, FlatFault::none);
    EXPECT_EQ(read.text().kind, Kind::absent);
    EXPECT_EQ(read.number().kind, Kind::absent);
}

TEST(FlatObject, TextThatDoesNotFitIsNotCut) {
    const Read fits(R"({"text":"12345678"})"), overlong(R"({"text":"123456789"})");
    EXPECT_EQ(fits.text().value, "12345678");
    EXPECT_TRUE(overlong.text().overlong);
    EXPECT_EQ(overlong.text().value, "");
}

TEST(FlatObject, OnlyWholeNumbersAreNumbers) {
    for (const char* number :
         {"-1", "-0", "1.0", "1e3", "9223372036854775808", "true", "null", "[1]", "{\"number\":1}"}) {
        const Read read(std::string(R"({"number":)") + number + "}");
        EXPECT_EQ(read.reading.fault, FlatFault::none) << number;
        EXPECT_EQ(read.number().kind, Kind::anything) << number;
    }
    EXPECT_EQ(Read(R"({"number":0})").number().kind, Kind::whole);
    EXPECT_EQ(Read(R"({"number":9223372036854775807})").number().kind, Kind::whole);
}

TEST(FlatObject, ANameThatStandsTwiceIsMalformed) {
    EXPECT_EQ(Read(R"({"text":"a","text":"a"})").reading.fault, FlatFault::malformed);
    EXPECT_EQ(Read(R"({"text":null,"text":"a"})").reading.fault, FlatFault::malformed);
    EXPECT_EQ(Read(R"({"text":"a","x":1,"x":2})").reading.fault, FlatFault::malformed);
    EXPECT_EQ(Read(R"({"text":"a","x":{"y":1,"y":2}})").reading.fault, FlatFault::malformed);
    EXPECT_EQ(Read(R"({"text":"a","x":{"text":1}})").reading.fault, FlatFault::none);
}

TEST(FlatObject, WhatIsNestedIsNobodysField) {
    const Read read(R"({"other":{"text":"a","number":1},"text":"b"})");
    EXPECT_EQ(read.text().value, "b");
    EXPECT_EQ(read.number().kind, Kind::absent);
    EXPECT_EQ(read.reading.other_name, "other");
}

TEST(FlatObject, WhatIsNoJsonOrTooDeepIsMalformed) {
    for (const char* json : {"", " ", "{", "{\"text\":}", "{} {}", "{'text':1}", "{\"number\":01}",
                             "{\"text\":\"\xff\"}", "{\"a\":[[[[[[[[[1]]]]]]]]]}"}) {
        EXPECT_EQ(Read(json).reading.fault, FlatFault::malformed) << json;
    }
    for (const char* json : {"[]", "\"text\"", "1", "[{\"text\":\"a\"}]"}) {
        EXPECT_EQ(Read(json).reading.fault, FlatFault::not_an_object) << json;
    }
}

TEST(FlatObject, ALongNameIsAnotherName) {
    const std::string name(100, 't');
    EXPECT_EQ(Read("{\"" + name + "\":1}").reading.other_name, name.substr(0, flat_name_bytes_max));
}

}  // namespace
}  // namespace doorbuster
