// ItemBoard: what the owner thread shows every gate thread about one item.
//
// Gate threads read it on every purchase, so reading takes no lock: the figures
// stand under a sequence counter, the sold-out flag and the one for orders are a word each,
// and those who won are tables of fingerprints that only ever grow.
//
// Thread safety: one writer (the owner thread), any number of readers.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sale/book.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

// A set of seeded 64-bit hashes. "Perhaps" costs a trip to the book; "no" is certain,
// so a refusal that rests on it is right.
//
// Bound: one entry per acceptance of the item. A table that is half full is
// replaced by one twice as large; readers may still be in the old ones, which
// stay until the board goes, together smaller than the newest.
class Fingerprints {
public:
    Fingerprints() { grow(64); }

    void add(uint64_t hash) {
        const uint64_t print = fingerprint(hash);
        Table* table = tables_.back().get();
        if (table->contains(print)) return;
        if (count_ * 2 >= table->slots.size()) table = grow(table->slots.size() * 2);
        table->insert(print);
        ++count_;
    }

    // It is added in a moment: its slot is on the way meanwhile.
    void expect(uint64_t hash) const {
        const Table& table = *tables_.back();
        __builtin_prefetch(&table.slots[fingerprint(hash) & (table.slots.size() - 1)], 1);
    }

    bool perhaps_contains(uint64_t hash) const {
        return current_.load(std::memory_order_acquire)->contains(fingerprint(hash));
    }

private:
    struct Table {
        explicit Table(size_t size) : slots(size) {}
        std::vector<std::atomic<uint64_t>> slots;

        bool contains(uint64_t print) const {
            for (size_t at = print;; ++at) {
                const uint64_t seen = slots[at & (slots.size() - 1)].load(std::memory_order_acquire);
                if (seen == print) return true;
                if (seen == 0) return false;
            }
        }
        void insert(uint64_t print) {
            size_t at = print & (slots.size() - 1);
            while (slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & (slots.size() - 1);
            slots[at].store(print, std::memory_order_release);
        }
    };

    static uint64_t fingerprint(uint64_t hash) { return hash == 0 ? 1 : hash; }  // 0 marks a free slot

    Table* grow(size_t size) {
        auto next = std::make_unique<Table>(size);
        if (!tables_.empty()) {
            for (const auto& slot : tables_.back()->slots) {
                if (const uint64_t print = slot.load(std::memory_order_relaxed); print != 0)
                    next->insert(print);
            }
        }
        tables_.push_back(std::move(next));
        current_.store(tables_.back().get(), std::memory_order_release);
        return tables_.back().get();
    }

    std::vector<std::unique_ptr<Table>> tables_;  // writer's; the last is current
    size_t count_ = 0;
    std::atomic<const Table*> current_{nullptr};
};

class ItemBoard {
public:
    // Writer.
    void expect_winner(const PurchaseId& id, const BuyerId& buyer) const {
        purchases_.expect(SeededHash{}(id));
        buyers_.expect(SeededHash{}(buyer));
    }
    // The winners go up before the figures that made others lose.
    void add_winner(const PurchaseId& id, const BuyerId& buyer) {
        purchases_.add(SeededHash{}(id));
        buyers_.add(SeededHash{}(buyer));
    }
    // `orders_full`: units are left, but as many orders as may be are open.
    void show(const Stock& stock, bool orders_full = false) {
        show_figures(stock);
        show_flags({.sold_out = stock.units_available == 0, .orders_full = orders_full});
    }
    void show_figures(const Stock& stock) {
        const uint32_t turn = turn_.load(std::memory_order_relaxed);
        turn_.store(turn + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        figures_[0].store(stock.units_total, std::memory_order_relaxed);
        figures_[1].store(stock.units_available, std::memory_order_relaxed);
        figures_[2].store(stock.units_held, std::memory_order_relaxed);
        figures_[3].store(stock.units_sold, std::memory_order_relaxed);
        turn_.store(turn + 2, std::memory_order_release);
    }
    // When an acceptance last took a unit: where none is left, when the last one went.
    void show_taken(std::optional<Instant> at) {
        if (at) taken_at_ms_.store(to_ms(*at), std::memory_order_relaxed);
    }
    // Apart from the figures, where those are known and yet nobody may be refused for them: in doubt
    // everybody is let through to the book.
    struct Flags {
        bool sold_out = false, orders_full = false;
    };
    void show_flags(const Flags& flags) {
        const uint64_t flag = sold_out_.load(std::memory_order_relaxed);
        if ((flag & 1) != (flags.sold_out ? 1 : 0)) sold_out_.store(flag + 1, std::memory_order_release);
        if (orders_full_.load(std::memory_order_relaxed) != flags.orders_full)
            orders_full_.store(flags.orders_full, std::memory_order_release);
    }
    // Where what is shown was heard from elsewhere, it stands until then and no longer: readers look at the
    // time themselves, since a writer that sleeps takes nothing away. One clock for the board's whole life.
    using NowNs = int64_t (*)();
    void show_flags_until(const Flags& flags, NowNs now, int64_t ends_at_ns) {
        now_ns_.store(now, std::memory_order_relaxed);
        if (ends_at_ns_.load(std::memory_order_relaxed) == for_good)
            ends_at_ns_.store(0, std::memory_order_release);  // nothing of this ever stands for good
        show_flags(flags);
        ends_at_ns_.store(ends_at_ns, std::memory_order_release);
    }

    // Readers.
    bool sold_out() const { return stands() && (sold_out_.load(std::memory_order_acquire) & 1) != 0; }
    bool orders_full() const { return stands() && orders_full_.load(std::memory_order_acquire); }
    std::optional<int64_t> taken_at_ms() const {
        const int64_t at = taken_at_ms_.load(std::memory_order_relaxed);
        return at == 0 ? std::nullopt : std::optional(at);
    }
    uint64_t sold_out_version() const { return sold_out_.load(std::memory_order_acquire); }
    bool perhaps_accepted(const PurchaseId& id) const {
        return purchases_.perhaps_contains(SeededHash{}(id));
    }
    bool perhaps_winner(const BuyerId& buyer) const { return buyers_.perhaps_contains(SeededHash{}(buyer)); }
    Stock stock() const {
        for (;;) {
            const uint32_t before = turn_.load(std::memory_order_acquire);
            const Stock stock{
                figures_[0].load(std::memory_order_relaxed), figures_[1].load(std::memory_order_relaxed),
                figures_[2].load(std::memory_order_relaxed), figures_[3].load(std::memory_order_relaxed)};
            std::atomic_thread_fence(std::memory_order_acquire);
            if (before % 2 == 0 && turn_.load(std::memory_order_relaxed) == before) return stock;
        }
    }

private:
    static constexpr int64_t for_good = std::numeric_limits<int64_t>::max();

    // Asked before the flags are read: whoever sees a new end sees the flags that it is the end of.
    bool stands() const {
        const int64_t ends_at = ends_at_ns_.load(std::memory_order_acquire);
        return ends_at == for_good || now_ns_.load(std::memory_order_relaxed)() < ends_at;
    }

    alignas(64) std::atomic<uint64_t> sold_out_{0};  // odd: sold out; each change counts one up
    std::atomic<bool> orders_full_{false};
    std::atomic<int64_t> ends_at_ns_{for_good};
    std::atomic<NowNs> now_ns_{nullptr};
    std::atomic<int64_t> taken_at_ms_{0};  // 0: not known
    std::atomic<uint32_t> turn_{0};
    std::array<std::atomic<uint32_t>, 4> figures_{};
    Fingerprints purchases_, buyers_;
};

}  // namespace doorbuster
