#include "funnel/burned.hpp"

#include <bit>

#include "base/check.hpp"
#include "base/hash.hpp"

namespace doorbuster {

namespace {

constexpr int slice_bits = 26;  // slices of 64 s from 1970: until 2106
constexpr int64_t slice_s = 64;
constexpr uint64_t slice_mask = (uint64_t{1} << slice_bits) - 1;

uint64_t slice_of(Instant expires_at) {
    const int64_t expires_s = to_ms(expires_at) / 1000;
    CHECK(expires_s > 0);
    return static_cast<uint64_t>(expires_s / slice_s) & slice_mask;
}

// What expires in slice t is gone by (t+1) * 64 s. A check of slice e was issued at e * 64 s - life at
// the earliest, by clocks that may disagree by `skew`. So t may go if t + 1 + (life + skew) / 64 <= e.
constexpr uint64_t slices_apart = [] {
    constexpr int64_t skew_s = 60;
    return static_cast<uint64_t>(1 + (Burned::life_max.count() + skew_s + slice_s - 1) / slice_s);
}();

bool is_free(uint64_t word, uint64_t slice) {
    return (word & slice_mask) + slices_apart <= slice;
}

}  // namespace

Burned::Burned(size_t slots) : mask_(slots - 1), slots_(new std::atomic<uint64_t>[slots]) {
    CHECK(std::has_single_bit(slots) && slots >= probes_max);
    for (size_t i = 0; i < slots; ++i) slots_[i].store(0, std::memory_order_relaxed);
}

Burn Burned::burn(uint64_t mark, Instant expires_at) {
    const uint64_t slice = slice_of(expires_at);
    const uint64_t mine = (mark << slice_bits) | slice;
    // The place must not depend on the bits that are compared, or they would tell nothing more.
    const size_t place = static_cast<size_t>(fold(mark, 0x9e3779b97f4a7c15));

    for (size_t probe = 0; probe < probes_max; ++probe) {
        std::atomic<uint64_t>& slot = slots_[(place + probe) & mask_];
        // The words themselves are all there is: nothing else is published with them.
        uint64_t seen = slot.load(std::memory_order_relaxed);
        while (is_free(seen, slice)) {
            if (slot.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) return Burn::first;
        }
        if (seen == mine) return Burn::again;
    }
    full_total_.fetch_add(1, std::memory_order_relaxed);
    return Burn::full;
}

}  // namespace doorbuster
