// What an order may have of its units, by its state and its sale's stock policy: the audit's own
// table, not the rules that moved the order there.
#pragma once

#include <optional>

#include "audit/difference.hpp"

namespace doorbuster::audit {

// unit_not_released, released_twice or hold_disagrees; none: its units are where they belong.
std::optional<Kind> fault_of_hold(const OrderRecord&);

}  // namespace doorbuster::audit
