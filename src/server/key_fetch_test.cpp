#include "server/key_fetch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "funnel/jwks.hpp"
#include "server/key_server_testing.hpp"

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using testing::KeyServer;

std::string redirect(const std::string& location) {
    return "HTTP/1.1 302 Found\r\nLocation: " + location +
           "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
}

TEST(KeyFetch, BringsTheBodyOfAnOk) {
    const KeyServer server([](const std::string&) { return KeyServer::ok("the keys"); });
    KeyFetch fetch;
    for (int i = 0; i < 2; ++i) {
        const auto body = fetch.fetch(server.url("/keys"));
        ASSERT_TRUE(body.has_value()) << body.error();
        EXPECT_EQ(*body, "the keys");
    }
}

TEST(KeyFetch, RefusesAnyOtherStatus) {
    const KeyServer server([](const std::string&) {
        return "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    });
    EXPECT_EQ(KeyFetch().fetch(server.url("/")).error(), "the answer has status 404");
}

TEST(KeyFetch, StopsReadingAtItsBound) {
    const std::string large(jwks_bytes_max + 1, ' ');
    const KeyServer server([&](const std::string& path) {
        return path == "/announced" ? KeyServer::ok(large)
                                    : "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + large;
    });
    for (const char* path : {"/announced", "/unannounced"}) {
        EXPECT_EQ(KeyFetch().fetch(server.url(path)).error(), "the answer is larger than 1048576 bytes")
            << path;
    }
}

TEST(KeyFetch, TakesTheLargestKeySetThatIsAllowed) {
    const KeyServer server(
        [](const std::string&) { return KeyServer::ok(std::string(jwks_bytes_max, ' ')); });
    EXPECT_EQ(KeyFetch().fetch(server.url("/"))->size(), jwks_bytes_max);
}

TEST(KeyFetch, FollowsARedirectButNotOutOfHttp) {
    const KeyServer server([](const std::string& path) {
        if (path == "/moved") return redirect("/keys");
        if (path == "/file") return redirect("file:///etc/hostname");
        if (path == "/gopher") return redirect("gopher://127.0.0.1:1/");
        if (path == "/loop") return redirect("/loop");
        return KeyServer::ok("the keys");
    });
    EXPECT_EQ(*KeyFetch().fetch(server.url("/moved")), "the keys");
    EXPECT_THAT(KeyFetch().fetch(server.url("/file")).error(), HasSubstr("rotocol"));
    EXPECT_THAT(KeyFetch().fetch(server.url("/gopher")).error(), HasSubstr("rotocol"));
    EXPECT_THAT(KeyFetch().fetch(server.url("/loop")).error(), HasSubstr("redirects"));
}

TEST(KeyFetch, SpeaksOnlyHttp) {
    for (const char* url : {"file:///etc/hostname", "ftp://127.0.0.1/keys", "dict://127.0.0.1:1/"}) {
        EXPECT_THAT(KeyFetch().fetch(url).error(), HasSubstr("rotocol")) << url;
    }
    EXPECT_TRUE(KeyFetch().fetch("").has_error());
}

TEST(KeyFetch, NeverRepeatsThePasswordOfAUrl) {
    const auto refused = KeyFetch().fetch("http://shop:hunter2@127.0.0.1:1/keys");
    ASSERT_TRUE(refused.has_error());
    EXPECT_THAT(refused.error(), ::testing::Not(HasSubstr("hunter2")));
}

TEST(KeyFetch, EndsAtOnceWhenCancelled) {
    KeyFetch fetch;
    // Cancelled while the answer is awaited: the server has the request and never answers.
    const KeyServer server([&](const std::string&) {
        fetch.cancel();
        return "";
    });
    EXPECT_EQ(fetch.fetch(server.url("/")).error(), "it was cancelled");
    EXPECT_EQ(fetch.fetch(server.url("/")).error(), "it was cancelled");
}

}  // namespace
}  // namespace doorbuster
