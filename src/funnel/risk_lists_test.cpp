#include "funnel/risk_lists.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using enum Standing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

RiskLists lists(std::string_view text) {
    const auto entries = parse_lists(text);
    if (entries) return RiskLists(*entries);
    for (const std::string& fault : entries.error()) ADD_FAILURE() << fault;
    return {};
}

Standing of(const RiskLists& lists, std::string_view address) {
    return lists.of(Address::parse(address).value());
}

TEST(RiskLists, NobodyIsOnAnEmptyList) {
    const RiskLists none;
    EXPECT_EQ(of(none, "203.0.113.7"), neutral);
    EXPECT_EQ(of(none, "::"), neutral);
    EXPECT_EQ(none.of(BuyerId("alice")), neutral);
}

TEST(RiskLists, ARangeHoldsItsEdgesAndNothingBeside) {
    const RiskLists some = lists("block address 203.0.113.0/24\nallow address 198.51.100.7\n");
    EXPECT_EQ(of(some, "203.0.112.255"), neutral);
    EXPECT_EQ(of(some, "203.0.113.0"), blocked);
    EXPECT_EQ(of(some, "203.0.113.255"), blocked);
    EXPECT_EQ(of(some, "203.0.114.0"), neutral);
    EXPECT_EQ(of(some, "198.51.100.6"), neutral);
    EXPECT_EQ(of(some, "198.51.100.7"), allowed);
    EXPECT_EQ(of(some, "198.51.100.8"), neutral);
}

TEST(RiskLists, TheNarrowestRangeCounts) {
    const RiskLists some = lists(
        "block address 10.0.0.0/8\n"
        "allow address 10.1.0.0/16\n"
        "block address 10.1.1.0/24\n"
        "allow address 10.1.1.255\n"
        "block address 255.255.255.255\n"
        "block address 2001:db8::/32\n"
        "allow address 2001:db8::/64\n");
    EXPECT_EQ(of(some, "10.0.255.255"), blocked);
    EXPECT_EQ(of(some, "10.1.0.0"), allowed);
    EXPECT_EQ(of(some, "10.1.1.0"), blocked);
    EXPECT_EQ(of(some, "10.1.1.254"), blocked);
    EXPECT_EQ(of(some, "10.1.1.255"), allowed);
    EXPECT_EQ(of(some, "10.1.2.0"), allowed);
    EXPECT_EQ(of(some, "10.2.0.0"), blocked);
    EXPECT_EQ(of(some, "11.0.0.0"), neutral);
    EXPECT_EQ(of(some, "255.255.255.255"), blocked);
    EXPECT_EQ(of(some, "2001:db8::1"), allowed);
    EXPECT_EQ(of(some, "2001:db8:0:1::"), blocked);
    EXPECT_EQ(of(some, "2001:db9::"), neutral);
}

TEST(RiskLists, ForTheSameRangeOrBuyerTheBlockCounts) {
    for (const char* text :
         {"block address 10.0.0.0/8\nallow address 10.0.0.0/8\nblock buyer bob\nallow buyer bob",
          "allow address 10.0.0.0/8\nblock address 10.0.0.0/8\nallow buyer bob\nblock buyer bob"}) {
        const RiskLists some = lists(text);
        EXPECT_EQ(of(some, "10.3.4.5"), blocked);
        EXPECT_EQ(some.of(BuyerId("bob")), blocked);
    }
}

TEST(RiskLists, AllOfIPv6IsNoneOfIPv4) {
    const RiskLists some = lists("block address ::/0\nallow address 0.0.0.0/0");
    EXPECT_EQ(of(some, "::"), blocked);
    EXPECT_EQ(of(some, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), blocked);
    EXPECT_EQ(of(some, "0.0.0.0"), allowed);
    EXPECT_EQ(of(some, "255.255.255.255"), allowed);
}

TEST(RiskLists, BuyersAreWholeAndMayHaveSpaces) {
    const RiskLists some = lists("block buyer alice\n  allow\tbuyer  mr # x \r\n");
    EXPECT_EQ(some.of(BuyerId("alice")), blocked);
    EXPECT_EQ(some.of(BuyerId("alic")), neutral);
    EXPECT_EQ(some.of(BuyerId("mr # x")), allowed);
}

TEST(RiskLists, AFileTellsAllItsFaultsWithTheirLines) {
    const auto entries = parse_lists(
        "# who made trouble in spring\n"
        "\n"
        "block address 203.0.113.0/24\n"
        "blok address 203.0.113.0/24\n"
        "block adress 203.0.113.0/24\n"
        "block address 203.0.113.7/24\n"
        "block address\n"
        "allow buyer\n");
    ASSERT_FALSE(entries);
    EXPECT_THAT(entries.error(),
                ElementsAre(HasSubstr("line 4: a list is"), HasSubstr("line 5: an entry is about"),
                            HasSubstr("line 6: an address is"), HasSubstr("line 7: an address is"),
                            HasSubstr("line 8: a buyer is")));
}

TEST(RiskLists, FaultsAreBounded) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "nonsense\n";
    const auto entries = parse_lists(text);
    ASSERT_FALSE(entries);
    EXPECT_THAT(entries.error(), SizeIs(101));
    EXPECT_EQ(entries.error().back(), "and 4900 more");
}

TEST(RiskLists, EntriesAreBounded) {
    std::string text;
    for (size_t i = 0; i < RiskLists::entries_max; ++i) text += "block buyer b" + std::to_string(i) + "\n";
    EXPECT_TRUE(parse_lists(text));
    EXPECT_EQ(lists(text).of(BuyerId("b99999")), blocked);
    EXPECT_FALSE(parse_lists(text + "block buyer one-more\n"));
}

TEST(ListEntry, EachRangeHasOneSpelling) {
    auto line = [](std::string_view value) { return ListEntry::from("block", "address", value)->line(); };
    EXPECT_EQ(line("203.0.113.7/32"), "block address 203.0.113.7");
    EXPECT_EQ(line("203.0.113.0/24"), "block address 203.0.113.0/24");
    EXPECT_EQ(line("0.0.0.0/0"), "block address 0.0.0.0/0");
    EXPECT_EQ(line("2001:DB8:0:0::/32"), "block address 2001:db8::/32");
    EXPECT_EQ(line("2001:db8::1/128"), "block address 2001:db8::1");
    EXPECT_EQ(line("::/0"), "block address ::/0");
}

TEST(ListEntry, NoBuyerForgesALine) {
    EXPECT_FALSE(ListEntry::from("allow", "buyer", "x\nallow buyer y"));
    EXPECT_FALSE(ListEntry::from("allow", "buyer", std::string(129, 'x')));
    EXPECT_FALSE(ListEntry::from("allow", "buyer", ""));
}

TEST(ListEntry, ABuyerIsReadBackFromItsLineOrRefused) {
    for (const char* name : {"eve", "eve smith", "#eve", "block buyer eve", "a b  c"}) {
        const auto entry = ListEntry::from("block", "buyer", name);
        ASSERT_TRUE(entry) << name;
        const auto read = parse_lists(entry->line());
        ASSERT_TRUE(read) << name;
        ASSERT_EQ(read->size(), 1u) << name;
        EXPECT_EQ(read->front().value(), name);
    }
    for (const char* name : {" ", "eve ", " eve", "eve\t", ""}) {
        EXPECT_FALSE(ListEntry::from("block", "buyer", name)) << "'" << name << "'";
    }
}

}  // namespace
}  // namespace doorbuster
