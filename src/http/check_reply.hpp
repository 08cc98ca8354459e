// CheckReply: what the calls around human checks answer, before it is sent.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "http/problem.hpp"

namespace doorbuster {

// The body of a 200, valid until the next call; or a refusal from preformatted bytes; or one with
// details. `check_failed` is one more strike against the buyer.
using CheckReply = std::variant<std::string_view, Code, Problem>;

inline CheckReply invalid_check(std::string pointer, std::string detail) {
    return Problem{.code = Code::invalid, .faults = {{std::move(pointer), std::move(detail)}}};
}

inline CheckReply no_check_asked() {
    return Problem{.code = Code::wrong_state, .detail = "no human check is asked here: buy without a token"};
}

}  // namespace doorbuster
