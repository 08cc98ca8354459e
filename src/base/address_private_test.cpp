#include <gtest/gtest.h>

#include "base/address.hpp"

namespace doorbuster {
namespace {

bool is_private(std::string_view text) {
    const auto parsed = Address::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed && doorbuster::is_private(*parsed);
}

TEST(PrivateAddress, EverythingThatIsNotTheOpenInternetIsPrivate) {
    for (const std::string_view text :
         {"0.0.0.0",         "0.255.255.255",   "10.0.0.0",        "10.255.255.255", "100.64.0.0",
          "100.127.255.255", "127.0.0.1",       "127.255.255.255", "169.254.0.0",    "169.254.169.254",
          "172.16.0.0",      "172.31.255.255",  "192.0.0.1",       "192.0.2.1",      "192.168.0.0",
          "192.168.255.255", "198.18.0.0",      "198.19.255.255",  "198.51.100.1",   "203.0.113.1",
          "224.0.0.1",       "239.255.255.255", "240.0.0.1",       "255.255.255.255"}) {
        EXPECT_TRUE(is_private(text)) << text;
    }
    for (const std::string_view text :
         {"::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fdff::1", "ff02::1", "100::1", "2001::1",
          "2001:db8::1", "2002:a00:1::1", "2002:808:808::1", "3fff::1", "::127.0.0.1", "::8.8.8.8",
          "5f00::1"}) {
        EXPECT_TRUE(is_private(text)) << text;
    }
}

TEST(PrivateAddress, TheOpenInternetIsNot) {
    for (const std::string_view text :
         {"1.1.1.1",         "8.8.8.8",     "9.255.255.255",        "11.0.0.0",
          "100.63.255.255",  "100.128.0.0", "126.255.255.255",      "128.0.0.0",
          "169.253.255.255", "169.255.0.0", "172.15.255.255",       "172.32.0.0",
          "192.167.255.255", "192.169.0.0", "198.17.255.255",       "198.20.0.0",
          "223.255.255.255", "2000::1",     "2606:4700:4700::1111", "2a00:1450::1",
          "2003::1",         "3ffe::1"}) {
        EXPECT_FALSE(is_private(text)) << text;
    }
}

TEST(PrivateAddress, AnIPv4AddressInsideAnIPv6OneIsJudgedItself) {
    EXPECT_TRUE(is_private("::ffff:127.0.0.1"));
    EXPECT_TRUE(is_private("::ffff:10.1.2.3"));
    EXPECT_FALSE(is_private("::ffff:8.8.8.8"));
    EXPECT_TRUE(is_private("64:ff9b::10.1.2.3"));
    EXPECT_TRUE(is_private("64:ff9b::7f00:1"));
    EXPECT_FALSE(is_private("64:ff9b::8.8.8.8"));
    EXPECT_TRUE(is_private("64:ff9b:1::8.8.8.8"));
}

}  // namespace
}  // namespace doorbuster
