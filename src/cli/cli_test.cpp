#include "cli/cli.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <sstream>

#include "config/reference.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string key32 = "0123456789abcdef0123456789abcdef";

class Cli : public testing::Test {
protected:
    // An empty folder: no configuration file is found by chance.
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "doorbuster-cli-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        home_ = std::filesystem::current_path();
        folder_ = name;
        std::filesystem::current_path(folder_);
    }
    void TearDown() override {
        std::filesystem::current_path(home_);
        std::filesystem::remove_all(folder_);
    }

    int run(const std::vector<std::string>& words) {
        in_.clear();
        out_.str("");
        err_.str("");
        CliWorld world{in_, out_, err_, environment_};
        const CliHooks hooks{.serve =
                                 [this](const Config& config, const Reloader::Read&) {
                                     served_ = config;
                                     return 0;
                                 },
                             .dev =
                                 [this](const Config& config, const DevOptions& options) {
                                     served_ = config;
                                     keys_file_ = options.keys_file;
                                     return 0;
                                 },
                             .version = "1.2.3"};
        return run_cli(words, world, hooks);
    }
    std::string out() const { return out_.str(); }
    std::string err() const { return err_.str(); }

    Environment environment_;
    std::istringstream in_;
    std::optional<Config> served_;
    std::string keys_file_;

private:
    std::filesystem::path home_, folder_;
    std::ostringstream out_, err_;
};

TEST_F(Cli, HelpIsGoodAndGoesToStandardOutput) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--help"}, {"-h"}, {"serve", "--help"}, {"sale", "restock", "-h"}}) {
        EXPECT_EQ(run(words), 0);
        EXPECT_THAT(out(), HasSubstr("Examples:"));
        EXPECT_EQ(err(), "");
    }
}

TEST_F(Cli, WhatIsNotUnderstoodIsExitTwo) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"sale"},
                                                  {"sale", "show"},
                                                  {"sale", "show", "a", "b"},
                                                  {"sale", "show", "No_Slug"},
                                                  {"sale", "restock", "a", "b", "0"},
                                                  {"sale", "restock", "a", "b", "1.5"},
                                                  {"version", "-o", "xml"},
                                                  {"config", "print", "--set", "log.level"},
                                                  {"config", "print", "--set", "log.level=loud"},
                                                  {"serve", "--threads", "many"},
                                                  {"serve", "--set", "admin.key=" + key32},
                                                  {"buyer-token", "a", "--lifetime-s", "0"},
                                                  {"buyer-token", std::string(129, 'a')}}) {
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_EQ(out(), "");
        EXPECT_THAT(err(), HasSubstr("doorbuster: "));
    }
}

TEST_F(Cli, AnIdThatIsNoNumberIsToldPlainly) {
    for (const std::string wrong : {"abc", "1e3", "1.5", "12345678901234567890"}) {
        EXPECT_EQ(run({"order", "show", wrong}), 2) << wrong;
        EXPECT_THAT(err(), HasSubstr("ORDER: must be a whole number, and is '" + wrong + "'"));
        EXPECT_EQ(run({"dead-letters", "show", wrong}), 2) << wrong;
        EXPECT_THAT(err(), HasSubstr("POSITION: must be a whole number, and is '" + wrong + "'"));
    }
}

TEST_F(Cli, ATypoIsToldWhatWasProbablyMeant) {
    EXPECT_EQ(run({"srve"}), 2);
    EXPECT_THAT(err(), HasSubstr("unknown command 'srve': did you mean 'serve'?"));
    EXPECT_EQ(run({"-o", "json", "sale", "lst"}), 2);
    EXPECT_THAT(err(), HasSubstr("unknown command 'lst': did you mean 'list'?"));
    EXPECT_EQ(run({"serve", "--lisen=127.0.0.1:1"}), 2);
    EXPECT_THAT(err(), HasSubstr("unknown flag '--lisen': did you mean '--listen'?"));
    EXPECT_EQ(run({"serve", "--set", "server.thread=1"}), 2);
    EXPECT_THAT(err(), HasSubstr("did you mean 'server.threads'?"));
}

TEST_F(Cli, ServeRefusesWithoutSecretsAndProposesSome) {
    EXPECT_EQ(run({"serve"}), 1);
    EXPECT_FALSE(served_);
    EXPECT_THAT(err(), HasSubstr("export DOORBUSTER_ADMIN__KEY='"));
    EXPECT_THAT(err(), HasSubstr("export DOORBUSTER_IDENTITY__HMAC_SECRET='"));
}

TEST_F(Cli, ServeHandsOverWhatTheFlagsSay) {
    environment_ = {{"DOORBUSTER_ADMIN__KEY", key32}, {"DOORBUSTER_IDENTITY__HMAC_SECRET", key32}};
    EXPECT_EQ(run({"serve", "--listen", "127.0.0.1:1", "--admin-listen", "127.0.0.1:2", "--threads=3",
                   "--store-path", "/x", "--set", "log.level=debug", "--set", "orders.node=7"}),
              0);
    ASSERT_TRUE(served_);
    EXPECT_EQ(served_->server.listen.value(), "127.0.0.1:1");
    EXPECT_EQ(served_->admin.listen.value(), "127.0.0.1:2");
    EXPECT_EQ(served_->server.threads, 3u);
    EXPECT_EQ(served_->store.path.value(), "/x");
    EXPECT_EQ(served_->log.level.value(), "debug");
    EXPECT_EQ(served_->orders.node, 7u);
}

TEST_F(Cli, AFaultInAnotherSourceThanAFlagIsExitOne) {
    environment_ = {{"DOORBUSTER_SERVER__THREADS", "many"}};
    EXPECT_EQ(run({"serve"}), 1);
    EXPECT_THAT(err(), HasSubstr("DOORBUSTER_SERVER__THREADS"));
}

TEST_F(Cli, DevMakesItsKeysAndASecondTerminalFindsThem) {
    EXPECT_EQ(run({"buyer-token", "alice"}), 1);
    EXPECT_EQ(run({"dev"}), 0);
    ASSERT_TRUE(served_);
    EXPECT_EQ(keys_file_, "./data/dev.toml");
    EXPECT_GE(served_->admin.key.value().size(), 32u);
    EXPECT_EQ(run({"buyer-token", "alice"}), 0);
    EXPECT_EQ(run({"serve"}), 1) << "a server must not start on generated keys by chance";
}

TEST_F(Cli, ASecondTerminalFindsTheKeysOfAnotherDataFolder) {
    EXPECT_EQ(run({"dev", "--store-path", "elsewhere"}), 0);
    EXPECT_EQ(run({"buyer-token", "alice"}), 1);
    EXPECT_THAT(err(), HasSubstr("./data/dev.toml"));
    EXPECT_EQ(run({"buyer-token", "alice", "--store-path", "elsewhere"}), 0);
    EXPECT_EQ(run({"sale", "list", "--store-path", "nowhere"}), 1);
    EXPECT_THAT(err(), HasSubstr("nowhere/dev.toml"));
    environment_ = {{"DOORBUSTER_STORE__PATH", "elsewhere"}};
    EXPECT_EQ(run({"buyer-token", "alice"}), 0);
}

TEST_F(Cli, TwoListenersOnOnePlaceAreRefused) {
    environment_ = {{"DOORBUSTER_ADMIN__KEY", key32},
                    {"DOORBUSTER_IDENTITY__HMAC_SECRET", key32},
                    {"DOORBUSTER_SERVER__LISTEN", "0.0.0.0:9180"}};
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"serve"}, {"dev"}, {"config", "check"}}) {
        EXPECT_EQ(run(words), 1);
        EXPECT_FALSE(served_);
        EXPECT_THAT(err(), HasSubstr("server.listen (0.0.0.0:9180) and admin.listen (127.0.0.1:9180)"));
    }
}

TEST_F(Cli, NoTokenIsMadeThatNoServerWouldTake) {
    environment_ = {{"DOORBUSTER_IDENTITY__HMAC_SECRET", key32}};
    for (const char* buyer : {"a\nb", "a\x7f", "\xff", "\x01"}) {
        EXPECT_EQ(run({"buyer-token", buyer}), 2);
        EXPECT_EQ(out(), "");
        EXPECT_THAT(err(), HasSubstr("without control characters"));
    }
    EXPECT_EQ(run({"buyer-token", "\"gr\xc3\xbcn\" \\"}), 0);
}

TEST_F(Cli, TheAdminKeyIsNoFlag) {
    EXPECT_EQ(run({"sale", "list", "--admin-key", key32}), 2);
    EXPECT_THAT(err(), HasSubstr("unknown flag '--admin-key'"));
    EXPECT_THAT(err(), Not(HasSubstr(key32)));
    EXPECT_EQ(run({"sale", "list", "--admin-key-file", "absent"}), 1);
    EXPECT_THAT(err(), HasSubstr("--admin-key-file absent: No such file"));
}

TEST_F(Cli, BuyerTokenPrintsTheTokenAndNothingElse) {
    environment_ = {{"DOORBUSTER_IDENTITY__HMAC_SECRET", key32}};
    EXPECT_EQ(run({"buyer-token", "dev"}), 0);  // also a buyer whose name is a command's
    EXPECT_THAT(out(), testing::MatchesRegex("[-_A-Za-z0-9]+\\.[-_A-Za-z0-9]+\\.[-_A-Za-z0-9]+\n"));
    EXPECT_EQ(err(), "");
    EXPECT_EQ(run({"buyer-token", "dev", "-o", "json"}), 0);
    EXPECT_EQ(boost::json::parse(out()).at("buyer"), "dev");
}

TEST_F(Cli, ConfigPrintNeverShowsASecret) {
    environment_ = {{"DOORBUSTER_ADMIN__KEY", key32}};
    for (const char* output : {"table", "json"}) {
        EXPECT_EQ(run({"config", "print", "-o", output}), 0);
        EXPECT_THAT(out(), HasSubstr("***"));
        EXPECT_THAT(out(), Not(HasSubstr(key32)));
        EXPECT_THAT(out(), HasSubstr("DOORBUSTER_ADMIN__KEY"));
    }
    EXPECT_EQ(boost::json::parse(out()).at("options").at(2).at("value"), 0);
}

TEST_F(Cli, ConfigPrintReferencePrintsTheReferenceFile) {
    EXPECT_EQ(run({"config", "print", "--reference"}), 0);
    EXPECT_EQ(out(), reference_toml());
}

TEST_F(Cli, ConfigCheckSaysWhatServeWouldSay) {
    EXPECT_EQ(run({"config", "check"}), 1);
    environment_ = {{"DOORBUSTER_ADMIN__KEY", key32}, {"DOORBUSTER_IDENTITY__HMAC_SECRET", key32}};
    EXPECT_EQ(run({"config", "check"}), 0);
    environment_["DOORBUSTER_SERVER__LISEN"] = "127.0.0.1:1";
    EXPECT_EQ(run({"config", "check"}), 1);
    EXPECT_THAT(err(), HasSubstr("did you mean 'DOORBUSTER_SERVER__LISTEN'?"));
}

TEST_F(Cli, ConfigCheckRefusesWhatServeWouldRefuse) {
    environment_ = {{"DOORBUSTER_ADMIN__KEY", key32},
                    {"DOORBUSTER_IDENTITY__HMAC_SECRET", key32},
                    {"DOORBUSTER_LIMITS__GLOBAL_PER_SECOND", "1"}};
    ASSERT_EQ(run({"config", "check"}), 0);
    for (const char* setting : {"limits.global_burst=100000", "risk.lists_file=/no/lists",
                                "identity.keys_file=/no/keys.json", "identity.keys_file=/dev/null"}) {
        EXPECT_EQ(run({"--set", setting, "config", "check"}), 1) << setting;
        EXPECT_THAT(err(), HasSubstr(std::string(setting).substr(0, 8))) << setting;
        EXPECT_EQ(out(), "") << setting;
    }
    EXPECT_EQ(run({"--set", "risk.lists_file=/dev/null", "config", "check"}), 0) << "an empty list is one";
}

TEST_F(Cli, VersionIsText) {
    EXPECT_EQ(run({"version"}), 0);
    EXPECT_EQ(out(), "doorbuster 1.2.3\n");
    EXPECT_EQ(run({"-o", "json", "version"}), 0);
    EXPECT_EQ(out(), "{\"version\":\"1.2.3\"}\n");
}

TEST_F(Cli, ASaleThatIsNotJsonIsNotSent) {
    in_.str("{");
    EXPECT_EQ(run({"sale", "create", "-"}), 1);
    EXPECT_THAT(err(), HasSubstr("standard input is not JSON"));
    EXPECT_EQ(run({"sale", "create", "absent.json"}), 1);
    EXPECT_THAT(err(), HasSubstr("cannot read 'absent.json'"));
}

TEST_F(Cli, SaleCommandsSayWhichKeyIsMissing) {
    EXPECT_EQ(run({"sale", "list"}), 1);
    EXPECT_THAT(err(), HasSubstr("DOORBUSTER_ADMIN__KEY"));
}

}  // namespace
}  // namespace doorbuster
