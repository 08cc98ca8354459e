// How far apart the clocks of this node and of the stores are.
//
// A store's clock is read somewhere within a round trip, so it is compared with the middle of it, and what
// half the round trip can explain is no difference.
#pragma once

#include <functional>
#include <string>

#include "store/warm_up.hpp"

namespace doorbuster {

// Sales open and close by Redis' clock, buyers count down by their server's.
constexpr milliseconds clock_skew_max{500};

struct ClockReading {
    std::string whose;            // "Redis"
    milliseconds ahead{0};        // of this node
    milliseconds uncertainty{0};  // half a round trip
};

// Reads several times, and keeps the shortest. `theirs` answers with the store's time.
template <class E>
Result<ClockReading, E> read_clock(std::string whose, const std::function<Instant()>& ours,
                                   const std::function<Result<Instant, E>()>& theirs) {
    constexpr int readings = 5;
    ClockReading best{std::move(whose), {}, milliseconds::max()};
    for (int i = 0; i < readings; ++i) {
        const Instant before = ours();
        const auto read = theirs();
        if (!read) return read.error();
        const milliseconds half = (ours() - before) / 2;
        if (half >= best.uncertainty) continue;
        best.uncertainty = half;
        best.ahead = *read - (before + half);
    }
    return best;
}

[[nodiscard]] WarmUpFindings judge_clocks(const ClockReading& redis, const ClockReading& postgres);

}  // namespace doorbuster
