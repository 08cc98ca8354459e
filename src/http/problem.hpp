// Problem: an error as RFC 9457 tells it, with a stable code and a localised title.
//
// The plain ones (a code, no details) are formatted once per code and language at start, and so are those
// that always say the same (PreparedRefusal); refusing somebody then is a copy of bytes. A Problem is written
// as JSON each time: it says what only this request can be told, above all which fields are wrong (422).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

enum class Code : uint8_t {
    malformed,           // 400
    unauthenticated,     // 401
    token_required,      // 403
    token_invalid,       // 403
    check_failed,        // 403
    blocked,             // 403
    cross_site,          // 403
    not_found,           // 404
    method_not_allowed,  // 405
    timeout,             // 408
    not_open,            // 409
    ended,               // 409
    paused,              // 409
    sold_out,            // 409
    sold_out_for_now,    // 409
    limit_reached,       // 409
    wrong_state,         // 409: the sale or order is not in a state that allows it
    exists,              // 409
    version_changed,     // 412
    body_too_large,      // 413
    unsupported_media,   // 415
    invalid,             // 422
    version_required,    // 428
    rate_limited,        // 429
    headers_too_large,   // 431
    internal,            // 500
    overloaded,          // 503
    crowded,             // 503
    rebuilding,          // 503
    unknown,             // 503
    unavailable,         // 503
};
constexpr size_t codes = 31;

int status_of(Code);
std::string_view name_of(Code);
std::string_view title_of(Code, Language);
bool carries_retry_after(Code);  // 429 and 503

struct Problem {
    Code code;
    std::string detail{};         // what to do about it, for the person who reads it
    std::vector<Fault> faults{};  // for `invalid`: "errors":[{"pointer","detail"}]
    // For `limit_reached`: the purchase that holds the right; for `unknown`: the one that it is about.
    std::string purchase{};
};

// {"type":"urn:doorbuster:problem:CODE","title":…,"status":…,"code":…[,"detail"][,"errors"][,"purchase"]}
std::string problem_body(const Problem&, Language);

}  // namespace doorbuster
