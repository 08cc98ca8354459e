#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/cli.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Said {
    int code;
    std::string out, err;
};

Said run(const std::vector<std::string>& words) {
    std::istringstream in;
    std::ostringstream out, err;
    CliWorld world{in, out, err, {}};
    const CliHooks hooks{.serve = {}, .dev = {}, .version = "1.2.3"};
    const int code = run_cli(words, world, hooks);
    return {code, out.str(), err.str()};
}

TEST(SandboxPayCommand, WhatIsNotUnderstoodIsExitTwoAndSaysWhy) {
    struct Case {
        std::vector<std::string> words;
        std::string why;
    };
    for (const Case& one :
         {Case{{}, "SANDBOX_PAY_KEY"},
          {{"--key", "k", "--faults", "lots"}, "unknown fault 'lots'"},
          {{"--key", "k", "--seed", "x"}, "seed"},
          {{"--key", "k", "--webhook-url", "ftp://x"}, "--webhook-url"},
          {{"--key", "k", "--webhook-url", "http://x"}, "SANDBOX_PAY_WEBHOOK_SECRET"},
          {{"--key", "k", "--webhook-url", "http://x", "--webhook-secret", "hunter2"}, "whsec_"},
          {{"--key", "k", "--webhook-secret-file", "/does/not/exist"}, "/does/not/exist"},
          {{"--key", "k", "--fault", "lost"}, "--faults"}}) {
        std::vector<std::string> words{"sandbox-pay"};
        words.insert(words.end(), one.words.begin(), one.words.end());
        const Said said = run(words);
        EXPECT_EQ(said.code, 2) << testing::PrintToString(words);
        EXPECT_EQ(said.out, "");
        EXPECT_THAT(said.err, HasSubstr(one.why));
        EXPECT_THAT(said.err, Not(HasSubstr("hunter2")));
    }
}

TEST(SandboxPayCommand, APlaceWhereItCannotListenIsExitOne) {
    for (const std::string address : {"nowhere", "127.0.0.1", "192.0.2.1:1", "127.0.0.1:99999"}) {
        const Said said = run({"sandbox-pay", "--key", "k", "--listen", address});
        EXPECT_EQ(said.code, 1) << address;
        EXPECT_THAT(said.err, HasSubstr(address));
    }
}

TEST(SandboxPayCommand, HelpNamesEveryFlag) {
    const Said said = run({"sandbox-pay", "--help"});
    EXPECT_EQ(said.code, 0);
    for (const char* flag : {"--listen", "--key", "--webhook-url", "--webhook-secret",
                             "--webhook-secret-file", "--faults", "--seed", "--data", "--public-url"}) {
        EXPECT_THAT(said.out, HasSubstr(flag));
    }
}

}  // namespace
}  // namespace doorbuster
