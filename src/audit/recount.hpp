// Recount: counts everything again from the records and names what does not agree.
//
// It shares no logic with the book: no rule about who may buy is in here, only sums
// over rows, so a mistake in the book cannot hide in its own judge.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "audit/difference.hpp"
#include "audit/records.hpp"

namespace doorbuster::audit {

// What one item's records add up to.
struct ItemSums {
    SaleId sale{};
    ItemId item{};
    Stock stock;  // the row
    uint64_t held = 0, sold = 0, open = 0, in_flight = 0;
};

struct Counted {
    std::vector<Difference> differences;
    std::vector<ItemSums> items;            // in the sales' order
    std::array<uint64_t, checks> looked{};  // how many records each check went through
    uint64_t in_flight = 0;                 // records of which it is not decided yet what becomes of them
};

Counted count(const Records&);
inline std::vector<Difference> recount(const Records& records) {
    return count(records).differences;
}

}  // namespace doorbuster::audit
