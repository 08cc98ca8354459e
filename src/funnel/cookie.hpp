// Where a request carries the buyer's token: in the Authorization header or in a cookie.
//
// The header wins. If there is one that holds no bearer token, the cookie is not tried: two
// people in one request are nobody. A cookie is sent by the browser whoever asked for it, so
// what it says counts only after the Origin check; a header was put there on purpose.
#pragma once

#include <string_view>

namespace doorbuster {

// The token of "Bearer …", the scheme in any case; empty if there is none.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization);

// The value of the cookie of that name; empty if there is none, or if the name stands there
// twice: a neighbouring domain may have planted the other one.
[[nodiscard]] std::string_view cookie_value(std::string_view cookie_header, std::string_view name);

struct PresentedToken {
    std::string_view token{};  // empty: none
    bool is_from_cookie = false;
};

// An absent header is an empty text. An empty `cookie_name` turns cookies off.
[[nodiscard]] PresentedToken presented_token(std::string_view authorization, std::string_view cookie_header,
                                             std::string_view cookie_name);

}  // namespace doorbuster
