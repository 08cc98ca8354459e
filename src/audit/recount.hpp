// Recount: counts everything again from the records and names what does not agree.
//
// It shares no logic with the book: no rule about who may buy is in here, only sums
// over rows, so a mistake in the book cannot hide in its own judge.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/records.hpp"

namespace doorbuster::audit {

enum class Kind : uint8_t {  // persisted by name
    stock_sum,               // available + held + sold is not the total
    stock_held,              // held is not what the unpaid orders hold
    stock_sold,              // sold is not what the paid orders have
    oversold,                // more units promised in the ledger and the orders than there are
    ledger_unplaced,         // behind the worker, but neither order nor cancellation nor dead letter
    ledger_twice,            // one purchase in two records
    purchase_without_ledger,
    purchase_without_order,
    order_without_purchase,
    order_twice,        // two orders of one purchase
    order_disagrees,    // an order and its purchase tell different stories
    holding_disagrees,  // the buyer's row is not what the buyer's orders hold
    over_limit,         // a buyer holds more than allowed
    sequence_gap,
    sequence_order,  // the ledger's order is not the order of decision
};
constexpr size_t kinds = 15;

std::string_view name_of(Kind);

struct Difference {
    Kind kind;
    std::string where;   // "phone-drop/phone", and ids
    std::string detail;  // the two figures, or what is missing
};

std::vector<Difference> recount(const Records&);

}  // namespace doorbuster::audit
