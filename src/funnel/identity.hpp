// Identity: who the buyer is, by the shop's signed token (JWT, HS256).
//
// The algorithm is pinned: what a token says about its own algorithm is compared,
// never obeyed. Verifying allocates nothing.
//
// Thread safety: const calls from any thread.
#pragma once

#include <openssl/sha.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/result.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

enum class IdentityFault : uint8_t {
    missing,    // no bearer token
    oversized,  // longer or nested deeper than a token may be: 400, before any crypto
    malformed,
    wrong_algorithm,
    bad_signature,
    expired,
    not_yet_valid,
    no_buyer,  // no usable `sub`
};

class Identity {
public:
    static constexpr size_t token_bytes_max = 4096;
    static constexpr std::chrono::seconds skew_max{30};

    // REQUIRES: secret.size() >= 32.
    explicit Identity(std::string secret);

    // `authorization` is the header's value: "Bearer …". The shape is judged first, then
    // the algorithm, the signature, the time and the buyer.
    [[nodiscard]] Result<BuyerId, IdentityFault> verify(std::string_view authorization, Instant now) const;

    // A token for trying out, as a shop would sign it.
    [[nodiscard]] std::string mint(const BuyerId& buyer, Instant now, std::chrono::seconds lifetime) const;

private:
    Digest sign(std::string_view message) const;

    // HMAC's two hashes with the key already in them, so that signing goes on from there.
    SHA256_CTX inner_, outer_;
};

}  // namespace doorbuster
