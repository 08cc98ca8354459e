// The merchant's request for a payment, read from its body.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sandbox/payment.hpp"

namespace doorbuster::sandbox {

constexpr int64_t amount_minor_max = 1'000'000'000'000'000;
constexpr size_t reference_bytes_max = 128, return_url_bytes_max = 2048;

// The error says which field is wrong. Fields of other names are passed over.
[[nodiscard]] Result<Intent, std::string> parse_intent(std::string_view body);

}  // namespace doorbuster::sandbox
