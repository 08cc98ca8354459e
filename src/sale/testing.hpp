// Names and times for tests.
#pragma once

#include <string>

#include "sale/sale.hpp"

namespace doorbuster::testing {

using namespace std::chrono_literals;

inline const Instant t0 = from_ms(1796126400000);  // 2026-12-01T12:00:00Z
inline const BuyerId alice("alice"), bob("bob"), carol("carol");

inline PurchaseId purchase(uint32_t number) {
    PurchaseId id;
    for (size_t i = 0; i < 4; ++i) id.bytes[i] = static_cast<uint8_t>(number >> (8 * i));
    return id;
}

inline Sale phone_drop(uint32_t units_total = 10, uint32_t units_per_buyer_max = 1) {
    return {.id = SaleId("phone-drop"),
            .title = "Phone drop",
            .opens_at = t0,
            .closes_at = t0 + 30min,
            .warm_before = 1800s,
            .payment_window = 900s,
            .items = {{.id = ItemId("phone"),
                       .name = "Phone",
                       .price_minor = 999900,
                       .original_price_minor = 1599900,
                       .currency = "TWD",
                       .units_total = units_total,
                       .units_per_buyer_max = units_per_buyer_max}}};
}

}  // namespace doorbuster::testing
