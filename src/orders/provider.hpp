// What is asked of the payment provider, and what came of it. Plain values.
//
// The one who asks runs off the orders thread. An attempt's id, in decimal digits, is its
// idempotency key there: asking twice does once.
#pragma once

#include <optional>
#include <string>

#include "sale/order_life.hpp"

namespace doorbuster {

struct ProviderCall {
    ProviderAsk ask{};
    PaymentRecord payment;
};

struct ProviderAnswer {
    // None: it could not be reached, or refused. What was asked may have happened all the same.
    std::optional<ProviderView> view;
    std::string error;  // then: why, for people
};

}  // namespace doorbuster
