#include "cli/admin_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/one_answer_testing.hpp"

namespace doorbuster {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using testing::HasSubstr;

TEST(AdminAddress, MayBeAUrlOrHostAndPort) {
    for (const char* text :
         {"http://127.0.0.1:9180", "http://127.0.0.1:9180/", "127.0.0.1:9180", "0.0.0.0:9180"}) {
        const auto parsed = parse_admin_address(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(parsed->host, "127.0.0.1");
        EXPECT_EQ(parsed->port, 9180);
    }
    EXPECT_EQ(parse_admin_address("[::]:9180")->host, "::1");
    for (const char* text : {"", "here", "https://a:1", "a:0", "http://a:1/path", "a:b", "ftp://a:1"}) {
        EXPECT_FALSE(parse_admin_address(text)) << text;
    }
}

TEST(AdminClient, SendsTheKeyAndTheVersionAndBringsTheAnswer) {
    OneAnswer peer("HTTP/1.1 200 OK\r\nETag: \"5\"\r\nContent-Length: 2\r\n\r\n{}");
    const AdminClient client({"127.0.0.1", peer.port()}, "the-key");
    const auto answer = client.call(
        {.method = "POST", .path = "/v1/sales/a/restock", .body = "{\"units\":1}", .if_match = "\"4\""});
    const std::string request = peer.request();
    ASSERT_TRUE(answer) << answer.error();
    EXPECT_TRUE(answer->is_ok());
    EXPECT_EQ(answer->etag, "\"5\"");
    EXPECT_EQ(answer->body, "{}");
    EXPECT_THAT(request, HasSubstr("POST /v1/sales/a/restock HTTP/1.1\r\n"));
    EXPECT_THAT(request, HasSubstr("Authorization: Bearer the-key\r\n"));
    EXPECT_THAT(request, HasSubstr("If-Match: \"4\"\r\n"));
    EXPECT_THAT(request, HasSubstr("Content-Type: application/json\r\n"));
}

TEST(AdminClient, AChangeWithoutAnAnswerMayHaveHappened) {
    OneAnswer peer("");
    const auto answer =
        AdminClient({"127.0.0.1", peer.port()}, "k").call({.method = "POST", .path = "/v1/sales"});
    peer.request();
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error(), HasSubstr("may or may not have happened"));
}

TEST(AdminClient, AReadWithoutAnAnswerIsOnlyThat) {
    OneAnswer peer("");
    const auto answer = AdminClient({"127.0.0.1", peer.port()}, "k").call({.path = "/v1/sales"});
    peer.request();
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error(), testing::Not(HasSubstr("happened")));
}

TEST(AdminClient, AnAbsentServerIsAskedAfter) {
    uint16_t port = 0;
    {
        asio::io_context context;
        port = tcp::acceptor(context, {asio::ip::address_v4::loopback(), 0}).local_endpoint().port();
    }
    const auto answer = AdminClient({"127.0.0.1", port}, "k").call({.method = "POST", .path = "/v1/sales"});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error(),
                HasSubstr("cannot reach the admin listener at 127.0.0.1:" + std::to_string(port)));
    EXPECT_THAT(answer.error(), HasSubstr("is the server running?"));
}

}  // namespace
}  // namespace doorbuster
