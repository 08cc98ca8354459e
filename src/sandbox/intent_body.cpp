#include "sandbox/intent_body.hpp"

#include <algorithm>

#include "http/json.hpp"

namespace doorbuster::sandbox {

namespace {

namespace json = boost::json;

std::string_view text_of(const json::object& from, std::string_view name) {
    const json::value* value = from.if_contains(name);
    return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                  : std::string_view{};
}

bool is_currency(std::string_view text) {
    return text.size() == 3 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// It becomes a link on a page: nothing but HTTP, or a merchant's mistake runs as a script there.
bool is_web_url(std::string_view text) {
    return (text.starts_with("http://") || text.starts_with("https://")) &&
           text.size() <= return_url_bytes_max;
}

}  // namespace

Result<Intent, std::string> parse_intent(std::string_view body) {
    using Parsed = Result<Intent, std::string>;
    constexpr auto failed = boost::system::in_place_error;
    const auto value = parse_json(body);
    if (!value || !value->is_object()) return Parsed(failed, "the body must be a JSON object");
    const json::object& from = value->get_object();

    const json::value* amount = from.if_contains("amount_minor");
    const bool is_amount = amount != nullptr && amount->is_int64() && amount->get_int64() >= 1 &&
                           amount->get_int64() <= amount_minor_max;
    if (!is_amount) return Parsed(failed, "amount_minor must be a whole number from 1 to 10^15");
    const std::string_view currency = text_of(from, "currency");
    if (!is_currency(currency)) return Parsed(failed, "currency must be three capital letters");
    const std::string_view reference = text_of(from, "reference");
    if (reference.empty() || reference.size() > reference_bytes_max) {
        return Parsed(failed, "reference must be a text of 1 to 128 bytes");
    }
    const std::string_view return_url = text_of(from, "return_url");
    if (from.contains("return_url") && !is_web_url(return_url)) {
        return Parsed(failed, "return_url must be an http or https URL of at most 2048 bytes");
    }
    return Intent{.amount_minor = amount->get_int64(),
                  .currency = std::string(currency),
                  .reference = std::string(reference),
                  .return_url = std::string(return_url)};
}

}  // namespace doorbuster::sandbox
