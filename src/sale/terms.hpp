// What a book is told about an item of a sale, whichever book it is.
#pragma once

#include "sale/book.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

inline Book::Terms terms_of(const Sale& sale, const Item& item) {
    return {.units_per_buyer_max = item.units_per_buyer_max,
            .opens_at = sale.opens_at,
            .closes_at = sale.closes_at,
            .policy = sale.stock_policy,
            .orders_max = item.orders_max};
}

}  // namespace doorbuster
