// StockPolicy: when a purchase takes its unit. Set per sale, fixed once the sale is warm.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doorbuster {

enum class StockPolicy : uint8_t {  // persisted by name
    reserve,                        // held at acceptance, sold at payment, returned at expiry
    at_order,                       // sold at acceptance; an unpaid order is swept, its unit returned
    at_payment,                     // an order takes no unit, payment takes it; open orders are bounded
};

std::string_view name_of(StockPolicy);
std::optional<StockPolicy> stock_policy_of(std::string_view name);

}  // namespace doorbuster
