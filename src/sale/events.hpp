// What the shop is told. Persisted and sent by name: append, never rename.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace doorbuster {

enum class EventKind : uint8_t {
    order_created,
    order_paid,
    order_expired,
    order_cancelled,
    order_refunding,
    order_refunded,
    order_reinstated,    // paid too late, and a unit was left: order_paid follows
    payment_refunded,    // a capture that did not pay for its order
    purchase_cancelled,  // accepted, but it could not become an order
    sale_opened,
    sale_paused,
    sale_sold_out,
    sale_available,  // units came back
    sale_closed,
    sale_reconciled,
};

inline constexpr std::array<std::string_view, 15> event_names = {
    "order.created",  "order.paid",       "order.expired",    "order.cancelled",    "order.refunding",
    "order.refunded", "order.reinstated", "payment.refunded", "purchase.cancelled", "sale.opened",
    "sale.paused",    "sale.sold_out",    "sale.available",   "sale.closed",        "sale.reconciled"};

constexpr std::string_view name_of(EventKind kind) {
    return event_names[static_cast<size_t>(kind)];
}

constexpr std::optional<EventKind> event_kind_of(std::string_view name) {
    for (size_t i = 0; i < event_names.size(); ++i) {
        if (event_names[i] == name) return static_cast<EventKind>(i);
    }
    return std::nullopt;
}

}  // namespace doorbuster
