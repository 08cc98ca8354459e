// Times as people and programs write them: 2026-12-01T12:00:00Z, with milliseconds where there are any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace doorbuster {

std::string format_rfc3339(Instant at);

// Accepts any UTC offset and up to nine fractional digits (cut to milliseconds).
// Nothing for a date that does not exist or a year outside 1970 to 9999.
std::optional<Instant> parse_rfc3339(std::string_view text);

}  // namespace doorbuster
