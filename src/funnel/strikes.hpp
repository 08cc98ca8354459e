// Strikes: a buyer who keeps failing checks, bringing refused tokens or letting holds go is
// slowed, and then barred, until enough of it is forgotten.
//
// A strike adds its weight in points, up to twice what bars; one point is forgotten per `forget`. So the
// points of a buyer are one number, the time at which all will be forgotten, and a slot of the table is one
// word: 32 bits of the buyer's hash, 32 bits of that time. Every change is one CAS.
//
// Bounded: `buyers_max` slots in sets of 8. A slot may be taken over only when all its points
// are forgotten, so a crowd of other buyers resets nobody's. Where a set has no such slot left,
// the strike goes to an entry that all other buyers of the set share: it slows, one of them at a
// time per `slow_every`, but never bars, since nobody is barred for what others did
// (overflowed_total).
//
// Two buyers with the same 32 bits in the same set share their points: about 8 in 2^32 for a
// buyer who has none. The hash is seeded, so nobody can aim at it.
//
// Where several processes serve, each tells its strikes to a feed and hears those of the others; both
// count alike. So do the turns of the slowed. Without the others' the own still count.
//
// Thread safety: any thread, lock-free, no allocation. The threads' clocks may differ by less
// than the resolution of 100 ms without effect.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "sale/ids.hpp"
#include "store/strike_feed.hpp"

namespace doorbuster {

struct StrikeTerms {
    std::array<uint32_t, strike_kinds> points{1, 1, 2};  // of each kind of strike
    uint32_t slow_at = 5;                                // points
    uint32_t bar_at = 10;                                // points
    Uptime forget = std::chrono::seconds(60);
    Uptime slow_every = std::chrono::seconds(5);
};

enum class Conduct : uint8_t { fine, slowed, barred };

struct ConductRuling {
    Conduct conduct = Conduct::fine;
    Uptime retry_after{};  // 0 if the buyer may go on now
    bool passes() const { return retry_after == Uptime{}; }
};

class Strikes {
public:
    static constexpr size_t ways = 8;

    // REQUIRES: buyers_max is a power of two, at least `ways`; slow_at and bar_at are at least 1.
    Strikes(size_t buyers_max, const StrikeTerms& terms, uint64_t seed = process_hash_seed());

    // Those given from here on are told to the feed, which must outlive this.
    // REQUIRES: before anybody strikes.
    void tell_to(StrikeFeed& feed) { feed_ = &feed; }

    // Given here.
    void strike(const BuyerId&, Strike, Uptime now);

    // Given elsewhere, or a turn that was taken there, some time before: it counts as if it had been here
    // then.
    void hear(const BuyerId&, Strike, Uptime at);

    // A strike that was given longer ago than this is surely forgotten.
    Uptime remembered_max() const;

    // How the buyer stands, without using up a turn: only the barred have to wait.
    ConductRuling conduct_of(const BuyerId&, Uptime now) const;

    // The buyer will be asked for in a moment: has what is known of them brought nearer.
    void expect(const BuyerId& buyer) const {
        const Set& set = set_of(hash_of(buyer));
        __builtin_prefetch(&set.forgotten_at);
        __builtin_prefetch(&set.shared_forgotten_at);
    }

    // Whether the buyer may try to purchase now. A slowed one who passes has used up the turn:
    // the next comes `slow_every` later.
    ConductRuling admit(const BuyerId&, Uptime now);

    Uptime slow_every() const;

    // Also while others read. Points given before keep their time.
    void set_terms(const StrikeTerms& terms);

    // Given here.
    uint64_t strikes_total() const { return strikes_total_.load(std::memory_order_relaxed); }
    uint64_t overflowed_total() const { return overflowed_total_.load(std::memory_order_relaxed); }
    size_t memory_bytes() const { return sets_.size() * sizeof(Set); }

private:
    using Word = std::atomic<uint64_t>;  // tag in the high half, time in ticks of 100 ms in the low

    struct alignas(64) Set {
        std::array<Word, ways> forgotten_at{};
        std::array<Word, ways> turn_at{};  // of the slowed: when the next try is due
        Word shared_forgotten_at{0}, shared_turn_at{0};
    };

    // What counts against a buyer, in ticks until it is forgotten.
    struct Found {
        uint64_t own_ticks = 0, shared_ticks = 0;
        size_t way = ways;  // where the buyer's own are; `ways` if nowhere
    };

    uint64_t hash_of(const BuyerId& buyer) const { return seeded_hash(buyer.view(), seed_); }
    const Set& set_of(uint64_t hash) const { return sets_[hash & (sets_.size() - 1)]; }
    Set& set_of(uint64_t hash) { return sets_[hash & (sets_.size() - 1)]; }

    static Found find(const Set& set, uint32_t tag, uint32_t now);
    bool add_to_own(Set& set, uint32_t tag, uint64_t ticks, uint32_t now) const;
    void add_to_shared(Word& shared, uint64_t ticks, uint32_t now) const;
    uint64_t later(uint64_t forgotten_at, uint64_t ticks, uint32_t now) const;
    void hear_turn(Set& set, uint32_t tag, uint32_t at);
    Conduct judge(const Found&) const;
    ConductRuling barred(const Found&) const;

    // Fixed at construction.
    const uint64_t seed_;
    StrikeFeed* feed_ = nullptr;  // set once, before the strikes

    // Written by set_terms, in ticks.
    std::array<std::atomic<uint64_t>, strike_kinds> strike_ticks_;
    std::atomic<uint64_t> slow_ticks_, bar_ticks_, most_ticks_, slow_every_ticks_;

    // Changed by strikes and admissions, one CAS each.
    std::vector<Set> sets_;
    std::atomic<uint64_t> strikes_total_{0}, overflowed_total_{0};
};

}  // namespace doorbuster
