// DistinctBuyers: how many buyers come from one address in one sale.
//
// Rates do not stop a farm of accounts behind one address, each of them polite. So the first
// buyers of an address get its places in a sale, and whoever has one keeps passing; a place that
// its buyer has not used for a while is free again.
//
// A place is one word: 32 bits of the buyer's hash, and the second in which it was last seen.
// Places come in blocks of eight, each a key of its own in the table: nearly every address has one
// or two buyers, and room for 64 in each would be room for few addresses. A buyer may hold two
// places for a while: when one in an earlier block falls free, or falls free under the eyes of two
// threads. Stricter, never looser.
// Bounded: see KeyTable; beyond keys_max blocks, addresses share their places, counted.
//
// Thread safety: any thread, lock-free, no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "funnel/key_table.hpp"
#include "funnel/limit_policy.hpp"

namespace doorbuster {

struct PlaceRules {
    uint64_t kept_s;  // without its buyer being seen

    // Clocks of threads may differ by less than this; see RateRules.
    static constexpr uint64_t clock_skew_s_max = 1;

    // Words: 0 was never used.
    static uint64_t place(uint32_t buyer, uint64_t seen_s) { return uint64_t{buyer} << 32 | (seen_s + 1); }
    static uint32_t buyer_of(uint64_t place) { return static_cast<uint32_t>(place >> 32); }
    static uint64_t seen_s_of(uint64_t place) { return (place & UINT32_MAX) - 1; }

    // The first second in which the place is free.
    uint64_t free_at_s(uint64_t place) const { return place == 0 ? 0 : seen_s_of(place) + kept_s + 1; }

    bool is_idle(uint64_t place, uint64_t now_s) const {
        return place == 0 || free_at_s(place) + clock_skew_s_max <= now_s;
    }
    // A place that is taken already counts as one, whoever has it.
    template <class Word>
    void inherit(Word& into, uint64_t from, uint64_t now_s) const {
        uint64_t seen = into.load();
        while (from != 0 && is_idle(seen, now_s) && !into.compare_exchange_weak(seen, from)) {
        }
    }
};

class DistinctBuyers {
public:
    static constexpr uint32_t places_max = 64;
    static constexpr uint32_t places_per_block = 8;

    DistinctBuyers(size_t keys_max, Uptime kept);

    // Takes a place for the buyer among the first `buyers_max` of the key, or finds the one it
    // has in the blocks that these lie in. `key` and `buyer` are seeded hashes: of an address in a
    // sale, and of a buyer. `remaining` counts the places of one block only.
    [[nodiscard]] Decision enter(uint64_t key, uint64_t buyer, uint32_t buyers_max, Uptime now);

    void expect(uint64_t key) { table_.expect(key); }
    void populate() { table_.populate(); }
    uint64_t overflowed_total() const { return table_.overflowed_total(); }
    size_t memory_bytes() const { return table_.memory_bytes(); }

private:
    using Table = KeyTable<PlaceRules>;

    Decision enter_block(Table::Cells places, uint32_t buyer, uint32_t buyers_max, uint64_t now_s) const;

    const PlaceRules rules_;
    Table table_;
};

}  // namespace doorbuster
