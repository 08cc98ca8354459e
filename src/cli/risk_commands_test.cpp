// level, lists and reload: what they ask the server, and what they make of its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/cli.hpp"
#include "cli/one_answer_testing.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RiskCommands : public testing::Test {
protected:
    int run(std::vector<std::string> words) {
        CliWorld world{in_, out_, err_, {{"DOORBUSTER_ADMIN__KEY", "0123456789abcdef0123456789abcdef"}}};
        return run_cli(words, world, {});
    }

    // Runs against a peer that answers with this; the request's first line.
    std::string asked(std::vector<std::string> words, const std::string& body,
                      const std::string& status = "200 OK") {
        OneAnswer peer("HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
                       "\r\n\r\n" + body);
        words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(peer.port())});
        code_ = run(words);
        const std::string request = peer.request();
        return request.substr(0, request.find("\r\n"));
    }
    std::string out() const { return out_.str(); }
    std::string err() const { return err_.str(); }

    int code_ = -1;
    std::istringstream in_;
    std::ostringstream out_, err_;
};

TEST_F(RiskCommands, LevelShowsWhoSetItAndSinceWhen) {
    EXPECT_EQ(
        asked({"level"}, R"({"level":"no_browse","set_by":"detector","since":"2026-12-01T12:00:00.000Z"})"),
        "GET /v1/level HTTP/1.1");
    EXPECT_EQ(code_, 0);
    EXPECT_EQ(out(), "the level is no_browse since 2026-12-01T12:00:00.000Z (set by the detector)\n");
}

TEST_F(RiskCommands, LevelSetsIt) {
    EXPECT_EQ(asked({"level", "closed"}, R"({"level":"closed","set_by":"operator","since":"now"})"),
              "PUT /v1/level HTTP/1.1");
    EXPECT_EQ(code_, 0);
}

TEST_F(RiskCommands, AListEntryTravelsEncoded) {
    EXPECT_EQ(asked({"lists", "block", "address", "203.0.113.0/24"},
                    R"({"list":"block","kind":"address","value":"203.0.113.0/24"})"),
              "PUT /v1/lists/block/address/203.0.113.0%2F24 HTTP/1.1");
    EXPECT_EQ(out(), "address '203.0.113.0/24' is blocked\n");
    EXPECT_EQ(asked({"lists", "remove", "allow", "buyer", "mr x"},
                    R"({"list":"allow","kind":"buyer","value":"mr x"})"),
              "DELETE /v1/lists/allow/buyer/mr%20x HTTP/1.1");
    EXPECT_THAT(out(), HasSubstr("buyer 'mr x' is off the allow list"));
}

TEST_F(RiskCommands, ListsShowsWhereEachEntryComesFrom) {
    EXPECT_EQ(asked({"lists", "show"},
                    R"({"entries":[{"list":"block","kind":"buyer","value":"mal\u001blory","from":"file"}]})"),
              "GET /v1/lists HTTP/1.1");
    EXPECT_THAT(out(), HasSubstr("LIST"));
    EXPECT_THAT(out(), HasSubstr("mal\\x1blory"));
    EXPECT_THAT(out(), HasSubstr("file"));
}

TEST_F(RiskCommands, ReloadTellsWhatCountsNowAndWhatWaits) {
    EXPECT_EQ(asked({"reload"}, R"({"changed":["log.level"],"needs_restart":["server.threads"]})"),
              "POST /v1/reload HTTP/1.1");
    EXPECT_EQ(out(), "in effect now:\n  log.level\nchanged, but needs a restart:\n  server.threads\n");
}

TEST_F(RiskCommands, AFaultyReloadTellsAllFaults) {
    asked({"reload"},
          R"({"title":"The request is not valid","status":422,"code":"invalid","errors":[)"
          R"({"pointer":"","detail":"a.toml:1: wrong"},{"pointer":"","detail":"a.toml:2: wrong"}]})",
          "422 Unprocessable Entity");
    EXPECT_EQ(code_, 1);
    EXPECT_THAT(err(), HasSubstr("a.toml:1: wrong"));
    EXPECT_THAT(err(), HasSubstr("a.toml:2: wrong"));
}

TEST_F(RiskCommands, WhatIsNotUnderstoodIsExitTwo) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"level", "half"},
                                                  {"level", "closed", "now"},
                                                  {"lists"},
                                                  {"lists", "block"},
                                                  {"lists", "block", "city", "x"},
                                                  {"lists", "remove", "grey", "buyer", "x"},
                                                  {"reload", "now"}}) {
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_EQ(out(), "");
    }
}

}  // namespace
}  // namespace doorbuster
