#include "funnel/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "base/check.hpp"
#include "base/words.hpp"
#include "funnel/claims.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view usual_header =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";  // {"alg":"HS256","typ":"JWT"}

// Of every algorithm's signature, the longest.
constexpr size_t signature_bytes_max = 64;

uint64_t next_version() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

std::shared_ptr<const KeyRing> ring_of(std::string_view secret) {
    auto key = Key::hs256("", secret);
    CHECK(key.has_value());
    auto ring = KeyRing::of({*std::move(key)});
    CHECK(ring.has_value());
    return std::make_shared<const KeyRing>(*std::move(ring));
}

const Key* signing_key_of(const KeyRing& ring) {
    for (const Key& key : ring.keys()) {
        if (key.algorithm() == KeyAlgorithm::hs256) return &key;
    }
    return nullptr;
}

struct TokenParts {
    std::string_view header, payload, signature;
    std::string_view signed_part;  // header.payload, as sent
};

std::optional<TokenParts> split(std::string_view token) {
    const size_t first = token.find('.');
    if (first == std::string_view::npos) return std::nullopt;
    const size_t second = token.find('.', first + 1);
    if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
        return std::nullopt;
    return TokenParts{.header = token.substr(0, first),
                      .payload = token.substr(first + 1, second - first - 1),
                      .signature = token.substr(second + 1),
                      .signed_part = token.substr(0, second)};
}

std::optional<IdentityFault> read_part(std::string_view part, const ClaimsWanted& wanted, Claims& claims) {
    std::array<char, Identity::token_bytes_max> bytes;
    const auto json = base64url_decode(part, bytes);
    if (!json) return IdentityFault::malformed;
    switch (read_claims(*json, wanted, claims)) {
        case ClaimsFault::none:
            return std::nullopt;
        case ClaimsFault::malformed:
            return IdentityFault::malformed;
        case ClaimsFault::too_deep:
            return IdentityFault::oversized;
    }
    CHECK(false);
    return IdentityFault::malformed;
}

bool accepts_type(const Claims& header) {
    if (!header.typ.present) return true;
    const std::string_view type = header.typ.view();
    return equal_words(type, "JWT") || equal_words(type, "at+jwt");
}

// A time of a token, in seconds, may be any number: it is brought into the years that an
// Instant can be reckoned with.
Instant instant_of(double seconds) {
    constexpr double year_9999 = 253'402'300'799;
    return from_ms(static_cast<int64_t>(std::clamp(seconds, 0.0, year_9999) * 1000));
}

bool is_malformed(const Claims::Number& number) {
    return number.present && !number.value;
}

std::optional<CheckClaim> check_of(const Claims& payload) {
    if (!payload.check.present) return CheckClaim::none_said;
    const std::string_view said = payload.check.view();
    if (said == "none") return CheckClaim::waive;
    if (said == "pow") return CheckClaim::pow;
    if (said == "image") return CheckClaim::image;
    return std::nullopt;
}

// Control characters stay as they are: no token for such a name is valid.
std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') json += '\\';
        json += c;
    }
    return json + '"';
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

Identity::Identity(IdentityRules rules, std::shared_ptr<const KeyRing> keys)
    : rules_(std::move(rules)),
      keys_(std::move(keys)),
      signing_key_(signing_key_of(*keys_)),
      version_(next_version()) {
    CHECK(rules_.skew >= std::chrono::seconds(0) && rules_.skew <= IdentityRules::skew_max);
    CHECK(rules_.issuer.size() <= IdentityRules::issuer_bytes_max);
}

Identity::Identity(const std::string& secret) : Identity(IdentityRules{}, ring_of(secret)) {}

Result<const Key*, IdentityFault> Identity::key_for(std::string_view header) const {
    using enum IdentityFault;
    KeyAlgorithm said = KeyAlgorithm::hs256;
    std::optional<std::string_view> kid;
    Claims claims;
    if (header != usual_header) {
        if (const auto fault = read_part(header, {}, claims)) return *fault;
        if (claims.has_crit) return malformed;  // extensions that must be understood: none are
        if (!claims.alg.is_string || !accepts_type(claims)) return malformed;
        if (claims.kid.present && !claims.kid.is_string) return malformed;
        const auto algorithm = key_algorithm_from(claims.alg.view());
        if (!algorithm) return wrong_algorithm;
        said = *algorithm;
        if (claims.kid.present) kid = claims.kid.view();
    }
    const auto key = keys_->choose(said, kid);
    if (key) return *key;
    return key.error() == KeyRing::Miss::wrong_algorithm ? wrong_algorithm : bad_key;
}

Result<Who, IdentityFault> Identity::verify(std::string_view token, Instant now) const {
    using enum IdentityFault;
    if (token.empty()) return missing;
    if (token.size() > token_bytes_max) return oversized;
    const auto parts = split(token);
    if (!parts) return malformed;
    const auto key = key_for(parts->header);
    if (!key) return key.error();
    Claims payload;
    const ClaimsWanted wanted{.audience = rules_.audience, .check_claim = rules_.check_claim};
    if (const auto fault = read_part(parts->payload, wanted, payload)) return *fault;

    std::array<char, signature_bytes_max> bytes;
    const auto signature = base64url_decode(parts->signature, bytes);
    if (!signature) return parts->signature.size() * 3 / 4 > bytes.size() ? bad_signature : malformed;
    if (!(*key)->verifies(parts->signed_part, *signature)) return bad_signature;

    if (!payload.exp.value) return malformed;
    if (is_malformed(payload.nbf) || is_malformed(payload.iat) || payload.aud.malformed) return malformed;
    const auto check = check_of(payload);
    if (!check) return malformed;
    Who who{.buyer = {},
            .expires_at = instant_of(*payload.exp.value),
            .valid_from = instant_of(std::max(payload.nbf.value.value_or(0), payload.iat.value.value_or(0))),
            .check = *check};
    if (const auto fault = untimely(who, now)) return *fault;
    if (!rules_.issuer.empty() && payload.iss.view() != rules_.issuer) return wrong_issuer;
    if (!rules_.audience.empty() && !payload.aud.has_wanted) return wrong_audience;

    const std::string_view sub = payload.sub.view();
    if (std::any_of(sub.begin(), sub.end(), is_control)) return no_buyer;
    const auto buyer = BuyerId::from(sub);
    if (!buyer) return no_buyer;
    who.buyer = *buyer;
    return who;
}

std::string Identity::mint(const BuyerId& buyer, Instant now, std::chrono::seconds lifetime) const {
    CHECK(can_mint());
    std::string token(usual_header);
    if (!signing_key_->kid().empty()) {
        token =
            base64url(fmt::format(R"({{"alg":"HS256","typ":"JWT","kid":{}}})", quoted(signing_key_->kid())));
    }
    const int64_t issued_s = to_ms(now) / 1000;
    std::string payload = fmt::format(R"({{"sub":{},"iat":{},"exp":{})", quoted(buyer.view()), issued_s,
                                      issued_s + lifetime.count());
    if (!rules_.issuer.empty()) payload += R"(,"iss":)" + quoted(rules_.issuer);
    if (!rules_.audience.empty()) payload += R"(,"aud":)" + quoted(rules_.audience);
    token += '.' + base64url(payload + "}");
    return token + '.' + base64url(bytes_of(*signing_key_->sign(token)));
}

}  // namespace doorbuster
