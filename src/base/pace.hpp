// Pace: how much of a stream of work may be done now, at so much per second.
//
// What was not used is kept up to a burst, so that a worker that wakes late catches up and
// one that was idle for long does not run wild. Time is handed in.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace doorbuster {

class Pace {
public:
    // `per_second` 0: as much as there is.
    Pace(uint32_t per_second, size_t burst) : per_second_(per_second), burst_(static_cast<double>(burst)) {}

    // From the next take on.
    void set(uint32_t per_second, size_t burst) {
        per_second_ = per_second;
        burst_ = static_cast<double>(burst);
    }

    // How much may be done at `now`, at most `wanted`; counts as done.
    size_t take(size_t wanted, Uptime now) {
        if (per_second_ == 0) return wanted;
        const double elapsed_s = std::chrono::duration<double>(now - at_).count();
        credit_ = std::min(burst_, credit_ + std::max(0.0, elapsed_s) * per_second_);
        at_ = std::max(at_, now);
        const size_t taken = std::min(wanted, static_cast<size_t>(credit_));
        credit_ -= static_cast<double>(taken);
        return taken;
    }

    // How long until one more may be done, as of the last take.
    std::chrono::microseconds wait() const {
        if (per_second_ == 0 || credit_ >= 1) return {};
        return std::chrono::microseconds(static_cast<int64_t>((1 - credit_) * 1e6 / per_second_) + 1);
    }

private:
    uint32_t per_second_;
    double burst_;
    double credit_ = 0;
    Uptime at_{};
};

}  // namespace doorbuster
