// What a rate limit can be at most: for the configuration, which refuses more, and the limiter.
#pragma once

#include <chrono>
#include <cstdint>

namespace doorbuster {

constexpr uint32_t window_limit_max = 64;  // an exact window remembers each of its requests
constexpr std::chrono::hours limit_window_max{24};
constexpr uint32_t limit_keys_default = 524'288;  // addresses, and buyers, that are told apart

// Whether a bucket that gets `limit` back per `window` is full again within limit_window_max.
// REQUIRES: limit > 0.
constexpr bool refills_in_time(uint32_t burst, uint32_t limit, std::chrono::seconds window) {
    return burst / limit <= limit_window_max / window;
}

}  // namespace doorbuster
