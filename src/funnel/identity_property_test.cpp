// Whatever a shop may say in a token comes back as it was said; whatever anybody else does to
// it is refused, and no bytes at all bring the reader down.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>

#include "funnel/identity.hpp"
#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using testing::ShopKey;

const Instant t0 = from_ms(1'800'000'000'000);

const ShopKey& shop_with(KeyAlgorithm algorithm) {
    static const ShopKey hs256(KeyAlgorithm::hs256, "h"), es256(KeyAlgorithm::es256, "e"),
        eddsa(KeyAlgorithm::eddsa, "d");
    if (algorithm == KeyAlgorithm::hs256) return hs256;
    return algorithm == KeyAlgorithm::es256 ? es256 : eddsa;
}

const Identity& identity() {
    static const Identity made(
        {.issuer = "shop", .audience = "sale", .check_claim = "check"},
        testing::ring_of({shop_with(KeyAlgorithm::hs256), shop_with(KeyAlgorithm::es256),
                          shop_with(KeyAlgorithm::eddsa)}));
    return made;
}

KeyAlgorithm any_algorithm() {
    return *rc::gen::element(KeyAlgorithm::hs256, KeyAlgorithm::es256, KeyAlgorithm::eddsa);
}

std::string any_name() {
    // Printable, with what JSON escapes among it.
    return *rc::gen::resize(
        128, rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '\x7f'))));
}

std::string payload_for(std::string_view buyer, int64_t exp_s) {
    boost::json::object said{
        {"sub", buyer}, {"exp", exp_s}, {"iss", "shop"}, {"aud", boost::json::array{"other", "sale"}}};
    return boost::json::serialize(said);
}

RC_GTEST_PROP(IdentityProperty, WhatTheShopSaysComesBack, ()) {
    const std::string buyer = any_name();
    RC_PRE(buyer.size() <= BuyerId::bytes_max);
    const int64_t exp_s = *rc::gen::inRange<int64_t>(1'799'999'000, 1'800'001'000);
    const auto who = identity().verify(shop_with(any_algorithm()).token(payload_for(buyer, exp_s)), t0);
    if (exp_s + 30 <= 1'800'000'000) {
        const bool is_expired = who.has_error() && who.error() == IdentityFault::expired;
        RC_ASSERT(is_expired);
    } else {
        RC_ASSERT(who.has_value());
        RC_ASSERT(who->buyer.view() == buyer);
        RC_ASSERT(to_ms(who->expires_at) == exp_s * 1000);
    }
}

RC_GTEST_PROP(IdentityProperty, NoChangedByteIsAccepted, ()) {
    std::string token = shop_with(any_algorithm()).token(payload_for("alice", 1'800'000'600));
    const size_t at = *rc::gen::inRange<size_t>(0, token.size());
    const char byte = *rc::gen::arbitrary<char>();
    RC_PRE(token[at] != byte);
    token[at] = byte;
    RC_ASSERT(!identity().verify(token, t0).has_value());
}

RC_GTEST_PROP(IdentityProperty, AnyBytesAreRefusedAndNothingWorse, ()) {
    const auto header = *rc::gen::arbitrary<std::string>();
    const auto payload = *rc::gen::arbitrary<std::string>();
    const auto signature = *rc::gen::arbitrary<std::string>();
    RC_ASSERT(!identity().verify(header + "." + payload + "." + signature, t0).has_value());
    const std::string shaped = base64url(header) + "." + base64url(payload) + "." + base64url(signature);
    RC_ASSERT(!identity().verify(shaped, t0).has_value());
}

RC_GTEST_PROP(IdentityProperty, AnySignedPayloadIsJudgedWithoutACrash, ()) {
    // Signed, so that the judging behind the signature is reached too.
    static const std::vector<std::string> pieces = {
        "{",       "}",           "[",          "]",       ",",     ":",       "\"sub\"",
        "\"aud\"", "\"exp\"",     "1800000600", "\"a\"",   "\"x\"", "\"iss\"", "1e9",
        "null",    "\"\\u0061\"", "\"check\"",  "\"pow\"", "-1",    " "};
    const auto chosen = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, pieces.size()));
    std::string payload;
    for (const size_t piece : chosen) payload += pieces[piece];
    const auto who = identity().verify(shop_with(KeyAlgorithm::hs256).token(payload), t0);
    const bool is_judged = !who || !who->buyer.empty();
    RC_ASSERT(is_judged);
}

}  // namespace
}  // namespace doorbuster
