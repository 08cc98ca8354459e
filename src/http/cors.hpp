// Cors: which other sites' pages may call, and read what is answered.
//
// A page that a CDN serves calls from its own origin. The browser lets it see an answer only if the
// answer names that origin, and asks first, by OPTIONS, whether it may send anything but a plain
// request at all. Only the operator's list counts, and an origin is named, never `*`: the answers
// may rest on a cookie. Whether a call with a cookie may change something is identity's to judge.
//
// Thread safety: its gate's thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"

namespace doorbuster {

class Cors {
public:
    void set_origins(std::span<const std::string> origins);

    // Puts into the answer, whatever it will be, what the page's browser wants to read there; and, where
    // there is a list at all, that the answer depends on who asks.
    void mark(Exchange&) const;

    // A browser that asks before it sends.
    static bool is_preflight(const Request& request) {
        return request.method == Method::options && !request.origin.empty() &&
               !request.access_control_request_method.empty();
    }
    bool allows(std::string_view origin) const { return find(origin) != nullptr; }

    // Of a preflight that is allowed, beside what `mark` puts there.
    static constexpr std::string_view preflight_headers =
        "Access-Control-Allow-Methods: GET, HEAD, POST\r\n"
        "Access-Control-Allow-Headers: Authorization, Content-Type, Idempotency-Key, If-None-Match, "
        "Last-Event-ID\r\n"
        "Access-Control-Max-Age: 7200\r\n";  // as long as any browser keeps it

private:
    struct Allowed {
        std::string origin, lines;
    };
    const Allowed* find(std::string_view origin) const;

    std::vector<Allowed> allowed_;
};

}  // namespace doorbuster
