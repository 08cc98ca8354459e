#include "sale/stock_policy.hpp"

#include <array>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr std::array<std::string_view, 3> policies{"reserve", "at_order", "at_payment"};

}  // namespace

std::string_view name_of(StockPolicy policy) {
    CHECK(static_cast<size_t>(policy) < policies.size());
    return policies[static_cast<size_t>(policy)];
}

std::optional<StockPolicy> stock_policy_of(std::string_view name) {
    for (size_t i = 0; i < policies.size(); ++i) {
        if (policies[i] == name) return static_cast<StockPolicy>(i);
    }
    return std::nullopt;
}

}  // namespace doorbuster
