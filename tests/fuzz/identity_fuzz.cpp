// Buyers' tokens and the shop's keys.
//
// The input is taken as a token, as a set of keys, and as the header and the payload (a line
// each) of a token that is then signed rightly, so that the readers behind the signature are
// reached as well. Nobody is let in by a signature that does not hold.
#include <string>

#include "base/check.hpp"
#include "funnel/cookie.hpp"
#include "funnel/identity.hpp"
#include "funnel/identity_cache.hpp"
#include "funnel/jwks.hpp"

namespace doorbuster {
namespace {

const std::string secret = "a secret that is long enough to sign with";
const Instant now = from_ms(1'800'000'000'000);

std::shared_ptr<const KeyRing> ring() {
    return std::make_shared<const KeyRing>(*KeyRing::of({*Key::hs256("", secret)}));
}

const Identity& strict() {
    static const Identity identity(
        {.issuer = "https://shop.example", .audience = "doorbuster", .check_claim = "check"}, ring());
    return identity;
}
const Identity& plain() {
    static const Identity identity({.check_claim = "check"}, ring());
    return identity;
}

bool holds(std::string_view token) {
    const size_t dot = token.rfind('.');
    if (dot == std::string_view::npos) return false;
    const Digest mac = hmac_sha256(secret, token.substr(0, dot));
    return base64url(bytes_of(mac)) == token.substr(dot + 1);
}

void verify(std::string_view token) {
    static IdentityCache cache;
    for (const Identity* identity : {&strict(), &plain()}) {
        const auto who = identity->verify(token, now);
        const auto cached = cache.verify(*identity, token, now);
        CHECK(who.has_value() == cached.has_value());
        if (!who) continue;
        CHECK(holds(token) && token.size() <= Identity::token_bytes_max);
        CHECK(who->buyer == cached->buyer && !who->buyer.view().empty());
        CHECK(who->expires_at + IdentityRules::skew_max > now && !identity->untimely(*who, now));
        CHECK(cache.verify(*identity, token, now)->buyer == who->buyer);
    }
}

void fuzz(const std::string& text) {
    verify(text);
    static_cast<void>(presented_token(text, text, "session"));
    if (const auto keys = parse_jwks(text)) CHECK(!keys->empty() && keys->keys().size() <= KeyRing::keys_max);
    const size_t line = text.find('\n');
    if (line == std::string::npos) return;
    std::string token = base64url(text.substr(0, line));
    token += '.';
    token += base64url(text.substr(line + 1));
    const Digest mac = hmac_sha256(secret, token);
    verify(token + '.' + base64url(bytes_of(mac)));
    verify(token + ".AAAA");
}

}  // namespace
}  // namespace doorbuster

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    doorbuster::fuzz(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
