#include "config/listeners.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

std::string fault(const char* server, const char* admin) {
    Config config;
    EXPECT_FALSE(config.find("server.listen")->set(PlainText{server}, {Source::flag, "--listen"}));
    EXPECT_FALSE(config.find("admin.listen")->set(PlainText{admin}, {Source::flag, "--admin-listen"}));
    return listeners_fault(config);
}

TEST(Listeners, TheDefaultsAreApart) {
    EXPECT_EQ(listeners_fault({}), "");
}

TEST(Listeners, OnOnePlaceAreAFaultThatNamesBoth) {
    EXPECT_NE(fault("127.0.0.1:80", "127.0.0.1:80").find("admin.listen (127.0.0.1:80)"), std::string::npos);
}

TEST(Listeners, EveryAddressIncludesEachOne) {
    for (const auto& [server, admin] : {std::pair{"0.0.0.0:80", "127.0.0.1:80"},
                                        {"127.0.0.1:80", "0.0.0.0:80"},
                                        {"[::]:80", "127.0.0.1:80"},
                                        {"0.0.0.0:80", "[::]:80"},
                                        {"[::1]:80", "[0:0:0:0:0:0:0:1]:80"},
                                        {"[::ffff:127.0.0.1]:80", "127.0.0.1:80"}}) {
        EXPECT_NE(fault(server, admin), "") << server << ' ' << admin;
    }
}

TEST(Listeners, AnotherPortOrAddressOrAFreePortIsFine) {
    for (const auto& [server, admin] : {std::pair{"127.0.0.1:80", "127.0.0.1:81"},
                                        {"127.0.0.1:80", "127.0.0.2:80"},
                                        {"127.0.0.1:0", "127.0.0.1:0"},
                                        {"0.0.0.0:80", "[::1]:80"}}) {
        EXPECT_EQ(fault(server, admin), "") << server << ' ' << admin;
    }
}

}  // namespace
}  // namespace doorbuster
