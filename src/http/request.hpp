// Request: one parsed HTTP request. All views point into the connection's buffer and
// are valid until the request is answered.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace doorbuster {

enum class Method : uint8_t { get, head, post, put, patch, del, options, other };

// Languages of titles and pages, by Accept-Language.
enum class Language : uint8_t { en, zh_hans, zh_hant };
constexpr size_t languages = 3;

struct Request {
    Method method = Method::other;
    std::string_view path;   // as sent, without the query; begins with '/'
    std::string_view query;  // behind the '?', may be empty
    std::string_view body;

    std::string_view authorization, idempotency_key, if_match, if_none_match, content_type, accept,
        accept_language, accept_encoding;
    std::string_view host, origin, cookie, last_event_id;
    std::string_view access_control_request_method;  // a browser asks whether a page may send this
    std::string_view webhook_id, webhook_timestamp, webhook_signature;
    // X-Forwarded-For: the last lines of it, in their order; what a proxy adds comes last.
    static constexpr size_t forwarded_lines_max = 4;
    std::array<std::string_view, forwarded_lines_max> forwarded_for;
    size_t forwarded_lines = 0;
    bool keep_alive = true;
};

}  // namespace doorbuster
