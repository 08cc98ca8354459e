// The lives of a sale and of an order, as tables of allowed steps.
//
// Whoever moves a state asks the table first; what is not in it does not happen.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doorbuster {

enum class SaleState : uint8_t {  // persisted by name
    draft,
    scheduled,
    warming,
    ready,
    open,
    paused,
    sold_out,
    closed,
    reconciled,
};

enum class OrderState : uint8_t {  // persisted by name
    pending_payment,
    paying,
    paid,
    voiding,
    expired,
    cancelled,
    reinstating,
    refunding,
    refunded,
};

bool may_step(SaleState from, SaleState to);
bool may_step(OrderState from, OrderState to);

std::string_view name_of(SaleState);
std::string_view name_of(OrderState);
std::optional<SaleState> sale_state_of(std::string_view name);
std::optional<OrderState> order_state_of(std::string_view name);

}  // namespace doorbuster
