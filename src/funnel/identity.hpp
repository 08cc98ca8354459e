// Identity: who the buyer is, by the shop's signed token (JWT; HS256, ES256, EdDSA).
//
// The shape is judged first, then the key, the signature, the time, for whom the token is, and
// the buyer. Nothing is fetched for a token, whatever its header says. Verifying HS256 allocates
// nothing.
//
// Thread safety: const calls from any thread; an identity never changes. Other keys or other
// rules are another identity, with another version.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "funnel/keys.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

enum class IdentityFault : uint8_t {
    missing,    // no token
    oversized,  // longer or nested deeper than a token may be: 400, before any crypto
    malformed,
    wrong_algorithm,  // not the one that the key is pinned to
    bad_key,          // names a key that is not there, or leaves open which
    bad_signature,
    expired,
    not_yet_valid,
    wrong_issuer,
    wrong_audience,
    no_buyer,  // no usable `sub`
};

struct IdentityRules {
    static constexpr std::chrono::seconds skew_max{30};
    static constexpr size_t issuer_bytes_max = 256;

    std::string issuer{};    // `iss` must be this; empty: not looked at
    std::string audience{};  // `aud` must be or hold this; empty: not looked at
    // How far the shop's clock may be from ours.
    std::chrono::seconds skew = skew_max;
    // The claim by which the shop raises or waives the human check; empty: none.
    std::string check_claim{};
};

// What the shop says about the human check for this buyer: nothing, or a value of the claim.
enum class CheckClaim : uint8_t { none_said, waive, pow, image };

struct Who {
    BuyerId buyer;
    Instant expires_at;  // the token's `exp`; skew comes on top of it
    Instant valid_from;  // the later of `nbf` and `iat`; skew comes off it
    CheckClaim check = CheckClaim::none_said;
};

class Identity {
public:
    static constexpr size_t token_bytes_max = 4096;

    // REQUIRES: 0 <= rules.skew <= skew_max, rules.issuer.size() <= issuer_bytes_max.
    Identity(IdentityRules rules, std::shared_ptr<const KeyRing> keys);

    // One secret and no further rules.
    // REQUIRES: a secret that Key::hs256 takes.
    explicit Identity(const std::string& secret);

    [[nodiscard]] Result<Who, IdentityFault> verify(std::string_view token, Instant now) const;

    // The part of the judgement that changes by itself: nothing while the token is valid.
    [[nodiscard]] std::optional<IdentityFault> untimely(const Who& who, Instant now) const {
        if (now >= who.expires_at + rules_.skew) return IdentityFault::expired;
        if (now < who.valid_from - rules_.skew) return IdentityFault::not_yet_valid;
        return std::nullopt;
    }

    // Two identities of one process that differ in anything differ in this.
    uint64_t version() const { return version_; }
    const KeyRing& keys() const { return *keys_; }

    // Whether a key here can sign: one for HS256.
    [[nodiscard]] bool can_mint() const { return signing_key_ != nullptr; }
    // A token for trying out, as the shop would sign it.
    // REQUIRES: can_mint().
    [[nodiscard]] std::string mint(const BuyerId& buyer, Instant now, std::chrono::seconds lifetime) const;

private:
    [[nodiscard]] Result<const Key*, IdentityFault> key_for(std::string_view header) const;

    const IdentityRules rules_;
    const std::shared_ptr<const KeyRing> keys_;
    const Key* const signing_key_;  // in keys_; null: none
    const uint64_t version_;
};

}  // namespace doorbuster
