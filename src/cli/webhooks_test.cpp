// webhooks and listen: what they ask the server, and what they make of its answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/standard_webhooks.hpp"
#include "cli/cli.hpp"
#include "cli/one_answer_testing.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::Not;

class WebhookCommands : public testing::Test {
protected:
    int run(std::vector<std::string> words) {
        CliWorld world{in_, out_, err_, {{"DOORBUSTER_ADMIN__KEY", "0123456789abcdef0123456789abcdef"}}};
        return run_cli(words, world, {});
    }
    std::string asked(std::vector<std::string> words, const std::string& body) {
        OneAnswer peer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                       body);
        words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(peer.port())});
        code_ = run(words);
        const std::string request = peer.request();
        return request.substr(0, request.find("\r\n"));
    }

    int code_ = -1;
    std::istringstream in_;
    std::ostringstream out_, err_;
};

TEST_F(WebhookCommands, ListAsksForOneStateAndTellsHowToGoOn) {
    EXPECT_EQ(asked({"webhooks", "list", "--state", "failed", "--limit", "1"},
                    R"({"deliveries":[{"event":"evt_17","type":"order.paid","sale":"drop","order":"7001",)"
                    R"("state":"failed","attempts":10,"next_attempt_at":null}],"next":"evt_17"})"),
              "GET /v1/deliveries?limit=1&state=failed HTTP/1.1");
    EXPECT_EQ(code_, 0);
    EXPECT_THAT(out_.str(), HasSubstr("evt_17"));
    EXPECT_THAT(out_.str(), HasSubstr("10"));
    EXPECT_THAT(out_.str(), HasSubstr("--before evt_17"));
}

TEST_F(WebhookCommands, ShowNamesEveryAttemptAndMovesNoCursor) {
    EXPECT_EQ(
        asked({"webhooks", "show", "evt_17"},
              "{\"delivery\":{\"event\":\"evt_17\"},\"attempts\":[{\"number\":1,\"status\":null,"
              "\"error\":\"timed out\\u001b[2J\",\"duration_ms\":5}],\"payload\":{\"type\":\"order.paid\"}}"),
        "GET /v1/deliveries/evt_17 HTTP/1.1");
    EXPECT_THAT(out_.str(), HasSubstr("timed out"));
    EXPECT_THAT(out_.str(), HasSubstr(R"({"type":"order.paid"})"));
    EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
}

TEST_F(WebhookCommands, ResendPosts) {
    EXPECT_EQ(asked({"webhooks", "resend", "evt_17"}, R"({"event":"evt_17"})"),
              "POST /v1/deliveries/evt_17/resend HTTP/1.1");
    EXPECT_EQ(out_.str(), "evt_17 is sent again\n");
}

TEST_F(WebhookCommands, ASecretIsAGoodOneAndNewEachTime) {
    ASSERT_EQ(run({"webhooks", "secret"}), 0);
    const std::string first = out_.str();
    EXPECT_TRUE(WebhookSecret::parse(first.substr(0, first.size() - 1)).has_value());
    out_.str("");
    run({"webhooks", "secret"});
    EXPECT_NE(out_.str(), first);
}

TEST_F(WebhookCommands, ListenForwardsOnlyToHttp) {
    EXPECT_EQ(run({"listen", "--forward-to", "file:///etc/passwd"}), 2);
    EXPECT_THAT(err_.str(), HasSubstr("--forward-to"));
}

// Takes what is written and then fails, as a pipe does whose reader has left.
struct LeavingReader : std::stringbuf {
    int sync() override { return -1; }
};

TEST_F(WebhookCommands, ListenBeginsWithWhatIsNewAndEndsWhenNobodyReadsAlong) {
    LeavingReader reader;
    static_cast<std::ostream&>(out_).rdbuf(&reader);
    EXPECT_EQ(asked({"listen"}, R"({"events":[{"id":"evt_1","payload":{"type":"sale.opened",)"
                                R"("timestamp":"t","data":{"id":"drop","state":"open"}}}],"next":"evt_1"})"),
              "GET /v1/events?after=newest&limit=100 HTTP/1.1");
    EXPECT_EQ(reader.str(), "t  evt_1  sale.opened  drop open\n");
    static_cast<std::ostream&>(out_).rdbuf(nullptr);
}

}  // namespace
}  // namespace doorbuster
