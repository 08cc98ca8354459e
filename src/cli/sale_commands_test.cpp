// sale warm and sale rebuild: what they ask the server, what they make of its answers, how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/cli.hpp"
#include "cli/one_answer_testing.hpp"

namespace doorbuster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* warming = R"({"id":"phone-drop","state":"warming","version":3})";
constexpr const char* held =
    R"({"sale":{"id":"phone-drop","state":"warming","version":3},"items":[],"server":{},"warm_up":[)"
    R"({"check":"redis.eviction","severity":"failure","what":"Redis may evict","mend":"CONFIG SET"},)"
    R"({"check":"postgres.standby","severity":"warning","what":"no standby","mend":"name one"}]})";

std::string books(int epoch, const std::string& state) {
    return R"({"sale":"phone-drop","reason":"why","items":[{"id":"phone","epoch":)" + std::to_string(epoch) +
           R"(,"state":")" + state + R"("}]})";
}

class SaleCommandsTest : public testing::Test {
protected:
    // The exit code; the server says `bodies` one after the other.
    int run(std::vector<std::string> words, const std::vector<std::string>& bodies) {
        std::vector<std::string> answers;
        for (const std::string& body : bodies) {
            answers.push_back("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\n\r\n" + body);
        }
        SeveralAnswers peer(answers);
        words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(peer.port())});
        CliWorld world{in_, out_, err_, {{"DOORBUSTER_ADMIN__KEY", "0123456789abcdef0123456789abcdef"}}};
        const int code = run_cli(words, world, {});
        requests_ = peer.requests();
        return code;
    }
    std::string out() const { return out_.str(); }

    std::vector<std::string> requests_;
    std::istringstream in_;
    std::ostringstream out_, err_;
};

TEST_F(SaleCommandsTest, AWarmUpThatIsHeldSaysByWhatAndHowToMendIt) {
    EXPECT_EQ(run({"sale", "warm", "phone-drop"}, {warming, held}), 0);
    EXPECT_THAT(requests_, ElementsAre(StartsWith("POST /v1/sales/phone-drop/warm HTTP/1.1"),
                                       StartsWith("GET /v1/sales/phone-drop/status HTTP/1.1")));
    EXPECT_THAT(out(), StartsWith("sale 'phone-drop' is warming (version 3)\n"));
    EXPECT_THAT(out(), HasSubstr("failure: Redis may evict\n  mend: CONFIG SET\n"));
    EXPECT_THAT(out(), HasSubstr("warning: no standby\n  mend: name one\n"));
}

TEST_F(SaleCommandsTest, AWarmUpThatIsDoneAsksNoMore) {
    EXPECT_EQ(run({"sale", "warm", "phone-drop"}, {R"({"id":"phone-drop","state":"ready","version":4})"}), 0);
    EXPECT_EQ(out(), "sale 'phone-drop' is ready (version 4)\n");
}

TEST_F(SaleCommandsTest, ARebuildIsAskedForByItemAndReason) {
    EXPECT_EQ(
        run({"sale", "rebuild", "phone-drop", "phone", "--reason", "Redis was moved"}, {books(4, "open")}),
        0);
    ASSERT_EQ(requests_.size(), 1u);
    EXPECT_THAT(requests_[0], StartsWith("POST /v1/sales/phone-drop/rebuild HTTP/1.1"));
    EXPECT_THAT(requests_[0], testing::EndsWith(R"({"item":"phone","reason":"Redis was moved"})"));
    EXPECT_THAT(out(), HasSubstr("phone"));
}

TEST_F(SaleCommandsTest, WhoWaitsHearsWhenTheNextEpochIsOpen) {
    EXPECT_EQ(run({"sale", "rebuild", "phone-drop", "--wait"},
                  {books(4, "open"), books(4, "open"), books(5, "rebuilding"), books(6, "open")}),
              0);
    EXPECT_EQ(requests_.size(), 4u);
    EXPECT_THAT(out(), HasSubstr("phone  6      open\n"));
}

TEST_F(SaleCommandsTest, WhatIsNoRebuildFails) {
    EXPECT_EQ(run({"sale", "rebuild", "phone-drop"}, {"{}"}), 1);
    EXPECT_EQ(run({"sale", "rebuild", "phone-drop", "--wait"}, {books(4, "open"), "[]"}), 1);
}

}  // namespace
}  // namespace doorbuster
