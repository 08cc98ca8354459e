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

    Text<16> alg, typ;
    bool has_crit = false;
    Text<128> sub;
    Number exp, nbf;
};

enum class ClaimsFault : uint8_t { none, malformed, too_deep };

constexpr size_t claims_depth_max = 8;
constexpr size_t claims_members_max = 64;

// REQUIRES: `claims` is fresh.
[[nodiscard]] ClaimsFault read_claims(std::string_view json, Claims& claims);

}  // namespace doorbuster
