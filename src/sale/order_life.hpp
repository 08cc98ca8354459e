// What may happen to an order and its payments: pure rulings, no store, no clock, no provider.
//
// Whoever acts reads the records, asks here what follows, and hands the move to the store, which
// carries it out in one transaction if the records are still the ones that were read. What the
// provider says decides; a timer never takes a paid order away, and no capture is kept without
// goods:
//   - a unit goes back only with a confirmed void, never with the wish for one
//   - a capture pays for its order, or asks for a unit, or is refunded: on its own record
#pragma once

#include <optional>
#include <vector>

#include "sale/events.hpp"
#include "sale/order.hpp"

namespace doorbuster {

struct PaymentChange {
    std::optional<PaymentRecord> before;  // its version is the condition; none: the attempt is new
    PaymentRecord after;
};

struct OrderMove {
    OrderRecord before;  // its version is the condition
    OrderRecord after;
    std::optional<PaymentChange> payment;
    std::vector<EventKind> events;
};

// The window is over. pending_payment -> expired, with its unit; paying -> voiding.
std::optional<OrderMove> expire(const OrderRecord&);
// The buyer's word; the same way, to `cancelled`.
std::optional<OrderMove> cancel(const OrderRecord&);
// An attempt to pay for the order, as nobody has asked for it yet.
PaymentRecord new_attempt(const OrderRecord&, PaymentId, Instant now);
// pending_payment -> paying with a new attempt, while the window is open.
std::optional<OrderMove> begin_payment(const OrderRecord&, PaymentId, Instant now);
// The shop's word on a paid order. Whether the units go back into the sale is the shop's to say.
std::optional<OrderMove> refund(const OrderRecord&, const PaymentRecord& paying, bool units_return,
                                std::string reason);

// What follows from the provider's word about one attempt.
struct PaymentRuling {
    std::optional<OrderMove> move;         // order and payment together
    std::optional<OrderMove> if_no_unit;   // where the store finds no unit for `move` (at_payment)
    std::optional<PaymentChange> payment;  // the payment alone, the order stays
};
PaymentRuling rule_on(const OrderRecord&, const PaymentRecord&, const ProviderView&);

// The book had no unit, or the buyer no right, for an order in `reinstating`.
OrderMove refuse_reinstatement(const OrderRecord&, const PaymentRecord& captured);

// The id under which a late payment asks the book, the same however often it asks.
PurchaseId reinstating_id(const OrderRecord&);

// What the provider is to be asked about an attempt.
enum class ProviderAsk : uint8_t { create, look_up, take_back, refund };
ProviderAsk next_ask(const OrderRecord&, const PaymentRecord&);

inline constexpr std::string_view reason_expired = "it was not paid in time";
inline constexpr std::string_view reason_by_buyer = "cancelled by the buyer";
inline constexpr std::string_view reason_wrong_amount = "what was paid was not the price";
inline constexpr std::string_view reason_too_late = "it was paid too late, and no unit was left";
inline constexpr std::string_view reason_no_unit_to_pay = "it was paid, but no unit was left";
inline constexpr std::string_view reason_by_provider = "the payment provider gave the money back";

}  // namespace doorbuster
