// The page on which a buyer pays, or declines to, at the sandbox provider.
//
// Plain HTML without a script, in the style of the buyers' pages. Everything that came from outside
// is escaped.
#pragma once

#include <string>
#include <string_view>

#include "http/request.hpp"
#include "sandbox/payment.hpp"

namespace doorbuster::sandbox {

std::string pay_page(const Payment&, Language);
std::string unknown_payment_page(Language);

// The Content-Security-Policy of both: no script, and no style but the one that is in them.
const std::string& pay_page_policy();

}  // namespace doorbuster::sandbox
