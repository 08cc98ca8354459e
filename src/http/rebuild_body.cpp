#include "http/rebuild_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>

#include "http/json.hpp"

namespace doorbuster {

namespace {

bool is_reason(const boost::json::value& value) {
    if (!value.is_string()) return false;
    const std::string_view text(value.get_string());
    return !text.empty() && text.size() <= rebuild_reason_bytes_max &&
           std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

RebuildReading read_rebuild(const boost::json::value& value) {
    RebuildReading reading;
    if (!value.is_object()) {
        reading.faults.push_back({"", "must be an object"});
        return reading;
    }
    for (const auto& field : value.get_object()) {
        const std::string_view key(field.key());
        if (key == "item" && field.value().is_string()) {
            reading.item = std::string(field.value().get_string());
        } else if (key == "item") {
            reading.faults.push_back({"/item", "must be the id of an item, as text"});
        } else if (key != "reason") {
            reading.faults.push_back({pointer_step(key), "is not a field of a rebuild"});
        } else if (is_reason(field.value())) {
            reading.reason = std::string(field.value().get_string());
        } else {
            reading.faults.push_back(
                {"/reason", fmt::format("must be text of 1 to {} bytes without control characters",
                                        rebuild_reason_bytes_max)});
        }
    }
    return reading;
}

}  // namespace doorbuster
