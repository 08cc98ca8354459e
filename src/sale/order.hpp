// Order, Payment: what a purchase becomes, and what is paid for it. Plain values.
//
// A payment has a life of its own: an order may meet two captures (two attempts, a late one).
// The first pays for it; every other is refunded on its own record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "sale/book.hpp"
#include "sale/ids.hpp"
#include "sale/sale.hpp"
#include "sale/states.hpp"

namespace doorbuster {

// One attempt to pay. Its decimal text is the attempt's idempotency key at the provider.
enum class PaymentId : int64_t {};

enum class PaymentState : uint8_t {  // persisted by name
    creating,                        // recorded here; the provider may not know it yet
    open,                            // the buyer can pay
    declined,                        // the buyer may try again on the provider's page
    voided,                          // so the provider said; watched for a while, for it may lie
    captured,                        // it pays for its order, or asks for a unit (order: reinstating)
    refunding,
    refunded,
};

std::string_view name_of(PaymentState);
std::optional<PaymentState> payment_state_of(std::string_view name);

struct OrderRecord {
    OrderId id{};
    PurchaseId purchase;
    SaleId sale;
    ItemId item;
    BuyerId buyer;
    uint32_t units = 0;
    int64_t amount_minor = 0;
    std::string currency;
    StockPolicy policy = StockPolicy::reserve;  // the sale's
    OrderState state = OrderState::pending_payment;
    uint64_t version = 0;
    Instant created_at{}, pay_by{}, updated_at{};

    HoldState hold = HoldState::held;  // what it has of its units
    PurchaseId holder{};  // under which id the book knows that: a reinstated order has a fresh one
    std::optional<PaymentId> payment;           // the attempt under way, or the one that paid
    OrderState falls_to = OrderState::expired;  // voiding, reinstating: where it goes if nothing pays for it
    std::string reason;                         // why it ended, for its buyer
};

struct PaymentRecord {
    PaymentId id{};
    OrderId order{};
    PaymentState state = PaymentState::creating;
    uint64_t version = 0;
    int64_t amount_minor = 0;  // asked for
    std::string currency;
    int64_t captured_minor = 0;
    std::string captured_currency;
    std::string url;  // where the buyer pays
    Instant created_at{}, updated_at{};
    std::optional<Instant> look_at;  // when the provider is asked next; none: final
    uint32_t looks = 0;              // asked since the last change
};

// What the provider says about an attempt.
enum class ProviderState : uint8_t { unknown, created, declined, captured, voided, refunded };

struct ProviderView {
    ProviderState state = ProviderState::unknown;
    int64_t captured_minor = 0;
    std::string captured_currency;
    std::string url;
};

}  // namespace doorbuster
