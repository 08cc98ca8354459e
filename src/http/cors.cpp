#include "http/cors.hpp"

#include <fmt/format.h>

namespace doorbuster {

void Cors::set_origins(std::span<const std::string> origins) {
    allowed_.clear();
    for (const std::string& origin : origins) {
        allowed_.push_back({origin, fmt::format("Access-Control-Allow-Origin: {}\r\n"
                                                "Access-Control-Allow-Credentials: true\r\n"
                                                "Access-Control-Expose-Headers: ETag, Location, RateLimit, "
                                                "RateLimit-Policy, Retry-After\r\n"
                                                "Vary: Origin\r\n",
                                                origin)});
    }
}

const Cors::Allowed* Cors::find(std::string_view origin) const {
    for (const Allowed& allowed : allowed_) {
        if (allowed.origin == origin) return &allowed;
    }
    return nullptr;
}

void Cors::mark(Exchange& exchange) const {
    if (allowed_.empty()) return;
    const Allowed* allowed = find(exchange.request().origin);
    exchange.add_headers(allowed != nullptr ? std::string_view(allowed->lines) : "Vary: Origin\r\n");
}

}  // namespace doorbuster
