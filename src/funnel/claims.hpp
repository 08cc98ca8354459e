// Claims: the members of a token's header or payload that matter, read without allocating.
//
// Strict, because two readers of one token must never see two things in it: a name that
// stands twice, wherever it stands, makes the whole text malformed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace doorbuster {

// What a payload is read for; both may be empty.
struct ClaimsWanted {
    std::string_view audience{};     // looked for in `aud`
    std::string_view check_claim{};  // the name of the claim that speaks about the human check
};

struct Claims {
    // A string member. Too long for its place: `present` with an empty value.
    template <size_t BytesMax>
    struct Text {
        bool present = false;
        bool is_string = false;
        size_t size = 0;
        std::array<char, BytesMax> bytes;
        std::string_view view() const { return {bytes.data(), size}; }
    };
    struct Number {
        bool present = false;
        std::optional<double> value;  // none: not a number
    };

    // A string or a list of strings.
    struct Audience {
        bool present = false;
        bool malformed = false;
        bool has_wanted = false;  // says nothing if none is wanted
    };

    // Of a header.
    Text<16> alg, typ;
    Text<128> kid;
    bool has_crit = false;

    // Of a payload.
    Text<128> sub;
    Text<256> iss;
    Audience aud;
    Number exp, nbf, iat;
    Text<16> check;
};

enum class ClaimsFault : uint8_t { none, malformed, too_deep };

constexpr size_t claims_depth_max = 8;

// REQUIRES: `claims` is fresh.
[[nodiscard]] ClaimsFault read_claims(std::string_view json, const ClaimsWanted& wanted, Claims& claims);

}  // namespace doorbuster
