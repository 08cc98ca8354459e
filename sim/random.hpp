// Random: numbers from a seed, the same on every machine.
#pragma once

#include <cstdint>

namespace doorbuster::sim {

class Random {  // splitmix64
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t bound) { return next() % bound; }
    int64_t between(int64_t low, int64_t high) {
        return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
    }
    bool chance(uint32_t per_mille) { return below(1000) < per_mille; }

private:
    uint64_t state_;
};

}  // namespace doorbuster::sim
