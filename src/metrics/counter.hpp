// Counter: counts up on one thread, is read by any.
//
// A single writer needs no locked instruction: a load, an add and a store.
#pragma once

#include <atomic>
#include <cstdint>

namespace doorbuster {

class Counter {
public:
    void add(uint64_t count = 1) {
        value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
    uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<uint64_t> value_{0};
};

}  // namespace doorbuster
