// Limiter: one policy for every key, each key on its own.
//
// Bounded: see KeyTable for what happens beyond keys_max.
//
// Thread safety: any thread, lock-free, no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "funnel/key_table.hpp"
#include "funnel/limit_policy.hpp"

namespace doorbuster {

class Limiter {
public:
    explicit Limiter(KeyTableRoom room) : table_(RateRules{}, room) {}

    // `key` is a seeded hash. The policy comes with every call, so that it can change while
    // running; what was passed before still counts.
    // REQUIRES: the rate needs no more cells than there is room for per key.
    [[nodiscard]] Decision take(uint64_t key, const Rate& rate, Uptime now) {
        const uint64_t ticks = Rate::ticks(now);
        return table_.at(key, ticks, [&](auto cells) { return rate.take(cells, ticks); });
    }

    void expect(uint64_t key) { table_.expect(key); }
    void expect_cells(uint64_t key) { table_.expect_cells(key); }
    void populate() { table_.populate(); }
    uint64_t overflowed_total() const { return table_.overflowed_total(); }
    size_t memory_bytes() const { return table_.memory_bytes(); }

private:
    KeyTable<RateRules> table_;
};

}  // namespace doorbuster
