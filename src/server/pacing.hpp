// How the configuration says that purchases go to the books, and from there to the orders.
#pragma once

#include "config/config.hpp"
#include "store/pacing.hpp"

namespace doorbuster {

inline Pacing pacing_of(const ShardOptions& options) {
    return {.wait_max = milliseconds(options.wait_ms_max.value()),
            .rate_per_second_max = options.rate_per_second_max};
}

// The embedded store needs a tenth to a sixth of a core for so many; PostgreSQL on two small cores makes
// 4,000 to 12,000 in all (bench/RESULTS.md).
constexpr uint32_t embedded_orders_per_second_max = 20'000;
constexpr uint32_t postgres_orders_per_second_max = 5'000;

inline uint32_t orders_per_second_of(const OrdersOptions& options, uint32_t what_suits_the_store) {
    const uint32_t configured = options.rate_per_second_max;
    return configured == 0 ? what_suits_the_store : configured;
}

}  // namespace doorbuster
