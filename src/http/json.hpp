// JSON from outside, read strictly, and what every writer of JSON needs.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace doorbuster {

// Nothing for text that is no JSON, is nested too deep, or names a key twice in one
// object: readers that differ on which one counts are how checks are bypassed.
std::optional<boost::json::value> parse_json(std::string_view text);

// "at" and "at_ms" under the given name.
void put_instant(boost::json::object& into, std::string_view name, Instant at);

// Bytes of unknown origin as text that JSON may carry: what is not UTF-8 becomes U+FFFD.
std::string as_utf8(std::string_view bytes);

// One step of a JSON pointer (RFC 6901).
std::string pointer_step(std::string_view key);

// Absent is accepted: many a client forgets it, and a body that is no JSON says so itself.
bool is_json_type(std::string_view content_type);

}  // namespace doorbuster
