#include "funnel/cookie.hpp"

#include <algorithm>

namespace doorbuster {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::string_view bearer_token(std::string_view authorization) {
    constexpr std::string_view scheme = "bearer ";
    const std::string_view start = authorization.substr(0, scheme.size());
    if (!std::equal(start.begin(), start.end(), scheme.begin(), scheme.end(),
                    [](char given, char wanted) { return lower(given) == wanted; })) {
        return {};
    }
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
        if (equals == std::string_view::npos || trimmed(pair.substr(0, equals)) != name) continue;
        if (is_found) return {};
        is_found = true;
        found = trimmed(pair.substr(equals + 1));
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
