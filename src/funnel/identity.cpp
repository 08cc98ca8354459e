// The plain SHA-256 calls are deprecated in favour of EVP, which allocates for every hash
// and cannot go on from a state that holds the key: twice the time per token.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "funnel/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/check.hpp"
#include "funnel/claims.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view usual_header =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";  // {"alg":"HS256","typ":"JWT"}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

// Empty if the header holds no bearer token.
std::string_view bearer_token(std::string_view authorization) {
    constexpr std::string_view scheme = "Bearer ";
    if (!equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
    authorization.remove_prefix(scheme.size());
    authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
    return authorization;
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

std::optional<IdentityFault> read_part(std::string_view part, Claims& claims) {
    std::array<char, Identity::token_bytes_max> bytes;
    const auto json = base64url_decode(part, bytes);
    if (!json) return IdentityFault::malformed;
    switch (read_claims(*json, claims)) {
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
    return equal_ignoring_case(type, "JWT") || equal_ignoring_case(type, "at+jwt");
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

// HMAC(key, m) = H(outer key | H(inner key | m)), RFC 2104.
Identity::Identity(std::string secret) {
    CHECK(secret.size() >= 32);
    constexpr size_t block_bytes = SHA256_CBLOCK;
    std::array<uint8_t, block_bytes> key{};
    if (secret.size() <= block_bytes) {
        std::memcpy(key.data(), secret.data(), secret.size());
    } else {
        const Digest digest = sha256(secret);
        std::memcpy(key.data(), digest.data(), digest.size());
    }
    const auto begin = [&](SHA256_CTX& hash, uint8_t pad) {
        std::array<uint8_t, block_bytes> padded;
        for (size_t i = 0; i < block_bytes; ++i) padded[i] = key[i] ^ pad;
        CHECK(SHA256_Init(&hash) == 1 && SHA256_Update(&hash, padded.data(), padded.size()) == 1);
    };
    begin(inner_, 0x36);
    begin(outer_, 0x5c);
}

Digest Identity::sign(std::string_view message) const {
    Digest digest;
    SHA256_CTX hash = inner_;
    CHECK(SHA256_Update(&hash, message.data(), message.size()) == 1 &&
          SHA256_Final(digest.data(), &hash) == 1);
    hash = outer_;
    CHECK(SHA256_Update(&hash, digest.data(), digest.size()) == 1 && SHA256_Final(digest.data(), &hash) == 1);
    return digest;
}

Result<BuyerId, IdentityFault> Identity::verify(std::string_view authorization, Instant now) const {
    using enum IdentityFault;
    const std::string_view token = bearer_token(authorization);
    if (token.empty()) return missing;
    if (token.size() > token_bytes_max) return oversized;
    const auto parts = split(token);
    if (!parts) return malformed;

    if (parts->header != usual_header) {
        Claims header;
        if (const auto fault = read_part(parts->header, header)) return *fault;
        if (header.has_crit) return malformed;  // extensions that must be understood: none are
        if (!header.alg.is_string) return malformed;
        if (header.alg.view() != "HS256") return wrong_algorithm;
        if (!accepts_type(header)) return malformed;
    }
    Claims payload;
    if (const auto fault = read_part(parts->payload, payload)) return *fault;

    const Digest expected = sign(parts->signed_part);
    std::array<char, expected.size()> given;
    const auto signature = base64url_decode(parts->signature, given);
    if (!signature) return parts->signature.size() > 43 ? bad_signature : malformed;
    if (!equal_in_constant_time(*signature,
                                {reinterpret_cast<const char*>(expected.data()), expected.size()})) {
        return bad_signature;
    }

    if (!payload.exp.value) return malformed;
    if (payload.nbf.present && !payload.nbf.value) return malformed;
    const double now_s = static_cast<double>(to_ms(now)) / 1000;
    const double skew_s = static_cast<double>(skew_max.count());
    if (now_s >= *payload.exp.value + skew_s) return expired;
    if (payload.nbf.value && now_s < *payload.nbf.value - skew_s) return not_yet_valid;

    const std::string_view sub = payload.sub.view();
    if (std::any_of(sub.begin(), sub.end(), is_control)) return no_buyer;
    const auto buyer = BuyerId::from(sub);
    if (!buyer) return no_buyer;
    return *buyer;
}

std::string Identity::mint(const BuyerId& buyer, Instant now, std::chrono::seconds lifetime) const {
    std::string sub;
    for (const char c : buyer.view()) {
        if (c == '"' || c == '\\') sub += '\\';
        sub += c;
    }
    const int64_t issued_s = to_ms(now) / 1000;
    std::string token(usual_header);
    token += '.';
    token += base64url(
        fmt::format(R"({{"sub":"{}","iat":{},"exp":{}}})", sub, issued_s, issued_s + lifetime.count()));
    const Digest signature = sign(token);
    token += '.';
    token += base64url({reinterpret_cast<const char*>(signature.data()), signature.size()});
    return token;
}

}  // namespace doorbuster
