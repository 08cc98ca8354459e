// LimitPolicy: how many requests of one kind may pass, and when.
//
//   token_bucket    refills `limit` per `window` and holds `burst`: in any time t at most
//                   burst + limit * t / window pass. For people, who come in bursts.
//   sliding_window  exactly `limit` in any window: never one more, and none refused while
//                   fewer have passed. Costs one word per unit of `limit`.
//   leaky_bucket    pacing: turns lie window / limit apart, and nothing is saved up while
//                   nobody comes. Nobody is held back: it is their turn, or a refusal.
//
// A limit of 0 means: no limit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "base/limit_bounds.hpp"

namespace doorbuster {

struct LimitPolicy {
    enum class Kind : uint8_t { token_bucket, sliding_window, leaky_bucket };

    Kind kind = Kind::token_bucket;
    uint32_t limit = 0;
    Uptime window = std::chrono::seconds(1);
    uint32_t burst = 0;  // of a token_bucket

    friend bool operator==(const LimitPolicy&, const LimitPolicy&) = default;
};

constexpr uint32_t bucket_limit_max = 1'000'000'000;

// Why a policy cannot be: a sentence for the operator; empty if it can.
// Windows are whole seconds, because `RateLimit-Policy` can say nothing finer.
[[nodiscard]] std::string_view fault_of(const LimitPolicy& policy);

// In two registers: one that came back through memory would be written in parts and read as a whole, which
// the processor has to wait for.
struct Decision {
    bool passes = true;
    uint32_t remaining = 0;  // passes left at this instant
    Uptime retry_after{};    // refused: when the next could pass, if nobody else came

    static Decision pass(uint32_t remaining) { return {.passes = true, .remaining = remaining}; }
    static Decision refuse(Uptime retry_after) { return {.passes = false, .retry_after = retry_after}; }
};
static_assert(sizeof(Decision) == 16);

// Rate: a policy, worked out, and the arithmetic of it on the words of one key.
//
// A word ("cell") is the time from which it is free again. The buckets need one: the time at
// which the bucket is full again (GCRA). The window has one per unit of `limit`, and each
// passes one request per window: so any window holds at most `limit`, in whatever order threads
// come and however their clocks differ, and a refusal has seen every cell taken. A cell only
// ever grows, hence a compare-and-swap on it never mistakes an old value for a new one. Where the limit was
// higher before, the passes of then stand in cells beyond it, and count until they are over.
//
// Thread safety: const; cells may be shared by any threads. Lock-free.
class Rate {
public:
    // REQUIRES: fault_of(policy) is empty and policy.limit > 0.
    explicit Rate(const LimitPolicy& policy);

    static constexpr unsigned ticks_per_us_log2 = 10;  // 64 bits last for centuries
    static uint64_t ticks(Uptime at) {
        return static_cast<uint64_t>(std::max<int64_t>(at.count(), 0)) << ticks_per_us_log2;
    }

    static uint32_t cells_of(const LimitPolicy& policy) {
        return policy.kind == LimitPolicy::Kind::sliding_window ? std::max(policy.limit, 1u) : 1;
    }

    // REQUIRES: at least cells_of(policy) cells; those beyond are not written.
    template <class Cell>
    Decision take(std::span<Cell> cells, uint64_t now) const {
        if (kind_ != LimitPolicy::Kind::sliding_window) return take_bucket(cells[0], now);
        if (cells.size() == limit_) [[likely]]
            return take_window(cells, now);
        const Decision decision = take_window(cells.first(cells_open(cells, now)), now);
        return decision.passes ? decision : Decision::refuse(span_of(full_until(cells, now) - now));
    }

private:
    template <class Cell>
    Decision take_bucket(Cell& cell, uint64_t now) const;
    template <class Cell>
    Decision take_window(std::span<Cell> cells, uint64_t now) const;
    // Where the limit was higher before: the passes of then that still count take room away from the cells at
    // the front, and threads that come at once compete for those that are left.
    template <class Cell>
    size_t cells_open(std::span<Cell> cells, uint64_t now) const;
    // When a pass is left again, with what was passed under the higher limit.
    template <class Cell>
    uint64_t full_until(std::span<Cell> cells, uint64_t now) const;

    // Rounded up: a caller who comes back then finds it free.
    static Uptime span_of(uint64_t ticks) {
        constexpr uint64_t below = (uint64_t{1} << ticks_per_us_log2) - 1;
        return Uptime(static_cast<int64_t>((ticks + below) >> ticks_per_us_log2));
    }

    LimitPolicy::Kind kind_;
    uint32_t limit_;
    uint64_t interval_;  // between two passes; the window itself for sliding_window
    uint64_t capacity_;  // how far ahead of now a bucket's word may run
};

template <class Cell>
Decision Rate::take_bucket(Cell& cell, uint64_t now) const {
    uint64_t next = cell.load();
    for (;;) {
        const uint64_t turn = std::max(next, now);
        const uint64_t after = turn + interval_;
        if (after > now + capacity_) return Decision::refuse(span_of(after - capacity_ - now));
        if (!cell.compare_exchange_weak(next, after)) continue;
        const auto remaining = static_cast<uint32_t>((now + capacity_ - after) / interval_);
        return Decision::pass(remaining);
    }
}

template <class Cell>
size_t Rate::cells_open(std::span<Cell> cells, uint64_t now) const {
    size_t open = cells.size(), taken = 0;
    while (open > 0 && open + taken > limit_) taken += cells[--open].load() > now ? 1 : 0;
    return open;
}

template <class Cell>
uint64_t Rate::full_until(std::span<Cell> cells, uint64_t now) const {
    const auto is_full = [&](uint64_t at) {
        return std::ranges::count_if(cells, [at](const Cell& cell) { return cell.load() > at; }) >= limit_;
    };
    uint64_t until = now;
    while (is_full(until)) {
        uint64_t next = UINT64_MAX;
        for (const Cell& cell : cells) {
            if (const uint64_t free_at = cell.load(); free_at > until) next = std::min(next, free_at);
        }
        until = next;
    }
    return until;
}

template <class Cell>
Decision Rate::take_window(std::span<Cell> cells, uint64_t now) const {
    uint64_t soonest = UINT64_MAX;
    bool passes = false;
    uint32_t remaining = 0;
    for (Cell& cell : cells) {
        uint64_t free_at = cell.load();
        while (!passes && free_at <= now) {
            if (cell.compare_exchange_weak(free_at, now + interval_)) {
                passes = true;
                free_at = now + interval_;
            }
        }
        if (free_at <= now) ++remaining;
        soonest = std::min(soonest, free_at);
    }
    return passes ? Decision::pass(remaining) : Decision::refuse(span_of(soonest - now));
}

// RateRules: when a cell of a Rate may be forgotten, and how one inherits another (see KeyTable).
struct RateRules {
    // Threads read their clocks at different moments. While they differ by less than this, no
    // thread forgets what matters to another.
    static constexpr Uptime clock_skew_max = std::chrono::seconds(1);

    bool is_idle(uint64_t cell, uint64_t now) const { return cell == 0 || cell + ticks_of_skew <= now; }
    template <class Cell>
    void inherit(Cell& into, uint64_t from, uint64_t) const {
        uint64_t seen = into.load();
        while (seen < from && !into.compare_exchange_weak(seen, from)) {
        }
    }

private:
    static constexpr uint64_t ticks_of_skew = static_cast<uint64_t>(clock_skew_max.count())
                                              << Rate::ticks_per_us_log2;
};

}  // namespace doorbuster
