// A call's body as JSON, or the refusal of one that is none.
#pragma once

#include <boost/json/value.hpp>
#include <optional>

#include "http/json.hpp"
#include "http/replies.hpp"

namespace doorbuster {

// Nothing, and the exchange is refused, for a body that is no JSON.
inline std::optional<boost::json::value> read_json_body(Replies& replies, Exchange& exchange) {
    if (!is_json_type(exchange.request().content_type)) {
        replies.refuse(exchange, Code::unsupported_media);
        return std::nullopt;
    }
    auto value = parse_json(exchange.request().body);
    if (!value) {
        replies.refuse(exchange,
                       Problem{.code = Code::malformed,
                               .detail = "the body must be JSON in which no object names a key twice"});
    }
    return value;
}

}  // namespace doorbuster
