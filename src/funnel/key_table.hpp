// KeyTable: a few words of memory per key, for more keys than there is memory, without locks.
//
// A limiter must remember every address for a while, and an attacker has millions of them. So
// the table has a fixed size, and when it is full a new key shares one of a few overflow
// entries with others: it is held to the limit together with them. Stricter, never looser; and
// as nothing that still matters is ever pushed out, a flood of keys resets nobody's limit.
//
// A key belongs to one set of eight slots and is known there by its tag; two keys of one set
// with one tag (2 in a million) are one key to the table. A slot has a deed, which says whose
// it is, and cells, whose meaning is the Rules':
//   bool is_idle(uint64_t cell, uint64_t now)       forgetting this cell would change no answer
//   void inherit(Word& cell, uint64_t from, now)    makes the cell as strict as `from`, too
//
// How a slot changes hands. The new key claims it: settled(old) -> claimed(old, new). From then
// on every thread of either key can see it. After that the claimant's thread, or any other of
// the same key that comes by, looks (1) that no other slot of the set is the new key's, taking
// back claims on later slots and giving way to earlier ones; (2) that the cells are still idle;
// (3) whether the overflow entry is; and then settles. A cell is never cleared: idle is as good.
//
// How a key uses its cells: find the slot, change the cells, and look at the deed again. If the
// slot is no longer the key's, the change hit a stranger (who is held more strictly by it), and
// everything is done over. If it is claimed, the claim is taken back.
//
// Invariants
//   I1  No key owns two slots. Of two claims of one key, the one that was made first is seen
//       by (1) of the other, which then falls or makes the first one fall.
//   I2  No slot changes hands with a change in it that counted. The change came before (2),
//       which then saw it; or its second look came after the claim, and took it back.
//   I3  No key leaves behind what it did in the overflow. A thread that changed the overflow
//       entry looks again whether its key has or claims a slot, and if so does it over there;
//       if not, the claim came later, and (3) saw the change. That any overflow entry was ever used is
//       noted before its first change, so that (3) need not fetch an entry of a table that never was full.
// They need one order of all loads and swaps, hence sequential consistency throughout.
//
// Thread safety: `at` from any thread, lock-free: a thread that is stopped anywhere keeps no
// other from going on. No allocation after construction.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/check.hpp"
#include "base/zero_pages.hpp"
#include "funnel/deed.hpp"

namespace doorbuster {

struct KeyTableRoom {
    size_t keys_max;  // rounded up to a power of two
    uint32_t cells_per_key;
};

template <class Rules, class Word = std::atomic<uint64_t>>
class KeyTable {
public:
    using Cells = std::span<Word>;

    static constexpr size_t ways = 8;

    KeyTable(const Rules& rules, KeyTableRoom room)
        : rules_(rules),
          cells_per_key_(room.cells_per_key),
          slots_(std::bit_ceil(std::max(room.keys_max, ways))),
          overflow_slots_(std::max<size_t>(slots_ / 64, 4)),
          words_(slots_ + (slots_ + overflow_slots_) * cells_per_key_) {
        CHECK(cells_per_key_ > 0);
    }

    // What `use` answers about the cells of the key; it may be asked more than once, and only
    // the last answer counts. `key` is a seeded hash: nobody may be able to choose its bits.
    template <class Use>
    auto at(uint64_t key, uint64_t now, Use&& use) {
        const Home home = home_of(key);
        for (;;) {
            const size_t slot = find_or_claim(home, now);
            if (slot == home.overflow_slot) note_overflow();
            auto answer = use(cells_of(slot));
            if (slot != home.overflow_slot) {
                if (still_owns(home, slot)) return answer;
            } else if (!has_or_claims_slot(home)) {
                overflowed_total_.fetch_add(1, std::memory_order_relaxed);
                return answer;
            }
        }
    }

    // For a key that is asked about in a moment: its memory is on the way meanwhile. First its set; once that
    // is there, the cells of the slot that is the key's or is going to be.
    void expect(uint64_t key) {
        const size_t first = home_of(key).first_slot;
        __builtin_prefetch(&deed_of(first), 1);
        fetch_cells(first);  // nearly always its own, while the table is not crowded
    }
    void expect_cells(uint64_t key) {
        const Home home = home_of(key);
        for (size_t slot = home.first_slot; slot < home.first_slot + ways; ++slot) {
            const KeyTag owner = Deed::unpack(deed_of(slot).load()).owner;
            if (owner == home.tag || owner == nobody) return fetch_cells(slot);
        }
    }

    // Brings the whole table into memory, so that no key waits for its page. From any thread.
    void populate() { words_.populate(); }

    uint64_t overflowed_total() const { return overflowed_total_.load(std::memory_order_relaxed); }
    size_t keys_max() const { return slots_; }
    size_t memory_bytes() const {
        return (slots_ + (slots_ + overflow_slots_) * cells_per_key_) * sizeof(Word);
    }

private:
    struct Home {
        KeyTag tag;
        size_t first_slot;
        size_t overflow_slot;  // by the tag alone: keys that share a tag in a set share this, too
    };
    Home home_of(uint64_t key) const {
        const auto low = static_cast<KeyTag>(key & ((1 << key_tag_bits) - 1));
        const KeyTag tag = low == 0 ? 1 : low;
        const size_t set = key >> key_tag_bits & (slots_ / ways - 1);
        return {tag, set * ways, slots_ + tag % overflow_slots_};
    }

    // The deeds of a set are one line, and the cells of its slots lie right behind it.
    Word& deed_of(size_t slot) { return words_[slot / ways * set_words() + slot % ways]; }
    Cells cells_of(size_t slot) {
        const size_t first = slot < slots_ ? slot / ways * set_words() + ways + slot % ways * cells_per_key_
                                           : slots_ / ways * set_words() + (slot - slots_) * cells_per_key_;
        return {&words_[first], cells_per_key_};
    }
    void fetch_cells(size_t slot) {
        const Cells cells = cells_of(slot);
        __builtin_prefetch(&cells.front(), 1);
        __builtin_prefetch(&cells.back(), 1);
    }
    size_t set_words() const { return ways * (1 + cells_per_key_); }

    bool is_idle(size_t slot, uint64_t now) {
        for (const Word& cell : cells_of(slot)) {
            if (!rules_.is_idle(cell.load(), now)) return false;
        }
        return true;
    }

    // The key's own slot, which it may lose again at any moment, or its overflow entry.
    size_t find_or_claim(const Home& home, uint64_t now) {
        for (;;) {
            if (const size_t slot = find(home, now); slot != none) return slot;
            const size_t slot = claim(home, now);
            if (slot == none) return home.overflow_slot;
            settle(home, slot, now);
        }
    }

    size_t find(const Home& home, uint64_t now) {
        for (size_t slot = home.first_slot; slot < home.first_slot + ways; ++slot) {
            const uint64_t word = deed_of(slot).load();
            const Deed deed = Deed::unpack(word);
            if (deed.owner != home.tag) continue;
            if (deed.phase == Deed::Phase::inheriting) inherit(home, slot, word, now);
            return slot;
        }
        return none;
    }

    // A slot that the key claims, or that another thread claims for it; none if all are in use.
    size_t claim(const Home& home, uint64_t now) {
        for (size_t slot = home.first_slot; slot < home.first_slot + ways; ++slot) {
            if (Deed::unpack(deed_of(slot).load()).is_claimed_by(home.tag)) return slot;
        }
        // Those that were never anybody's first: they are idle, and `expect_cells` has brought their cells
        // near.
        for (const bool is_fresh : {true, false}) {
            for (size_t slot = home.first_slot; slot < home.first_slot + ways; ++slot) {
                uint64_t word = deed_of(slot).load();
                const Deed deed = Deed::unpack(word);
                if (deed.owner == home.tag || deed.is_claimed_by(home.tag)) return slot;
                if (deed.phase != Deed::Phase::settled || (deed.owner == nobody) != is_fresh) continue;
                if (!is_idle(slot, now)) continue;
                deed_of(slot).compare_exchange_strong(word, deed.claimed_by(home.tag).pack());
                return slot;
            }
        }
        return none;
    }

    // Carries the key's claim on the slot through, or takes it back; the header says why so.
    void settle(const Home& home, size_t slot, uint64_t now) {
        uint64_t word = deed_of(slot).load();
        const Deed deed = Deed::unpack(word);
        if (!deed.is_claimed_by(home.tag)) return;
        for (size_t other = home.first_slot; other < home.first_slot + ways; ++other) {
            if (other == slot) continue;
            const uint64_t other_word = deed_of(other).load();
            const Deed rival = Deed::unpack(other_word);
            const bool is_claim = rival.is_claimed_by(home.tag);
            if (rival.owner == home.tag || (is_claim && other < slot)) {
                take_back_claim(slot, word);
                return;
            }
            if (is_claim && !take_back_claim(other, other_word)) return;
        }
        if (!is_idle(slot, now)) {
            take_back_claim(slot, word);
            return;
        }
        const bool owes_nothing = overflow_used_.load() == 0 || is_idle(home.overflow_slot, now);
        const Deed next = owes_nothing ? deed.granted() : deed.inherited();
        deed_of(slot).compare_exchange_strong(word, next.pack());
    }

    bool take_back_claim(size_t slot, uint64_t word) {
        return deed_of(slot).compare_exchange_strong(word, Deed::unpack(word).kept().pack());
    }

    // Any thread of the key may do this, also twice: inheriting only makes stricter.
    void inherit(const Home& home, size_t slot, uint64_t word, uint64_t now) {
        const Cells from = cells_of(home.overflow_slot), into = cells_of(slot);
        for (size_t i = 0; i < cells_per_key_; ++i) rules_.inherit(into[i], from[i].load(), now);
        deed_of(slot).compare_exchange_strong(word, Deed::unpack(word).kept().pack());
    }

    bool still_owns(const Home& home, size_t slot) {
        for (;;) {
            const uint64_t word = deed_of(slot).load();
            const Deed deed = Deed::unpack(word);
            if (deed.owner != home.tag) return false;
            if (deed.phase != Deed::Phase::claimed || take_back_claim(slot, word)) return true;
        }
    }

    void note_overflow() {
        uint64_t unused = 0;
        if (overflow_used_.load() == 0) overflow_used_.compare_exchange_strong(unused, 1);
    }

    bool has_or_claims_slot(const Home& home) {
        for (size_t slot = home.first_slot; slot < home.first_slot + ways; ++slot) {
            const Deed deed = Deed::unpack(deed_of(slot).load());
            if (deed.owner == home.tag || deed.is_claimed_by(home.tag)) return true;
        }
        return false;
    }

    static constexpr size_t none = SIZE_MAX;
    static constexpr KeyTag nobody = 0;

    // Zero, as words begin, and aligned to a line.
    static_assert(std::is_trivially_destructible_v<Word> && sizeof(Word) == sizeof(uint64_t));
    class Words {
    public:
        explicit Words(size_t count) : pages_(count * sizeof(Word)) {}
        Word& operator[](size_t index) { return static_cast<Word*>(pages_.data())[index]; }
        void populate() { pages_.populate(); }

    private:
        ZeroPages pages_;
    };

    // Fixed at construction.
    const Rules rules_;
    const size_t cells_per_key_;
    const size_t slots_;
    const size_t overflow_slots_;

    // Changed by any thread.
    Words words_;  // set by set, deeds and then cells; the cells of the overflow entries last
    alignas(64) Word overflow_used_{};  // 1 once any key has; read by every new key, hence a line of its own
    alignas(64) std::atomic<uint64_t> overflowed_total_{0};
};

}  // namespace doorbuster
