// WaitingUnits: how many units of each item are asked for by purchases that wait for the book.
//
// Gate threads count up before they put a purchase into the queue, the owner thread counts
// down when it takes it out to decide it; a gate reads it to tell a crowd that cannot all be served.
//
// Bound: slots_max items over the life of the process, each a word; blocks of words are made
// when an item of theirs is first asked for. An item beyond the bound is never crowded.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "sale/catalogue.hpp"

namespace doorbuster {

class WaitingUnits {
public:
    WaitingUnits() = default;
    WaitingUnits(const WaitingUnits&) = delete;
    WaitingUnits& operator=(const WaitingUnits&) = delete;
    ~WaitingUnits() {
        for (const auto& block : blocks_) delete block.load(std::memory_order_relaxed);
    }

    void add(ItemSlot slot, uint32_t units) {
        if (auto* word = find(slot, true)) word->fetch_add(units, std::memory_order_relaxed);
    }
    void remove(ItemSlot slot, uint32_t units) {
        if (auto* word = find(slot, false)) word->fetch_sub(units, std::memory_order_relaxed);
    }
    uint64_t of(ItemSlot slot) {
        const auto* word = find(slot, false);
        return word == nullptr ? 0 : word->load(std::memory_order_relaxed);
    }

private:
    static constexpr size_t block_slots = 1024, blocks_max = 1024;
    using Block = std::array<std::atomic<uint64_t>, block_slots>;

    std::atomic<uint64_t>* find(ItemSlot slot, bool makes) {
        const auto index = static_cast<size_t>(slot);
        if (index >= block_slots * blocks_max) return nullptr;
        std::atomic<Block*>& place = blocks_[index / block_slots];
        Block* block = place.load(std::memory_order_acquire);
        if (block == nullptr) {
            if (!makes) return nullptr;
            auto* made = new Block{};
            if (place.compare_exchange_strong(block, made, std::memory_order_acq_rel)) {
                block = made;
            } else {
                delete made;  // another gate was first
            }
        }
        return &(*block)[index % block_slots];
    }

    std::array<std::atomic<Block*>, blocks_max> blocks_{};
};

}  // namespace doorbuster
