#include "audit/order_holds.hpp"

#include "base/check.hpp"

namespace doorbuster::audit {

namespace {

// Before anything is paid: as it was accepted.
HoldState unpaid_hold(StockPolicy policy) {
    switch (policy) {
        case StockPolicy::reserve:
            return HoldState::held;
        case StockPolicy::at_order:
            return HoldState::sold;
        case StockPolicy::at_payment:
            return HoldState::open;
    }
    CHECK(false);
    return HoldState::held;
}

std::optional<Kind> fault_of_live(HoldState hold, HoldState expected) {
    if (hold == expected) return std::nullopt;
    return hold == HoldState::finished ? Kind::released_twice : Kind::hold_disagrees;
}

}  // namespace

std::optional<Kind> fault_of_hold(const OrderRecord& order) {
    const HoldState hold = order.hold;
    const bool is_finished = hold == HoldState::finished;
    switch (order.state) {
        case OrderState::pending_payment:
        case OrderState::paying:
        case OrderState::voiding:
            return fault_of_live(hold, unpaid_hold(order.policy));
        case OrderState::paid:
            return fault_of_live(hold, HoldState::sold);
        case OrderState::expired:
        case OrderState::cancelled:
        case OrderState::reinstating:  // it asks for units because it has none
            return is_finished ? std::nullopt : std::optional(Kind::unit_not_released);
        case OrderState::refunding:
        case OrderState::refunded:
            // Sold: the shop, or the provider behind everybody's back, gave the money back and not the goods.
            return is_finished || hold == HoldState::sold ? std::nullopt
                                                          : std::optional(Kind::unit_not_released);
    }
    CHECK(false);
    return std::nullopt;
}

}  // namespace doorbuster::audit
