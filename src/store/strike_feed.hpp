// StrikeFeed: where strikes are told, so that those of a cluster count at every gate.
#pragma once

#include <cstdint>

#include "sale/ids.hpp"

namespace doorbuster {

enum class Strike : uint8_t {  // told to other processes: append, never renumber
    failed_check = 0,
    refused_token = 1,
    abandoned_hold = 2,
    turn_taken = 3,  // none: one who is slowed was let through
};
constexpr size_t strike_kinds = 3;  // that have points
constexpr size_t strike_words = 4;

class StrikeFeed {
public:
    // One that was given here, and counts here already. From any thread; never blocks.
    virtual void tell(const BuyerId&, Strike) = 0;

protected:
    ~StrikeFeed() = default;
};

}  // namespace doorbuster
