// PowDifficulty: how much work a check asks for now.
//
// Work is a price. It stays small while few ask, so that an honest phone solves it in a moment;
// when checks are asked for faster than buyers would, or the server is short of breath, it rises,
// and falls back by itself when they stop.
//
// The decision is a pure function of plain numbers; the class beside it only measures.
//
// Thread safety: none; one per gate thread, with that thread's share of the target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/clock.hpp"
#include "funnel/pow_check.hpp"

namespace doorbuster {

constexpr uint32_t pow_number_max_default = 50'000;
constexpr uint32_t pow_factor_max = 16;

// By what the base is multiplied: 1 up to the target rate, then in proportion; and doubled by
// each level of overload (0: none). Between 1 and pow_factor_max.
inline uint32_t pow_factor(double per_second, double per_second_target, unsigned overload_level) {
    const double by_rate = per_second_target > 0 ? per_second / per_second_target : 1;
    const double factor = std::max(1.0, by_rate) * std::exp2(std::min(overload_level, 4u));
    return static_cast<uint32_t>(std::min<double>(factor, pow_factor_max));
}

class PowDifficulty {
public:
    // 0, as at first: the rate does not count.
    void set_target(double per_second) { per_second_target_ = per_second; }

    // The largest number of the next check. `base`: the sale's own, 0 for the default.
    uint32_t next(uint32_t base, unsigned overload_level, Uptime now) {
        fade(now);
        per_second_ += 1 / memory_s;
        const uint64_t asked = uint64_t{base == 0 ? pow_number_max_default : base} *
                               pow_factor(per_second_, per_second_target_, overload_level);
        return static_cast<uint32_t>(std::min<uint64_t>(asked, PowChecks::number_max_max));
    }

    double per_second(Uptime now) {
        fade(now);
        return per_second_;
    }

private:
    // An average over about two seconds: long enough that a handful at once is no flood.
    static constexpr double memory_s = 2;

    void fade(Uptime now) {
        const double passed_s = static_cast<double>((now - last_).count()) / 1e6;
        if (passed_s > 0) per_second_ *= std::exp(-passed_s / memory_s);
        last_ = std::max(now, last_);
    }

    double per_second_target_ = 0;
    double per_second_ = 0;
    Uptime last_{0};
};

}  // namespace doorbuster
