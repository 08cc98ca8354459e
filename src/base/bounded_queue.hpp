// BoundedQueue: many threads put, one thread takes; full means no.
//
// A ring of slots, each with a turn counter that says whose move it is (after
// Vyukov). Putting is a compare-and-swap and a copy: no lock, no allocation, no
// system call. At the bound try_push answers false and nothing has changed.
//
// Thread safety: try_push and size from any thread; pop from one thread only.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {

template <class T>
class BoundedQueue {
public:
    // REQUIRES: capacity is a power of two.
    explicit BoundedQueue(size_t capacity) : mask_(capacity - 1), slots_(new Slot[capacity]) {
        CHECK(std::has_single_bit(capacity));
        for (size_t i = 0; i < capacity; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
    }

    bool try_push(T&& value) {
        uint64_t at = tail_.load(std::memory_order_relaxed);
        for (;;) {
            Slot& slot = slots_[at & mask_];
            const uint64_t turn = slot.turn.load(std::memory_order_acquire);
            if (turn == at) {
                if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
                    slot.value = std::move(value);
                    slot.turn.store(at + 1, std::memory_order_release);
                    return true;
                }
            } else if (turn < at) {
                return false;
            } else {
                at = tail_.load(std::memory_order_relaxed);
            }
        }
    }

    bool pop(T& into) {
        const uint64_t at = head_.load(std::memory_order_relaxed);
        Slot& slot = slots_[at & mask_];
        if (slot.turn.load(std::memory_order_acquire) != at + 1) return false;
        into = std::move(slot.value);
        slot.turn.store(at + mask_ + 1, std::memory_order_release);
        head_.store(at + 1, std::memory_order_relaxed);
        return true;
    }

    // How many wait, give or take the moves in progress.
    size_t size() const {
        const uint64_t tail = tail_.load(std::memory_order_relaxed);
        const uint64_t head = head_.load(std::memory_order_relaxed);
        return tail > head ? static_cast<size_t>(tail - head) : 0;
    }
    size_t capacity() const { return mask_ + 1; }

private:
    struct alignas(64) Slot {
        std::atomic<uint64_t> turn;
        T value;
    };

    const size_t mask_;
    const std::unique_ptr<Slot[]> slots_;
    alignas(64) std::atomic<uint64_t> tail_{0};
    alignas(64) std::atomic<uint64_t> head_{0};
};

}  // namespace doorbuster
