// Burned: the checks that have been answered, right or wrong. None counts twice.
//
// A check is a signed statement that its buyer could send a hundred times at once; the first
// answer must be the only one. So each answer first puts the check's mark into this table, and
// exactly one of all threads that try is told `first`.
//
// One word per slot: the mark and the slice of time (64 s) in which the check expires. A slot
// counts as free for a check if what stands in it expired before that check was issued. This
// depends on the two slices alone, never on a clock, so for any one check a slot goes from free
// to taken and never back while the check is good. All who put the same mark walk the same slots
// from the same place and take the first free one by compare-and-swap:
// (1) before the slot that holds the mark no slot is free for it;
// (2) so a second walk meets the mark before it meets a free slot.
//
// Bound: `slots` words. A walk that finds none free in `probes_max` slots answers `full`, for
// every thread alike; the caller must then refuse, never let pass.
//
// Two checks of one slice that agree in 38 bits and in their place are taken for one: the second
// buyer takes a new check. It happens once in some thousand million answers.
//
// Thread safety: all calls from any thread; lock-free.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.hpp"

namespace doorbuster {

enum class Burn : uint8_t {
    first,  // now burned, by this call
    again,  // was burned before
    full,   // no room to remember it: refuse
};

class Burned {
public:
    static constexpr std::chrono::seconds life_max{300};  // of a check; longer is a bug
    static constexpr size_t probes_max = 64;

    // REQUIRES: slots is a power of two, at least probes_max.
    explicit Burned(size_t slots);

    // `mark`: 64 bits of the check's signature, so that nobody outside can choose them. Only
    // checks that carry a good signature and have not expired may come here: garbage must not
    // fill the table.
    [[nodiscard]] Burn burn(uint64_t mark, Instant expires_at);

    uint64_t full_total() const { return full_total_.load(std::memory_order_relaxed); }

private:
    const size_t mask_;
    const std::unique_ptr<std::atomic<uint64_t>[]> slots_;
    std::atomic<uint64_t> full_total_{0};
};

}  // namespace doorbuster
