// NegativeCache: ids that were just not found, so that a flood of made-up ones reaches the
// database at most once per id, gate and second.
//
// A "not there" may become wrong: the purchase is accepted a moment later, and its buyer, who
// has heard 202, must find it. So every acceptance is announced to Arrivals, which all gates
// share, before it is answered; an entry counts only while no purchase of its stripe has arrived
// since BEFORE the look-up that made it. Order ids need no announcement: nobody is told one
// before it can be found.
//
// Direct-mapped: an entry gives way to the next one at its place, which costs a look-up more and
// nothing else. Entries are told apart by 64 bits of a seeded hash over kind, id and buyer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

// Which purchases may have come into being since somebody looked.
//
// Thread safety: any thread, lock-free.
class Arrivals {
public:
    // REQUIRES: called before anybody is told of the purchase.
    void arrived(const PurchaseId& id) { stripe(id).fetch_add(1, std::memory_order_release); }
    uint32_t seen(const PurchaseId& id) const { return stripe(id).load(std::memory_order_acquire); }

private:
    // With 1,000 acceptances per second, an entry of a second survives three times in four.
    static constexpr size_t stripes = 4096;

    std::atomic<uint32_t>& stripe(const PurchaseId& id) { return counts_[SeededHash{}(id) % stripes]; }
    const std::atomic<uint32_t>& stripe(const PurchaseId& id) const {
        return counts_[SeededHash{}(id) % stripes];
    }

    std::array<std::atomic<uint32_t>, stripes> counts_{};
};

// Thread safety: none; one per gate thread. The totals may be read from any.
class NegativeCache {
public:
    static constexpr Uptime life = std::chrono::seconds(1);
    static constexpr size_t entries = 8192;  // 24 bytes each

    explicit NegativeCache(const Arrivals& arrivals) : arrivals_(arrivals) {}

    // One look-up, as it was asked: made before the database is, handed back with the outcome.
    struct Question {
        uint64_t key = 0;
        uint32_t arrivals_seen = 0;
    };
    Question question(const PurchaseId&, const BuyerId&) const;
    Question question(OrderId, const BuyerId&) const;

    // True: it was not there less than `life` ago, and cannot have come since.
    bool is_missing(const Question&, Uptime now);

    // The database was asked after question(), and had nothing.
    void remember(const Question&, Uptime now);

    uint64_t hits_total() const { return hits_total_.load(std::memory_order_relaxed); }

private:
    struct Entry {
        uint64_t key = 0;
        uint32_t arrivals_seen = 0;
        Uptime until{};
    };

    Entry& entry_of(uint64_t key) { return entries_[key % entries]; }

    const Arrivals& arrivals_;
    const uint64_t seed_ = process_hash_seed();
    std::vector<Entry> entries_ = std::vector<Entry>(entries);
    std::atomic<uint64_t> hits_total_{0};
};

}  // namespace doorbuster
