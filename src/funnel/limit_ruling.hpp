// LimitRuling: what a limit says, and what the refused hears of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.hpp"

namespace doorbuster {

struct LimitRuling {
    bool passes = true;
    Uptime retry_after{};
    std::string_view name{};  // of the limit, as the headers have it
    uint32_t limit = 0;       // 0: there is none, or none that can be told
    uint32_t window_s = 0;
    uint32_t remaining = 0;
    Uptime wait{};  // leaky bucket with a burst: hold the request back for so long

    // For stages that slow somebody down by a rule that is no rate.
    static LimitRuling slowed(Uptime retry_after) { return {.passes = false, .retry_after = retry_after}; }
};

constexpr size_t limit_headers_bytes_max = 192;

// Retry-After, and, where the limit can be told, RateLimit-Policy and RateLimit as
// draft-ietf-httpapi-ratelimit-headers has them; each line ends in CRLF. Returns the bytes
// written. No allocation.
// REQUIRES: limit_headers_bytes_max of room.
size_t format_limit_headers(const LimitRuling& ruling, std::span<char> into);

}  // namespace doorbuster
