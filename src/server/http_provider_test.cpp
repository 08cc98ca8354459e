#include "server/http_provider.hpp"

#include <gtest/gtest.h>

#include "outbound/web_server_testing.hpp"

namespace doorbuster {
namespace {

using testing::WebRequest;
using testing::WebServer;

ProviderCall call(ProviderAsk ask) {
    PaymentRecord payment;
    payment.id = PaymentId{7};
    payment.order = OrderId{42};
    payment.amount_minor = 999900;
    payment.currency = "TWD";
    return {ask, payment};
}

struct Asked {
    ProviderAnswer answer;
    WebRequest request;
};

Asked ask(ProviderAsk what, const std::string& reply) {
    Asked asked;
    WebServer server([&](const WebRequest& request) {
        asked.request = request;
        return reply;
    });
    HttpProvider provider(
        {.url = server.url(""), .key = "secret", .return_url = "https://shop.example/orders#o{order}"});
    asked.answer = provider.ask(call(what));
    return asked;
}

const std::string created = R"({"key":"7","state":"created","payment_url":"http://pay/7"})";

TEST(HttpProvider, CreatesAnAttemptUnderItsKey) {
    const Asked asked = ask(ProviderAsk::create, WebServer::with_status("201 Created", created));
    EXPECT_EQ(asked.request.method, "PUT");
    EXPECT_EQ(asked.request.path, "/v1/payments/7");
    EXPECT_EQ(asked.request.header("Authorization"), "Bearer secret");
    EXPECT_EQ(
        asked.request.body,
        R"({"amount_minor":999900,"currency":"TWD","reference":"42","return_url":"https://shop.example/orders#o42"})");
    ASSERT_TRUE(asked.answer.view.has_value());
    EXPECT_EQ(asked.answer.view->state, ProviderState::created);
    EXPECT_EQ(asked.answer.view->url, "http://pay/7");
}

TEST(HttpProvider, AsksForAVoidAndARefundByTheirOwnCalls) {
    EXPECT_EQ(ask(ProviderAsk::take_back, WebServer::ok(created)).request.path, "/v1/payments/7/void");
    EXPECT_EQ(ask(ProviderAsk::refund, WebServer::ok(created)).request.path, "/v1/payments/7/refund");
    EXPECT_EQ(ask(ProviderAsk::look_up, WebServer::ok(created)).request.method, "GET");
}

TEST(HttpProvider, TellsWhatWasCaptured) {
    const auto view =
        read_provider_payment(R"({"state":"captured","captured_minor":5,"captured_currency":"CNY"})");
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->state, ProviderState::captured);
    EXPECT_EQ(view->captured_minor, 5);
    EXPECT_EQ(view->captured_currency, "CNY");
}

TEST(HttpProvider, AnAttemptThatIsNotThereIsUnknownNotAnError) {
    const Asked asked =
        ask(ProviderAsk::look_up, WebServer::with_status("404 Not Found", R"({"state":"unknown"})"));
    ASSERT_TRUE(asked.answer.view.has_value());
    EXPECT_EQ(asked.answer.view->state, ProviderState::unknown);
}

TEST(HttpProvider, WhatIsNoAnswerIsNoView) {
    for (const std::string& reply : {WebServer::with_status("503 Busy", "{}"), WebServer::ok("<html>"),
                                     WebServer::ok(R"({"state":"x"})"), WebServer::ok("[]"),
                                     WebServer::with_status("401 No", created)}) {
        const Asked asked = ask(ProviderAsk::refund, reply);
        EXPECT_FALSE(asked.answer.view.has_value()) << reply;
        EXPECT_FALSE(asked.answer.error.empty());
    }
}

}  // namespace
}  // namespace doorbuster
