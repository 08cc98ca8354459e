// "/v1/lists/block/address/203.0.113.0/24": which entry of which list a call is about.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "funnel/risk_lists.hpp"
#include "http/problem.hpp"

namespace doorbuster {

inline constexpr std::string_view lists_path = "/v1/lists";

// The value is all that follows, percent-encoded where it must be; the slash of a range may
// stand as it is. Not found for another list or kind, invalid for a value that is none.
Result<ListEntry, Problem> entry_in(std::string_view path);

}  // namespace doorbuster
