#include "funnel/cookie.hpp"

#include <algorithm>

#include "base/words.hpp"

namespace doorbuster {

std::string_view bearer_token(std::string_view authorization) {
    constexpr std::string_view scheme = "bearer ";
    if (!equal_words(authorization.substr(0, scheme.size()), scheme)) return {};
    authorization.remove_prefix(scheme.size());
    authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
    return authorization;
}

std::string_view cookie_value(std::string_view cookie_header, std::string_view name) {
    std::string_view found;
    bool is_found = false;
    while (!cookie_header.empty()) {
        const size_t end = std::min(cookie_header.find(';'), cookie_header.size());
        const std::string_view pair = cookie_header.substr(0, end);
        cookie_header.remove_prefix(std::min(end + 1, cookie_header.size()));
        const size_t equals = pair.find('=');
        if (equals == std::string_view::npos || trim(pair.substr(0, equals)) != name) continue;
        if (is_found) return {};
        is_found = true;
        found = trim(pair.substr(equals + 1));
    }
    return found;
}

PresentedToken presented_token(std::string_view authorization, std::string_view cookie_header,
                               std::string_view cookie_name) {
    if (!authorization.empty()) return {.token = bearer_token(authorization)};
    if (cookie_name.empty()) return {};
    return {.token = cookie_value(cookie_header, cookie_name), .is_from_cookie = true};
}

}  // namespace doorbuster
