#include "http/cors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/gate_fixture.hpp"

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Answers everything as a listener with that list would, refusals and streams too.
class CorsHandler final : public Handler {
public:
    void handle(Exchange& exchange) override {
        cors.mark(exchange);
        if (exchange.request().path == "/refused") return exchange.refuse(Code::sold_out);
        if (exchange.request().path == "/stream") {
            static_cast<void>(exchange.begin_stream({.content_type = "text/event-stream"}, owner, 1));
            return exchange.end_stream();
        }
        exchange.answer({.body = Cors::is_preflight(exchange.request()) ? "preflight" : "other"});
    }
    void purchase_decided(Exchange&, const PurchaseReply&) override {}

    Cors cors;

private:
    struct Owner final : StreamOwner {
        void stream_ended(uint64_t) override {}
    } owner;
};

class CorsTest : public ::testing::Test {
protected:
    void start(const std::vector<std::string>& origins) {
        handler_.cors.set_origins(origins);
        gate_.set_handler(handler_);
        gate_.start();
    }
    std::string head(const std::string& path, const std::string& fields, const std::string& method = "GET") {
        Client client(gate_.port());
        client.send(method + " " + path + " HTTP/1.1\r\nHost: api\r\n" + fields + "\r\n");
        const Received reply = client.read(path != "/stream");
        return reply.head + "\r\n" + reply.body;
    }

    CorsHandler handler_;
    Gate gate_{0, {.listen = "127.0.0.1:0"}};
};

const std::string shop = "Origin: https://shop.example\r\n";

TEST_F(CorsTest, AnAnswerNamesTheOriginThatMayReadIt) {
    start({"https://other.example", "https://shop.example"});
    for (const char* path : {"/", "/refused", "/stream"}) {
        const std::string answer = head(path, shop);
        EXPECT_THAT(answer, HasSubstr("Access-Control-Allow-Origin: https://shop.example\r\n")) << path;
        EXPECT_THAT(answer, HasSubstr("Access-Control-Allow-Credentials: true\r\n")) << path;
        EXPECT_THAT(answer,
                    HasSubstr("Access-Control-Expose-Headers: ETag, Location, RateLimit, RateLimit-Policy, "
                              "Retry-After\r\n"))
            << path;
        EXPECT_THAT(answer, HasSubstr("Vary: Origin\r\n")) << path;
    }
}

TEST_F(CorsTest, OthersLearnOnlyThatItDepends) {
    start({"https://shop.example"});
    for (const char* fields : {"", "Origin: https://shop.example.evil\r\n", "Origin: null\r\n",
                               "Origin: http://shop.example\r\n", "Origin: HTTPS://SHOP.EXAMPLE\r\n"}) {
        const std::string answer = head("/", fields);
        EXPECT_THAT(answer, Not(HasSubstr("Access-Control"))) << fields;
        EXPECT_THAT(answer, HasSubstr("Vary: Origin\r\n")) << fields;
    }
}

TEST_F(CorsTest, WithoutAListNothingIsSaid) {
    start({});
    EXPECT_THAT(head("/", shop), Not(HasSubstr("Access-Control")));
    EXPECT_THAT(head("/", shop), Not(HasSubstr("Vary")));
}

TEST_F(CorsTest, WhatOneAnswerCarriedTheNextDoesNot) {
    start({"https://shop.example"});
    Client client(gate_.port());
    EXPECT_THAT(client.ask("GET / HTTP/1.1\r\nHost: api\r\n" + shop + "\r\n").head,
                HasSubstr("Allow-Origin"));
    EXPECT_THAT(client.ask("GET / HTTP/1.1\r\nHost: api\r\n\r\n").head, Not(HasSubstr("Allow-Origin")));
}

TEST_F(CorsTest, APreflightIsOptionsThatSaysWhatItIsFor) {
    start({"https://shop.example"});
    const std::string asks = "Access-Control-Request-Method: POST\r\n";
    EXPECT_THAT(head("/", shop + asks, "OPTIONS"), HasSubstr("preflight"));
    EXPECT_THAT(head("/", shop, "OPTIONS"), HasSubstr("other"));
    EXPECT_THAT(head("/", asks, "OPTIONS"), HasSubstr("other"));
    EXPECT_THAT(head("/", shop + asks, "POST"), HasSubstr("other"));
}

}  // namespace
}  // namespace doorbuster
