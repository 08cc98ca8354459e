// Snowflake: order ids that sort by time and are never given twice.
//
//   63 bits = 41 bits of milliseconds since 2024 | 10 bits of node | 12 bits of sequence
//
// When the clock stands still, steps back, or a millisecond's 4,096 ids are
// used up, the generator borrows from the next millisecond instead of waiting:
// an id is always greater than the one before. Hand in the last id that the
// records hold and this stays true across a restart with a clock set back.
//
// Thread safety: none.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "base/clock.hpp"

namespace doorbuster {

class Snowflake {
public:
    static constexpr int64_t epoch_ms = 1704067200000;  // 2024-01-01T00:00:00Z
    static constexpr uint32_t nodes_max = 1u << 10;
    static constexpr uint64_t ids_per_ms = 1u << 12;

    explicit Snowflake(uint32_t node, int64_t last_id = 0) : node_(node), last_(position_of(last_id)) {
        CHECK(node < nodes_max);
    }

    int64_t next(Instant now) {
        const uint64_t ms = static_cast<uint64_t>(to_ms(now) > epoch_ms ? to_ms(now) - epoch_ms : 0);
        const uint64_t earliest = ms * ids_per_ms;
        last_ = last_ + 1 > earliest ? last_ + 1 : earliest;
        const uint64_t id_ms = last_ / ids_per_ms;
        CHECK(id_ms < uint64_t{1} << 41);  // the year 2093
        return static_cast<int64_t>(id_ms << 22 | uint64_t{node_} << 12 | last_ % ids_per_ms);
    }

private:
    // An id without its node: a counter of 4,096 steps a millisecond.
    static uint64_t position_of(int64_t id) {
        const auto bits = static_cast<uint64_t>(id);
        return (bits >> 22) * ids_per_ms + bits % ids_per_ms;
    }

    const uint32_t node_;
    uint64_t last_;
};

}  // namespace doorbuster
