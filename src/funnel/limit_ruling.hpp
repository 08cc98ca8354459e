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
    uint32_t limit = 0;       // 0: there is none
    uint32_t window_s = 0;
    uint32_t remaining = 0;

    // For a stage that lets somebody try once per `every`, in whole seconds.
    static LimitRuling slowed(std::string_view name, Uptime every, Uptime retry_after) {
        const auto every_s = std::chrono::ceil<std::chrono::seconds>(every).count();
        return {.passes = false,
                .retry_after = retry_after,
                .name = name,
                .limit = 1,
                .window_s = static_cast<uint32_t>(every_s)};
    }
};

constexpr size_t limit_headers_bytes_max = 192;

// Retry-After, RateLimit-Policy and RateLimit as
// draft-ietf-httpapi-ratelimit-headers has them; each line ends in CRLF. Returns the bytes
// written. No allocation.
// REQUIRES: limit_headers_bytes_max of room.
size_t format_limit_headers(const LimitRuling& ruling, std::span<char> into);

}  // namespace doorbuster
