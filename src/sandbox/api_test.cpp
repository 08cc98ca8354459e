#include "sandbox/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/testing.hpp"

namespace doorbuster::sandbox {
namespace {

using ::testing::HasSubstr;
using testing::moment;
using testing::object_of;
using testing::text_of;

const std::string intent_body = R"({"amount_minor":1999,"currency":"CNY","reference":"order-1"})";

class Api : public ::testing::Test {
protected:
    Reply call(std::string_view method, std::string_view target, std::string_view body = "") {
        return api_.answer({.method = method, .target = target, .authorization = "Bearer key", .body = body},
                           moment());
    }
    std::string state(std::string_view key) {
        return text_of(object_of(call("GET", "/v1/payments/" + std::string(key)).body), "state");
    }

    SandboxProvider provider_{{.public_url = "http://pay"}};
    SandboxApi api_{provider_, "key", [] { return WebhookCounts{.delivered = 5}; }};
};

TEST_F(Api, APaymentIsMadeOnceAndAnsweredWhole) {
    const Reply made = call("PUT", "/v1/payments/k-1", intent_body);
    EXPECT_EQ(made.status, 201u);
    const auto expected = object_of(
        R"({"key":"k-1","state":"created","amount_minor":1999,"currency":"CNY","captured_minor":0,
            "captured_currency":"","reference":"order-1","payment_url":"http://pay/pay/k-1?lang={lang}","version":1})");
    EXPECT_EQ(object_of(made.body), expected);
    EXPECT_EQ(call("PUT", "/v1/payments/k-1", intent_body).status, 200u);
    EXPECT_EQ(object_of(call("GET", "/v1/payments/k-1").body), expected);
    EXPECT_EQ(call("PUT", "/v1/payments/k-1", R"({"amount_minor":1,"currency":"CNY","reference":"order-1"})")
                  .status,
              409u);
}

TEST_F(Api, NothingUnderV1WithoutTheKey) {
    for (const std::string_view authorization :
         {"", "key", "Bearer ", "Bearer kez", "Bearer key2", "Basic key"}) {
        for (const std::string_view target : {"/v1/payments/k", "/v1/payments", "/v1/faults", "/v1/else"}) {
            const Reply reply =
                api_.answer({.method = "GET", .target = target, .authorization = authorization}, moment());
            EXPECT_EQ(reply.status, 401u) << authorization << ' ' << target;
        }
    }
}

TEST_F(Api, WhatIsUnknownIsSaidToBe) {
    EXPECT_EQ(call("GET", "/v1/payments/k").status, 404u);
    EXPECT_EQ(state("k"), "unknown");
    EXPECT_EQ(call("POST", "/v1/payments/k/capture").status, 404u);
    EXPECT_EQ(call("POST", "/v1/payments/k/refund").status, 409u);
}

TEST_F(Api, EveryVerbDoesWhatItSays) {
    EXPECT_EQ(text_of(object_of(call("POST", "/v1/payments/tomb/void").body), "state"), "voided");
    EXPECT_EQ(text_of(object_of(call("PUT", "/v1/payments/tomb", intent_body).body), "state"), "voided");
    ASSERT_EQ(call("PUT", "/v1/payments/k", intent_body).status, 201u);
    EXPECT_EQ(call("POST", "/v1/payments/k/decline").status, 200u);
    EXPECT_EQ(state("k"), "declined");
    EXPECT_EQ(call("POST", "/v1/payments/k/capture").status, 200u);
    EXPECT_EQ(text_of(object_of(call("POST", "/v1/payments/k/void").body), "state"), "captured");
    EXPECT_EQ(call("POST", "/v1/payments/k/refund").status, 200u);
    EXPECT_EQ(state("k"), "refunded");
    EXPECT_EQ(call("POST", "/v1/payments/k/decline").status, 409u);
}

TEST_F(Api, ABodyThatIsNoIntentIsRefusedAndLeavesNothing) {
    for (const std::string_view body :
         {"", "[]", "{}", R"({"amount_minor":0,"currency":"CNY","reference":"r"})",
          R"({"amount_minor":-1,"currency":"CNY","reference":"r"})",
          R"({"amount_minor":1.5,"currency":"CNY","reference":"r"})",
          R"({"amount_minor":"1","currency":"CNY","reference":"r"})",
          R"({"amount_minor":1000000000000001,"currency":"CNY","reference":"r"})",
          R"({"amount_minor":1,"currency":"cny","reference":"r"})",
          R"({"amount_minor":1,"currency":"CNYX","reference":"r"})", R"({"amount_minor":1,"currency":"CNY"})",
          R"({"amount_minor":1,"currency":"CNY","reference":""})",
          R"({"amount_minor":1,"amount_minor":2,"currency":"CNY","reference":"r"})",
          R"({"amount_minor":1,"currency":"CNY","reference":"r","return_url":"javascript:alert"})",
          R"({"amount_minor":1,"currency":"CNY","reference":"r","return_url":7})"}) {
        EXPECT_EQ(call("PUT", "/v1/payments/k", body).status, 422u) << body;
    }
    for (const std::string_view key : {"a.b", "a%20b", ""}) {
        EXPECT_EQ(call("PUT", "/v1/payments/" + std::string(key), intent_body).status, 422u) << key;
    }
    EXPECT_EQ(call("PUT", "/v1/payments/" + std::string(65, 'a'), intent_body).status, 422u);
    EXPECT_EQ(provider_.payments(), 0u);
}

TEST_F(Api, ListsAllPaymentsPageByPage) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(call("PUT", "/v1/payments/k" + std::to_string(i), intent_body).status, 201u);
    }
    const auto first = object_of(call("GET", "/v1/payments?after=0&limit=3").body);
    EXPECT_EQ(first.at("payments").as_array().size(), 3u);
    EXPECT_EQ(first.at("next"), 3);
    const auto second = object_of(call("GET", "/v1/payments?limit=3&after=3").body);
    EXPECT_EQ(second.at("payments").as_array().size(), 2u);
    EXPECT_EQ(text_of(second.at("payments").as_array()[0].as_object(), "key"), "k3");
    EXPECT_TRUE(second.at("next").is_null());
    EXPECT_EQ(object_of(call("GET", "/v1/payments").body).at("payments").as_array().size(), 5u);
    EXPECT_EQ(object_of(call("GET", "/v1/payments?after=18446744073709551615").body)
                  .at("payments")
                  .as_array()
                  .size(),
              0u);
    for (const std::string_view query : {"after=x", "limit=0", "limit=-1", "after="}) {
        EXPECT_EQ(call("GET", "/v1/payments?" + std::string(query)).status, 422u) << query;
    }
}

TEST_F(Api, TheFaultSwitchSwitches) {
    const Reply set = call("PUT", "/v1/faults", R"({"faults":["lost","forged"]})");
    EXPECT_EQ(set.status, 200u);
    EXPECT_TRUE(provider_.faults().has(Fault::lost));
    const auto shown = object_of(call("GET", "/v1/faults").body);
    EXPECT_EQ(shown.at("faults"), (boost::json::array{"lost", "forged"}));
    EXPECT_EQ(shown.at("webhooks").as_object().at("delivered"), 5);
    for (const std::string_view body :
         {"", "{}", R"({"faults":["lots"]})", R"({"faults":[1]})", R"({"faults":"lost"})"}) {
        EXPECT_EQ(call("PUT", "/v1/faults", body).status, 422u) << body;
    }
    EXPECT_TRUE(provider_.faults().has(Fault::lost));
    EXPECT_EQ(call("PUT", "/v1/faults", R"({"faults":["none"]})").status, 200u);
    EXPECT_TRUE(provider_.faults().words().empty());
}

TEST_F(Api, ABuyerPaysOnThePageWithoutAKey) {
    ASSERT_EQ(call("PUT", "/v1/payments/k", intent_body).status, 201u);
    const auto visit = [&](std::string_view method, std::string_view target,
                           std::string_view languages_liked = "") {
        return api_.answer({.method = method, .target = target, .accept_language = languages_liked},
                           moment());
    };
    EXPECT_EQ(visit("GET", "/pay/k").status, 200u);
    EXPECT_THAT(visit("GET", "/pay/k", "zh-TW").body, HasSubstr("請"));
    const Reply declined = visit("POST", "/pay/k/decline");
    EXPECT_EQ(declined.status, 303u);
    EXPECT_EQ(declined.location, "/pay/k?lang=en");
    EXPECT_THAT(visit("GET", "/pay/k?lang=zh-Hans", "zh-TW").body, HasSubstr("lang=\"zh-Hans\""));
    EXPECT_THAT(visit("GET", "/pay/k?lang={lang}", "zh-TW").body, HasSubstr("lang=\"zh-Hant\""));
    EXPECT_EQ(state("k"), "declined");
    EXPECT_EQ(visit("POST", "/pay/k/capture").status, 303u);
    EXPECT_EQ(state("k"), "captured");
    EXPECT_EQ(visit("POST", "/pay/k/decline").status, 303u);
    EXPECT_EQ(state("k"), "captured");
    for (const std::string_view target : {"/pay/unknown", "/pay/", "/pay/k/refund", "/pay/../k"}) {
        EXPECT_EQ(visit("POST", target).status, 404u) << target;
    }
    EXPECT_EQ(visit("GET", "/pay/k/capture").status, 404u);
}

TEST_F(Api, OnlyTheMerchantsCallsMeetFaults) {
    for (const std::string_view target : {"/v1/payments/k", "/v1/payments/k/void", "/v1/payments/k/refund"}) {
        EXPECT_TRUE(SandboxApi::is_merchants({.method = "POST", .target = target})) << target;
    }
    for (const std::string_view target : {"/v1/payments?after=1", "/v1/faults", "/pay/k",
                                          "/v1/payments/k/capture", "/v1/payments/k/decline?x=1"}) {
        EXPECT_FALSE(SandboxApi::is_merchants({.method = "POST", .target = target})) << target;
    }
}

}  // namespace
}  // namespace doorbuster::sandbox
