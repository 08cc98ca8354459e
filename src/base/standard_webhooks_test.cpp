#include "base/standard_webhooks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace doorbuster {
namespace {

using enum WebhookVerdict;
using namespace std::chrono_literals;

// The example that the specification publishes.
const std::string spec_secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const std::string spec_id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const std::string spec_body = R"({"test": 2432232314})";
const std::string spec_signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const Instant spec_sent_at = from_ms(1'614'265'330'000);

WebhookSecret secret(const std::string& text) {
    return *WebhookSecret::parse(text);
}
const std::vector<WebhookSecret> spec_secrets{secret(spec_secret)};

ReceivedWebhook spec_webhook() {
    return {.id = spec_id, .timestamp = "1614265330", .signature = spec_signature, .body = spec_body};
}

TEST(StandardWebhooks, SignsAsTheSpecificationDoes) {
    const WebhookHeaders headers = sign_webhook(spec_id, spec_sent_at + 999ms, spec_body, spec_secrets);
    EXPECT_EQ(headers.id, spec_id);
    EXPECT_EQ(headers.timestamp, "1614265330");
    EXPECT_EQ(headers.signature, spec_signature);
    EXPECT_EQ(headers.lines()[2], "webhook-signature: " + spec_signature);
}

TEST(StandardWebhooks, TakesWhatTheSpecificationSigned) {
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at), valid);
}

TEST(StandardWebhooks, AnyChangeOfWhatWasSignedIsNoMatch) {
    for (const auto change : {+[](ReceivedWebhook& webhook) { webhook.id = "msg_p5jXN8AQM9LWM0D4loKWxJeK"; },
                              +[](ReceivedWebhook& webhook) { webhook.timestamp = "1614265331"; },
                              +[](ReceivedWebhook& webhook) { webhook.body = R"({"test": 2432232315})"; },
                              +[](ReceivedWebhook& webhook) { webhook.body = R"({"test":2432232314})"; },
                              +[](ReceivedWebhook& webhook) { webhook.body = ""; },
                              +[](ReceivedWebhook& webhook) {
                                  webhook.signature = "v1,G0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
                              },
                              +[](ReceivedWebhook& webhook) { webhook.signature = "v1,"; },
                              +[](ReceivedWebhook& webhook) { webhook.signature = "v1,AAAA"; },
                              +[](ReceivedWebhook& webhook) { webhook.signature = "v1"; }}) {
        ReceivedWebhook changed = spec_webhook();
        change(changed);
        EXPECT_EQ(verify_webhook(changed, spec_secrets, spec_sent_at), no_match)
            << changed.id << ' ' << changed.timestamp << ' ' << changed.signature << ' ' << changed.body;
    }
    const std::vector other{secret(WebhookSecret::generate())};
    EXPECT_EQ(verify_webhook(spec_webhook(), other, spec_sent_at), no_match);
    EXPECT_EQ(verify_webhook(spec_webhook(), {}, spec_sent_at), no_match);
}

TEST(StandardWebhooks, FiveMinutesEitherWayAndNoLonger) {
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at + 5min), valid);
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at + 5min + 1ms), too_old);
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at - 5min), valid);
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at - 5min - 1ms), too_new);
    EXPECT_EQ(verify_webhook(spec_webhook(), spec_secrets, spec_sent_at + 2s, 1s), too_old);
}

TEST(StandardWebhooks, ARotationTakesTheOldAndTheNewSecret) {
    const WebhookSecret fresh = secret(WebhookSecret::generate());
    const std::vector both{fresh, secret(spec_secret)}, only_new{fresh};
    const WebhookHeaders signed_twice = sign_webhook(spec_id, spec_sent_at, spec_body, both);
    const ReceivedWebhook webhook{.id = signed_twice.id,
                                  .timestamp = signed_twice.timestamp,
                                  .signature = signed_twice.signature,
                                  .body = spec_body};
    EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), valid);
    EXPECT_EQ(verify_webhook(webhook, only_new, spec_sent_at), valid);
    EXPECT_EQ(verify_webhook(spec_webhook(), both, spec_sent_at), valid);
}

TEST(StandardWebhooks, SignaturesOfOtherSchemesArePassedOver) {
    ReceivedWebhook webhook = spec_webhook();
    const std::string mixed = "v1a,Zm9v v2,YmFy v1,!!! " + spec_signature;
    webhook.signature = mixed;
    EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), valid);
    const std::string foreign = "v1a" + spec_signature.substr(2);
    webhook.signature = foreign;
    EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), no_match);
}

TEST(StandardWebhooks, NoMoreSignaturesAreTriedThanTheBound) {
    std::string many;
    for (size_t i = 0; i < webhook_signatures_max; ++i) many += "v1,AAAA ";
    ReceivedWebhook webhook = spec_webhook();
    const std::string behind = many + spec_signature;
    webhook.signature = behind;
    EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), no_match);
    webhook.signature = std::string_view(behind).substr(8);
    EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), valid);
}

TEST(StandardWebhooks, WhatHasNotTheFormIsMalformed) {
    const std::string long_id(webhook_id_bytes_max + 1, 'a'),
        long_signature(webhook_signature_bytes_max + 1, 'a');
    for (const ReceivedWebhook& webhook :
         {ReceivedWebhook{
              .id = "", .timestamp = "1614265330", .signature = spec_signature, .body = spec_body},
          {.id = "a.b", .timestamp = "1614265330", .signature = spec_signature, .body = spec_body},
          {.id = "a b", .timestamp = "1614265330", .signature = spec_signature, .body = spec_body},
          {.id = long_id, .timestamp = "1614265330", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "-1614265330", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "+1614265330", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "1614265330.0", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = " 1614265330", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "161426533000", .signature = spec_signature, .body = spec_body},
          {.id = spec_id, .timestamp = "1614265330", .signature = "", .body = spec_body},
          {.id = spec_id, .timestamp = "1614265330", .signature = long_signature, .body = spec_body}}) {
        EXPECT_EQ(verify_webhook(webhook, spec_secrets, spec_sent_at), malformed)
            << webhook.id << ' ' << webhook.timestamp;
    }
}

TEST(StandardWebhooks, ASecretIsTakenOnlyInItsOwnForm) {
    EXPECT_TRUE(WebhookSecret::parse(WebhookSecret::generate()).has_value());
    EXPECT_TRUE(WebhookSecret::parse("whsec_" + base64(std::string(64, 'a'))).has_value());
    for (const std::string& text :
         {std::string(""), spec_secret.substr(6), std::string("whsec_"),
          "whsec_" + base64(std::string(23, 'a')), "whsec_" + base64(std::string(65, 'a')),
          "whsec_" + base64(std::string(500, 'a')), spec_secret + "!",
          spec_secret.substr(0, spec_secret.size() - 1)}) {
        const auto refused = WebhookSecret::parse(text);
        ASSERT_TRUE(refused.has_error()) << text;
        EXPECT_THAT(refused.error(), testing::HasSubstr("whsec_"));
        EXPECT_THAT(refused.error(), testing::Not(testing::HasSubstr("MfKQ")));
    }
}

}  // namespace
}  // namespace doorbuster
