// Deed: who owns a slot of a KeyTable, and who is about to take it over, in one word.
//
// Every change of a deed raises its version, so a compare-and-swap against a deed that was
// read earlier succeeds only if nothing happened to it since. (A version returns after 2^18
// changes, and then only with the same owner and claimant does it look the same.)
#pragma once

#include <cstdint>

namespace doorbuster {

// A key inside its set: 22 bits of its hash, never 0, which is nobody.
using KeyTag = uint32_t;
constexpr unsigned key_tag_bits = 22;

struct Deed {
    enum class Phase : uint8_t {
        settled,
        claimed,     // still the owner's; the claimant takes over unless the owner shows up first
        inheriting,  // the new owner's, who has yet to take over what the overflow knows of it
    };

    KeyTag owner = 0, claimant = 0;
    Phase phase = Phase::settled;
    uint32_t version = 0;

    static constexpr unsigned version_bits = 18;

    static constexpr Deed unpack(uint64_t word) {
        constexpr uint64_t tag_mask = (1 << key_tag_bits) - 1;
        return {static_cast<KeyTag>(word >> (64 - key_tag_bits)),
                static_cast<KeyTag>(word >> (64 - 2 * key_tag_bits) & tag_mask),
                static_cast<Phase>(word >> version_bits & 3),
                static_cast<uint32_t>(word & ((1 << version_bits) - 1))};
    }
    constexpr uint64_t pack() const {
        return uint64_t{owner} << (64 - key_tag_bits) | uint64_t{claimant} << (64 - 2 * key_tag_bits) |
               static_cast<uint64_t>(phase) << version_bits | (version & ((1 << version_bits) - 1));
    }

    constexpr bool is_claimed_by(KeyTag tag) const { return phase == Phase::claimed && claimant == tag; }

    // The deeds that may follow.
    constexpr Deed claimed_by(KeyTag tag) const { return {owner, tag, Phase::claimed, version + 1}; }
    constexpr Deed kept() const { return {owner, 0, Phase::settled, version + 1}; }
    constexpr Deed granted() const { return {claimant, 0, Phase::settled, version + 1}; }
    constexpr Deed inherited() const { return {claimant, 0, Phase::inheriting, version + 1}; }

    friend bool operator==(const Deed&, const Deed&) = default;
};
static_assert(2 * key_tag_bits + 2 + Deed::version_bits == 64);

}  // namespace doorbuster
