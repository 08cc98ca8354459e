// What the shop reads of an event.
//
// An event may be told many times, days apart, and must say the same each time: only facts that
// never change afterwards are in it. The state is the one that the event brought about, not the
// one that the order has by now.
//
//   {"type":"order.paid","timestamp":"2026-12-01T12:00:03.250Z","data":{"id":"7001",…,"state":"paid"}}
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/orders.hpp"

namespace doorbuster {

// "evt_17": the same in every attempt, so that a receiver knows a repeat.
std::string event_id(uint64_t number);
// With or without "evt_"; nothing for what names no event.
std::optional<uint64_t> event_number_of(std::string_view text);

// The records that an event is about. One that cannot be found is left out: the event is told all
// the same.
struct EventFacts {
    EventRecord event;
    std::optional<OrderRecord> order;
    std::optional<PurchaseRecord> purchase;  // of purchase_cancelled
    std::optional<PaymentRecord> payment;    // of payment_refunded
};
[[nodiscard]] StoreResult<EventFacts> facts_of(const EventRecord&, OrdersReader&);

boost::json::object event_json(const EventFacts&);

}  // namespace doorbuster
