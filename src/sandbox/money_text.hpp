// Money as the buyers' pages write it, for a page that has no script to do so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/request.hpp"

namespace doorbuster::sandbox {

// "NT$9,999", "¥19.99", "KWD 1.999": the currency's sign in this language, groups of three, and as
// many decimals as the currency has; none where they would all be zero.
std::string money_text(int64_t amount_minor, std::string_view currency, Language);

}  // namespace doorbuster::sandbox
