#include "funnel/client_address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace doorbuster {
namespace {

using Lines = std::vector<std::string_view>;

const AddressSet proxies({*AddressRange::parse("10.0.0.0/8"), *AddressRange::parse("fd00::/8")});

std::string client(std::string_view peer, const Lines& forwarded_for, const AddressSet& trusted = proxies) {
    return client_address(*Address::parse(peer), forwarded_for, trusted).text();
}

TEST(ClientAddress, AStrangersHeaderIsIgnored) {
    EXPECT_EQ(client("192.0.2.9", {"203.0.113.1"}), "192.0.2.9");
    EXPECT_EQ(client("192.0.2.9", {"10.0.0.1"}), "192.0.2.9");
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.1"}, AddressSet()), "10.0.0.1");
}

TEST(ClientAddress, ATrustedProxyIsBelieved) {
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.1"}), "203.0.113.1");
    EXPECT_EQ(client("fd00::1", {"2001:db8::1"}), "2001:db8::1");
    EXPECT_EQ(client("::ffff:10.0.0.1", {"203.0.113.1"}), "203.0.113.1");
}

TEST(ClientAddress, TheRightmostUntrustedHopCountsWhateverStandsBeforeIt) {
    EXPECT_EQ(client("10.0.0.1", {"1.1.1.1, 203.0.113.1"}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {"1.1.1.1, 203.0.113.1, 10.0.0.2,10.0.0.3"}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {"10.9.9.9, 203.0.113.1"}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {"nonsense, 203.0.113.1"}), "203.0.113.1");
}

TEST(ClientAddress, SeveralLinesAreOneList) {
    EXPECT_EQ(client("10.0.0.1", {"1.1.1.1", "203.0.113.1", "10.0.0.2, 10.0.0.3"}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.1", "10.0.0.2"}), "203.0.113.1");
}

TEST(ClientAddress, WhereAllAreTrustedTheFirstCounts) {
    EXPECT_EQ(client("10.0.0.1", {"10.0.0.4", "10.0.0.3, 10.0.0.2"}), "10.0.0.4");
    EXPECT_EQ(client("10.0.0.1", {}), "10.0.0.1");
}

TEST(ClientAddress, AnUnreadableHopEndsTheWalkAtTheTrustedOneToItsRight) {
    for (const std::string_view hop :
         {"unknown", "_hidden", "", "1.2.3", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:8o", "[::1",
          "[1.2.3.4]:80", "[2001:db8::1]80", "[2001:db8::1]:", "[]", ":80", "fe80::1%eth0", "\"1.2.3.4\""}) {
        const std::string line = "203.0.113.1, " + std::string(hop) + ", 10.0.0.2";
        EXPECT_EQ(client("10.0.0.1", {line}), "10.0.0.2") << hop;
        EXPECT_EQ(client("10.0.0.1", {"203.0.113.1", hop, "10.0.0.2"}), "10.0.0.2") << hop;
        EXPECT_EQ(client("10.0.0.1", {"203.0.113.1", hop}), "10.0.0.1") << hop;
    }
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.1,"}), "10.0.0.1");
}

TEST(ClientAddress, PortsAndBracketsAreUnderstood) {
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.1:567"}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {"[2001:db8::1]:567"}), "2001:db8::1");
    EXPECT_EQ(client("10.0.0.1", {"[2001:db8::1]"}), "2001:db8::1");
    EXPECT_EQ(client("10.0.0.1", {" \t203.0.113.1\t "}), "203.0.113.1");
}

TEST(ClientAddress, AnEndlessChainIsNotFollowed) {
    std::string chain = "203.0.113.1";
    for (size_t i = 0; i + 1 < forwarded_hops_max; ++i) chain += ", 10.0.0.2";
    EXPECT_EQ(client("10.0.0.1", {chain}), "203.0.113.1");
    EXPECT_EQ(client("10.0.0.1", {chain + ", 10.0.0.3"}), "10.0.0.2");
}

}  // namespace
}  // namespace doorbuster
