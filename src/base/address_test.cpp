#include "base/address.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace doorbuster {
namespace {

Address address(std::string_view text) {
    const auto parsed = Address::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(Address{});
}

AddressRange range(std::string_view text) {
    const auto parsed = AddressRange::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(AddressRange{});
}

TEST(Address, ReadsAndWritesBothFamilies) {
    for (const std::string_view text : {"0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1", "2001:db8::1",
                                        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
        EXPECT_EQ(address(text).text(), text);
    }
    EXPECT_EQ(address("2001:DB8:0:0:0:0:0:1").text(), "2001:db8::1");
}

TEST(Address, AMappedAddressIsTheIPv4AddressItself) {
    EXPECT_EQ(address("::ffff:192.0.2.1"), address("192.0.2.1"));
    EXPECT_EQ(address("::ffff:c000:201"), Address::v4({192, 0, 2, 1}));
    EXPECT_EQ(address("::ffff:192.0.2.1").text(), "192.0.2.1");
    EXPECT_FALSE(address("::192.0.2.1").is_v4());
}

TEST(Address, NothingElseIsAnAddress) {
    using namespace std::string_view_literals;
    for (const std::string_view text : {""sv,
                                        " "sv,
                                        "1.2.3"sv,
                                        "1.2.3.4.5"sv,
                                        "1.2.3.256"sv,
                                        "01.2.3.4"sv,
                                        "1.2.3.4 "sv,
                                        " 1.2.3.4"sv,
                                        "1.2.3.4:80"sv,
                                        "0x1.2.3.4"sv,
                                        "16909060"sv,
                                        "1.2.3.4\0"sv,
                                        "1.2.3.4\0.5"sv,
                                        ":"sv,
                                        ":::"sv,
                                        "1::2::3"sv,
                                        "12345::"sv,
                                        "::g"sv,
                                        "fe80::1%eth0"sv,
                                        "[::1]"sv,
                                        "1:2:3:4:5:6:7"sv,
                                        "1:2:3:4:5:6:7:8:9"sv,
                                        "::1.2.3"sv,
                                        "localhost"sv,
                                        "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"sv}) {
        EXPECT_FALSE(Address::parse(text)) << text;
    }
}

RC_GTEST_PROP(Address, WhatItWritesItReads, (const Address::V6Bytes& bytes)) {
    const Address written = Address::v6(bytes);
    RC_ASSERT(Address::parse(written.text()) == written);
}

RC_GTEST_PROP(Address, ReadsIPv4AsTheSystemDoes, ()) {
    const auto part = rc::gen::element<std::string>("0", "1", "00", "09", "25", "255", "256", "999", "1000",
                                                    "", ".", "x", "-1", "+1", " ");
    std::string text = *part;
    for (int i = *rc::gen::inRange(2, 5); i > 0; --i) text += '.' + *part;
    Address::V4Bytes expected;
    const bool is_address = ::inet_pton(AF_INET, text.c_str(), expected.data()) == 1;
    const auto parsed = Address::parse(text);
    RC_ASSERT(parsed.has_value() == is_address);
    if (is_address) RC_ASSERT(*parsed == Address::v4(expected));
}

RC_GTEST_PROP(Address, NoTextBreaksTheReader, (const std::string& text)) {
    if (const auto parsed = Address::parse(text)) RC_ASSERT(Address::parse(parsed->text()) == parsed);
}

TEST(Address, AHouseholdsIPv6AddressesAreOneAndItsNeighboursAnother) {
    EXPECT_EQ(address("2001:db8:1:2:3:4:5:6").limit_key(), address("2001:db8:1:2::"));
    EXPECT_EQ(address("2001:db8:1:2::").limit_key(), address("2001:db8:1:2:ffff::1").limit_key());
    EXPECT_NE(address("2001:db8:1:3::").limit_key(), address("2001:db8:1:2::").limit_key());
    EXPECT_EQ(address("192.0.2.1").limit_key(), address("192.0.2.1"));
}

TEST(AddressRange, HoldsItsEndsAndNothingBeyond) {
    const AddressRange ten = range("10.0.0.0/8");
    EXPECT_TRUE(ten.contains(address("10.0.0.0")) && ten.contains(address("10.255.255.255")));
    EXPECT_FALSE(ten.contains(address("9.255.255.255")) || ten.contains(address("11.0.0.0")));
    const AddressRange odd = range("2001:db8:8000::/33");
    EXPECT_TRUE(odd.contains(address("2001:db8:ffff::1")));
    EXPECT_FALSE(odd.contains(address("2001:db8:7fff::1")));
    EXPECT_TRUE(range("0.0.0.0/0").contains(address("203.0.113.9")));
    EXPECT_EQ(range("192.0.2.1"), range("192.0.2.1/32"));
    EXPECT_EQ(range("::1"), range("::1/128"));
    EXPECT_EQ(range("::ffff:10.0.0.0/104"), ten);
}

TEST(AddressRange, KnowsHowSpecificItIs) {
    for (const unsigned bits : {0u, 1u, 7u, 8u, 31u, 32u, 64u, 127u, 128u}) {
        EXPECT_EQ(range("::/" + std::to_string(bits)).prefix_bits(), bits);
    }
    EXPECT_EQ(range("10.0.0.0/8").prefix_bits(), 104u);
    EXPECT_EQ(range("10.0.0.1").prefix_bits(), 128u);
}

TEST(AddressRange, RefusesWhatWasProbablyMeantOtherwise) {
    for (const std::string_view text :
         {"10.1.2.3/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/8 ",
          "10.0.0.0/+8", "/8", "2001:db8::1/64", "10.0.0.0/8/8", "::ffff:10.0.0.1/104", ""}) {
        EXPECT_FALSE(AddressRange::parse(text)) << text;
    }
}

TEST(AddressSet, AllOfIPv6IsNothingOfIPv4AndTheOtherWayRound) {
    const AddressSet v6({range("::/0")}), v4({range("0.0.0.0/0")}), both({range("::/0"), range("0.0.0.0/0")});
    for (const std::string_view text : {"::", "::fffe:ffff:ffff", "::1:0:0:0", "2001:db8::1"}) {
        EXPECT_TRUE(v6.contains(address(text)) && both.contains(address(text))) << text;
        EXPECT_FALSE(v4.contains(address(text))) << text;
    }
    for (const std::string_view text : {"0.0.0.0", "192.0.2.1", "255.255.255.255"}) {
        EXPECT_TRUE(v4.contains(address(text)) && both.contains(address(text))) << text;
        EXPECT_FALSE(v6.contains(address(text))) << text;
        EXPECT_FALSE(range("::/0").contains(address(text))) << text;
    }
    EXPECT_FALSE(AddressSet().contains(address("::")));
}

// Few bits vary, so that ranges overlap, nest and touch all the time.
RC_GTEST_PROP(AddressSet, ContainsWhatOneOfItsRangesContains, ()) {
    const auto byte = rc::gen::element<uint8_t>(0, 1, 2, 127, 128, 255);
    const auto some_address = [&] {
        const Address::V4Bytes low{*byte, *byte, *byte, *byte};
        if (*rc::gen::arbitrary<bool>()) return Address::v4(low);
        Address::V6Bytes bytes = Address::v4(low).bytes;
        bytes[10] = *byte;
        bytes[11] = *byte;
        return Address::v6(bytes);
    };
    std::vector<AddressRange> ranges;
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
        const Address from = some_address();
        const unsigned prefix = *rc::gen::inRange(from.is_v4() ? 96u : 0u, 129u);
        AddressRange made{from, from};
        for (unsigned bit = prefix; bit < 128; ++bit) {
            const auto mask = static_cast<uint8_t>(0x80 >> bit % 8);
            made.first.bytes[bit / 8] = static_cast<uint8_t>(made.first.bytes[bit / 8] & ~mask);
            made.last.bytes[bit / 8] = static_cast<uint8_t>(made.last.bytes[bit / 8] | mask);
        }
        ranges.push_back(made);
    }
    const AddressSet set(ranges);
    for (int i = 0; i < 20; ++i) {
        const Address wanted = some_address();
        bool expected = false;
        for (const AddressRange& one : ranges) expected = expected || one.contains(wanted);
        RC_ASSERT(set.contains(wanted) == expected);
    }
}

}  // namespace
}  // namespace doorbuster
