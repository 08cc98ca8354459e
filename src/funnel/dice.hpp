// Dice: a stream of numbers that follows from its seed (SplitMix64), for drawing.
//
// Not for secrets: who sees enough of the numbers can tell the next ones.
#pragma once

#include <cstdint>

namespace doorbuster {

class Dice {
public:
    explicit Dice(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    // 0 to bound - 1; the bias of the remainder is below bound / 2^64.
    uint64_t below(uint64_t bound) { return next() % bound; }
    double between(double low, double high) {
        return low + (high - low) * (static_cast<double>(next() >> 11) / 9007199254740992.0);  // 2^53
    }

private:
    uint64_t state_;
};

}  // namespace doorbuster
