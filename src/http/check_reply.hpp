// CheckReply: what the calls around human checks answer, before it is sent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "funnel/human_check.hpp"
#include "funnel/pow_check.hpp"
#include "http/problem.hpp"

namespace doorbuster {

// A check that failed as it fails for honest people, who come late or press twice: it sounds like
// any other `check_failed` and is no strike.
struct ExcusedCheck {};

// The body of a 200, valid until the next call; or a refusal from preformatted bytes; or one with
// details. `check_failed` is one more strike against the buyer, unless it is excused.
using CheckReply = std::variant<std::string_view, Code, ExcusedCheck, Problem>;

inline CheckReply refusal_of(CheckFault fault) {
    if (fault == CheckFault::expired) return ExcusedCheck{};  // read, so it was this buyer's own
    return Code::check_failed;
}

// A check that was answered before, here or at another gate.
inline CheckReply sent_again(bool is_right) {
    if (is_right) return ExcusedCheck{};
    return Code::check_failed;
}

inline std::optional<Code> refusal_of(CheckWindow window) {
    switch (window) {
        case CheckWindow::open:
            return std::nullopt;
        case CheckWindow::not_open:
            return Code::not_open;
        case CheckWindow::ended:
            return Code::ended;
    }
    CHECK(false);
    return std::nullopt;
}

inline CheckReply invalid_check(std::string pointer, std::string detail) {
    return Problem{.code = Code::invalid, .faults = {{std::move(pointer), std::move(detail)}}};
}

inline CheckReply no_check_asked() {
    return Problem{.code = Code::wrong_state, .detail = "no human check is asked here: buy without a token"};
}

}  // namespace doorbuster
