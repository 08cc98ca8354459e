// Difference: one thing in the records that does not agree, and its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sale/order.hpp"

namespace doorbuster::audit {

enum class Kind : uint8_t {  // persisted by name
    // Units
    units,     // the stock row is not what the orders hold
    oversold,  // more units promised in the ledger and the orders than there are
    // The ledger against the orders
    ledger_without_purchase,  // behind the worker, but neither order nor cancellation nor dead letter
    ledger_twice,             // one purchase in two records
    purchase_without_ledger,  // an order that no ledger record explains
    purchase_without_order,   // it names an order that is not there
    order_without_purchase,
    order_twice,      // two orders of one purchase
    order_disagrees,  // an order and its purchase tell different stories
    // The orders against the payments
    amount_disagrees,       // an order that does not cost price times units
    paid_without_capture,   // a paid order without a captured payment of its amount
    capture_without_order,  // a captured payment that pays for nothing
    // Buyers
    holding_over_limit,  // a buyer holds more than allowed
    holding_disagrees,   // the buyer's row is not what the buyer's orders hold
    // Released units
    unit_not_released,  // an order that has ended and still holds its units
    released_twice,     // units given back twice, or of an order that has not ended
    hold_disagrees,     // a paid order whose units are not sold, or an unpaid one whose units are
    // The order of decision
    sequence_gap,
    sequence_order,  // the ledger's order is not the order of decision
};
constexpr size_t kinds = 19;

// The six comparisons that the kinds belong to.
enum class Check : uint8_t { units, ledger, payments, holdings, releases, sequences };
constexpr size_t checks = 6;

std::string_view name_of(Kind);
std::optional<Kind> kind_of(std::string_view name);
std::string_view name_of(Check);
Check check_of(Kind);

// Promise or delta, but nobody's word: units that are sold twice stay a difference until they are
// not, and a stock row is mended.
constexpr bool may_be_acknowledged(Kind kind) {
    return kind != Kind::oversold && kind != Kind::units;
}

struct Difference {
    Kind kind{};
    SaleId sale{};
    std::optional<ItemId> item{};
    std::optional<BuyerId> buyer{};
    std::optional<PurchaseId> purchase{};
    std::optional<OrderId> order{};
    std::optional<PaymentId> payment{};
    std::optional<uint64_t> position{}, sequence{};
    std::vector<uint64_t> figures{};  // where other numbers are another difference
    std::string where;                // "phone-drop/phone", and ids, for people
    std::string detail;               // the figures, or what is missing, in plain words

    // Names this very difference, in every run that finds it, and no other: what is acknowledged
    // under it says nothing about what goes wrong afterwards.
    std::string key() const;
};

}  // namespace doorbuster::audit
