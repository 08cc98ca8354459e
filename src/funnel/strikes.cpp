#include "funnel/strikes.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr Uptime tick = milliseconds(100);
constexpr uint64_t time_mask = UINT32_MAX;

// 2^32 ticks are 13 years of uptime. A time before this machine's began is its beginning.
uint32_t ticks_of(Uptime time) {
    return static_cast<uint32_t>(std::clamp<int64_t>(time / tick, 0, UINT32_MAX));
}

uint32_t tag_in(uint64_t word) {
    return static_cast<uint32_t>(word >> 32);
}

uint64_t left_of(uint64_t word, uint32_t now) {
    const uint64_t at = word & time_mask;
    return at > now ? at - now : 0;
}

uint64_t word_of(uint32_t tag, uint64_t at) {
    return uint64_t{tag} << 32 | std::min(at, time_mask);
}

// The set is chosen by the low bits of the hash.
uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

Strikes::Strikes(size_t buyers_max, const StrikeTerms& terms, uint64_t seed)
    : seed_(seed), sets_(buyers_max / ways) {
    CHECK(std::has_single_bit(buyers_max) && buyers_max >= ways);
    set_terms(terms);
}

Uptime Strikes::slow_every() const {
    return tick * static_cast<int64_t>(slow_every_ticks_.load(std::memory_order_relaxed));
}

void Strikes::set_terms(const StrikeTerms& terms) {
    const uint64_t forget = std::max<uint64_t>(1, ticks_of(terms.forget));
    for (size_t kind = 0; kind < strike_ticks_.size(); ++kind)
        strike_ticks_[kind] = terms.points[kind] * forget;
    // A point counts in full until all of it is forgotten: else whoever reaches a mark would be
    // below it again a moment later.
    slow_ticks_ = (terms.slow_at - 1) * forget + 1;
    bar_ticks_ = (terms.bar_at - 1) * forget + 1;
    most_ticks_ = 2 * terms.bar_at * forget;
    slow_every_ticks_ = std::max<uint64_t>(1, ticks_of(terms.slow_every));
}

Uptime Strikes::remembered_max() const {
    return tick * static_cast<int64_t>(most_ticks_.load(std::memory_order_relaxed));
}

// Twice what bars is the most: a buyer's software gone wrong overnight is not barred for a week. One that
// is heard of late takes nothing away from what has been given since.
uint64_t Strikes::later(uint64_t forgotten_at, uint64_t ticks, uint32_t now) const {
    const uint64_t most = now + most_ticks_.load(std::memory_order_relaxed);
    return std::max(std::min(std::max<uint64_t>(forgotten_at, now) + ticks, most), forgotten_at);
}

void Strikes::strike(const BuyerId& buyer, Strike kind, Uptime now) {
    strikes_total_.fetch_add(1, std::memory_order_relaxed);
    hear(buyer, kind, now);
    if (feed_ != nullptr) feed_->tell(buyer, kind);
}

void Strikes::hear(const BuyerId& buyer, Strike kind, Uptime uptime) {
    const uint64_t hash = hash_of(buyer);
    const uint32_t now = ticks_of(uptime);
    Set& set = set_of(hash);
    if (kind == Strike::turn_taken) return hear_turn(set, tag_of(hash), now);
    const uint64_t ticks = strike_ticks_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
    if (add_to_own(set, tag_of(hash), ticks, now)) return;
    overflowed_total_.fetch_add(1, std::memory_order_relaxed);
    add_to_shared(set.shared_forgotten_at, ticks, now);
}

// Who has no points here, or shares them, has no turn of his own to be late for.
void Strikes::hear_turn(Set& set, uint32_t tag, uint32_t at) {
    const Found found = find(set, tag, at);
    if (found.way == ways) return;
    const uint64_t next = word_of(tag, at + slow_every_ticks_.load(std::memory_order_relaxed));
    Word& turn = set.turn_at[found.way];
    uint64_t seen = turn.load(std::memory_order_relaxed);
    while ((tag_in(seen) != tag || seen < next) &&
           !turn.compare_exchange_weak(seen, next, std::memory_order_relaxed)) {
    }
}

bool Strikes::add_to_own(Set& set, uint32_t tag, uint64_t ticks, uint32_t now) const {
    // Begins again whenever another thread was faster: then somebody's strike has been counted.
    for (;;) {
        Word* slot = nullptr;
        uint64_t seen = 0;
        for (Word& word : set.forgotten_at) {
            const uint64_t value = word.load(std::memory_order_relaxed);
            const bool is_own = tag_in(value) == tag && left_of(value, now) > 0;
            if (!is_own && (slot != nullptr || left_of(value, now) > 0)) continue;
            slot = &word;
            seen = value;
            if (is_own) break;
        }
        if (slot == nullptr) return false;
        // Two threads that strike a new buyer at once may end up in two slots, where one slot
        // was forgotten between their looks: find() adds them up.
        const uint64_t changed = word_of(tag, later(tag_in(seen) == tag ? seen & time_mask : 0, ticks, now));
        if (slot->compare_exchange_strong(seen, changed, std::memory_order_relaxed)) return true;
    }
}

void Strikes::add_to_shared(Word& shared, uint64_t ticks, uint32_t now) const {
    uint64_t seen = shared.load(std::memory_order_relaxed);
    while (
        !shared.compare_exchange_weak(seen, word_of(0, later(seen, ticks, now)), std::memory_order_relaxed)) {
    }
}

Strikes::Found Strikes::find(const Set& set, uint32_t tag, uint32_t now) {
    Found found;
    for (size_t way = 0; way < ways; ++way) {
        const uint64_t word = set.forgotten_at[way].load(std::memory_order_relaxed);
        if (tag_in(word) != tag || left_of(word, now) == 0) continue;
        found.own_ticks += left_of(word, now);
        if (found.way == ways) found.way = way;
    }
    found.shared_ticks = left_of(set.shared_forgotten_at.load(std::memory_order_relaxed), now);
    return found;
}

Conduct Strikes::judge(const Found& found) const {
    if (found.own_ticks >= bar_ticks_.load(std::memory_order_relaxed)) return Conduct::barred;
    const uint64_t slow_ticks = slow_ticks_.load(std::memory_order_relaxed);
    return found.own_ticks + found.shared_ticks >= slow_ticks ? Conduct::slowed : Conduct::fine;
}

ConductRuling Strikes::barred(const Found& found) const {
    const uint64_t bar_ticks = bar_ticks_.load(std::memory_order_relaxed);
    // A reload may have raised the bar between the two looks.
    const uint64_t above = found.own_ticks - std::min(found.own_ticks, bar_ticks);
    return {Conduct::barred, static_cast<int64_t>(above + 1) * tick};
}

ConductRuling Strikes::conduct_of(const BuyerId& buyer, Uptime uptime) const {
    const uint64_t hash = hash_of(buyer);
    const Found found = find(set_of(hash), tag_of(hash), ticks_of(uptime));
    const Conduct conduct = judge(found);
    if (conduct == Conduct::barred) return barred(found);
    return {conduct, Uptime{}};
}

ConductRuling Strikes::admit(const BuyerId& buyer, Uptime uptime) {
    const uint64_t hash = hash_of(buyer);
    const uint32_t now = ticks_of(uptime);
    Set& set = set_of(hash);
    const Found found = find(set, tag_of(hash), now);
    const Conduct conduct = judge(found);
    if (conduct == Conduct::fine) return {};
    if (conduct == Conduct::barred) return barred(found);

    const bool has_own = found.way != ways;
    const uint32_t tag = has_own ? tag_of(hash) : 0;
    Word& turn = has_own ? set.turn_at[found.way] : set.shared_turn_at;
    uint64_t seen = turn.load(std::memory_order_relaxed);
    for (;;) {
        const uint64_t left = tag_in(seen) == tag ? left_of(seen, now) : 0;  // else of a buyer before
        if (left > 0) return {conduct, static_cast<int64_t>(left) * tick};
        const uint64_t next = word_of(tag, now + slow_every_ticks_.load(std::memory_order_relaxed));
        if (turn.compare_exchange_weak(seen, next, std::memory_order_relaxed)) break;
    }
    if (has_own && feed_ != nullptr) feed_->tell(buyer, Strike::turn_taken);
    return {conduct, Uptime{}};
}

}  // namespace doorbuster
