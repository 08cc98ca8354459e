#include "funnel/limit_ruling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.hpp"

namespace doorbuster {

size_t format_limit_headers(const LimitRuling& ruling, std::span<char> into) {
    CHECK(into.size() >= limit_headers_bytes_max);
    // Rounded up, or whoever obeys comes too early; and never "now".
    const auto wait_s =
        std::max<int64_t>(std::chrono::ceil<std::chrono::seconds>(ruling.retry_after).count(), 1);
    const char* const end = fmt::format_to(
        into.data(),
        "Retry-After: {}\r\nRateLimit-Policy: \"{}\";q={};w={}\r\nRateLimit: \"{}\";r={};t={}\r\n", wait_s,
        ruling.name, ruling.limit, ruling.window_s, ruling.name, ruling.remaining, wait_s);
    const auto size = static_cast<size_t>(end - into.data());
    CHECK(size <= limit_headers_bytes_max);
    return size;
}

}  // namespace doorbuster
