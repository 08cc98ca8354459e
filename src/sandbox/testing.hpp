// For tests of the sandbox provider: moments, intents, and a JSON reader that cannot fail quietly.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "sandbox/event_outbox.hpp"
#include "sandbox/payment.hpp"

namespace doorbuster::sandbox::testing {

// `after` the start of the test, by both clocks.
inline Moment moment(milliseconds after = milliseconds(0)) {
    return {.now = from_ms(1'700'000'000'000) + after, .uptime = std::chrono::hours(1) + after};
}

inline Intent intent(int64_t amount_minor = 1999) {
    return {.amount_minor = amount_minor, .currency = "CNY", .reference = "order-1"};
}

inline FaultSet faults(std::string_view list) {
    return *FaultSet::parse(list);
}

inline boost::json::object object_of(std::string_view text) {
    return boost::json::parse(boost::json::string_view(text.data(), text.size())).as_object();
}

inline std::string text_of(const boost::json::object& from, std::string_view name) {
    return std::string(from.at(name).as_string());
}

}  // namespace doorbuster::sandbox::testing
