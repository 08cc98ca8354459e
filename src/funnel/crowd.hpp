// Crowd: whether so many already wait for an item that one more waits in vain.
//
// If more units are asked for by those who wait than the item has in all, a purchase put
// behind them could win nothing even if every unit came back. It is told so at once, with 503
// `crowded`: not `sold_out`, which would be a statement about units.
#pragma once

#include <cstdint>

#include "sale/book.hpp"

namespace doorbuster {

constexpr bool is_crowded(uint64_t units_waited_for, const Stock& stock) {
    return units_waited_for >= stock.units_total;
}

}  // namespace doorbuster
