#include "outbound/http_caller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "outbound/web_server_testing.hpp"

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::WebRequest;
using testing::WebServer;

std::string redirect(const std::string& location) {
    return "HTTP/1.1 302 Found\r\nLocation: " + location +
           "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
}

TEST(HttpCaller, SendsMethodHeadersAndBodyAsGiven) {
    WebRequest seen;
    const WebServer server([&](const WebRequest& request) {
        seen = request;
        return WebServer::with_status("201 Created", "made");
    });
    for (const std::string method : {"POST", "PUT", "DELETE"}) {
        const auto answer = HttpCaller().run({.method = method,
                                              .url = server.url("/a?b=c"),
                                              .body = "{\"n\":1}",
                                              .headers = {"Content-Type: application/json", "X-Own: yes"}});
        ASSERT_TRUE(answer.has_value()) << answer.error();
        EXPECT_EQ(answer->status, 201);
        EXPECT_EQ(answer->body, "made");
        EXPECT_EQ(seen.method, method);
        EXPECT_EQ(seen.path, "/a?b=c");
        EXPECT_EQ(seen.body, "{\"n\":1}");
        EXPECT_EQ(seen.header("Content-Type"), "application/json");
        EXPECT_EQ(seen.header("X-Own"), "yes");
        EXPECT_EQ(seen.header("Expect"), "");
    }
}

TEST(HttpCaller, AnEmptyPostHasNoBodyAndSaysSo) {
    WebRequest seen;
    const WebServer server([&](const WebRequest& request) {
        seen = request;
        return WebServer::ok("");
    });
    ASSERT_TRUE(HttpCaller().run({.method = "POST", .url = server.url("/")}).has_value());
    EXPECT_EQ(seen.method, "POST");
    EXPECT_EQ(seen.header("Content-Length"), "0");
}

TEST(HttpCaller, AnyStatusIsAnAnswer) {
    const WebServer server([](const WebRequest&) { return WebServer::with_status("503 Busy", "later"); });
    const auto answer = HttpCaller().run({.url = server.url("/")});
    ASSERT_TRUE(answer.has_value()) << answer.error();
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(answer->body, "later");
}

TEST(HttpCaller, KeepsToItsBoundOfBytes) {
    const std::string large(101, ' ');
    const WebServer server([&](const WebRequest& request) {
        return request.path == "/announced" ? WebServer::ok(large)
                                            : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + large;
    });
    for (const char* path : {"/announced", "/unannounced"}) {
        EXPECT_EQ(HttpCaller().run({.url = server.url(path), .answer_bytes_max = 100}).error(),
                  "the answer is larger than 100 bytes");
        EXPECT_TRUE(HttpCaller().run({.url = server.url(path), .answer_bytes_max = 101}).has_value());
    }
}

TEST(HttpCaller, FollowsNoRedirectUnlessAllowed) {
    const WebServer server([](const WebRequest& request) {
        return request.path == "/moved" ? redirect("/here") : WebServer::ok("here");
    });
    EXPECT_EQ(HttpCaller().run({.url = server.url("/moved")})->status, 302);
    EXPECT_EQ(HttpCaller().run({.url = server.url("/moved"), .redirects_max = 1})->body, "here");
}

TEST(HttpCaller, AnAnswerThatNeverComesIsAnError) {
    const WebServer server([](const WebRequest&) { return ""; });
    const auto answer =
        HttpCaller().run({.url = server.url("/"), .total_max = std::chrono::milliseconds(50)});
    EXPECT_TRUE(answer.has_error());
}

TEST(HttpCaller, DialsNoPrivateAddressWhereNoneIsAllowed) {
    const WebServer server([](const WebRequest&) { return WebServer::ok("inside"); });
    const std::string port = std::to_string(server.port());
    for (const std::string host : {"127.0.0.1", "localhost", "0.0.0.0", "127.1", "2130706433", "0x7f000001",
                                   "[::1]", "[::ffff:127.0.0.1]"}) {
        EXPECT_EQ(HttpCaller()
                      .run({.url = "http://" + host + ":" + port + "/", .private_addresses_allowed = false})
                      .error(),
                  "the name leads to a private address")
            << host;
    }
    EXPECT_EQ(server.requests(), 0u);
    EXPECT_TRUE(HttpCaller().run({.url = server.url("/")}).has_value());
}

// The connection that an unjudged call left open would take the judged one inside.
TEST(HttpCaller, AKeptConnectionIsNoWayAroundTheJudge) {
    const WebServer server(
        [](const WebRequest&) { return "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ninside"; });
    HttpCaller caller;
    ASSERT_TRUE(caller.run({.url = server.url("/")}).has_value());
    const auto judged = caller.run(
        {.url = server.url("/"), .total_max = std::chrono::seconds(60), .private_addresses_allowed = false});
    EXPECT_EQ(judged.error(), "the name leads to a private address");
}

TEST(HttpCaller, HeedsNoProxyOfTheEnvironmentUnlessAllowed) {
    const WebServer proxy([](const WebRequest&) { return WebServer::ok("from the proxy"); });
    const WebServer server([](const WebRequest&) { return WebServer::ok("from the server"); });
    ::setenv("http_proxy", proxy.url("").c_str(), 1);
    ::unsetenv("no_proxy");
    ::unsetenv("NO_PROXY");
    const std::string url = server.url("/");
    EXPECT_EQ(HttpCaller().run({.url = url})->body, "from the server");
    EXPECT_EQ(HttpCaller().run({.url = url, .environment_proxy_allowed = true})->body, "from the proxy");
    // The proxy would be told to dial a name that nobody has judged.
    const auto judged = HttpCaller().run({.url = "http://name.invalid/",
                                          .private_addresses_allowed = false,
                                          .environment_proxy_allowed = true});
    EXPECT_THAT(judged.error(), HasSubstr("resolve"));
    ::unsetenv("http_proxy");
    EXPECT_EQ(proxy.requests(), 1u);
}

TEST(HttpCaller, AHeaderCannotSmuggleInAnother) {
    const WebServer server([](const WebRequest&) { return WebServer::ok(""); });
    HttpCaller caller;
    for (const std::string header : {"X-A: b\r\nX-C: d", "X-A: b\nX-C: d"}) {
        EXPECT_TRUE(caller.run({.url = server.url("/"), .headers = {header}}).has_error());
    }
    EXPECT_EQ(server.requests(), 0u);
}

TEST(HttpCaller, NeverRepeatsThePasswordOfAUrl) {
    const auto refused = HttpCaller().run({.url = "http://shop:hunter2@127.0.0.1:1/keys"});
    ASSERT_TRUE(refused.has_error());
    EXPECT_THAT(refused.error(), Not(HasSubstr("hunter2")));
}

TEST(HttpCaller, EndsAtOnceWhenCancelled) {
    HttpCaller caller;
    const WebServer server([&](const WebRequest&) {
        caller.cancel();
        return "";
    });
    EXPECT_EQ(caller.run({.url = server.url("/")}).error(), "it was cancelled");
    EXPECT_EQ(caller.run({.url = server.url("/")}).error(), "it was cancelled");
}

}  // namespace
}  // namespace doorbuster
