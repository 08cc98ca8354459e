#include "cli/problem_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "cli/table.hpp"

namespace doorbuster {

namespace {

std::string text_in(const boost::json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? printable(value->get_string()) : "";
}

}  // namespace

std::string problem_text(unsigned status, std::string_view body) {
    boost::system::error_code error;
    const boost::json::value parsed = boost::json::parse(body, error);
    const std::string number = std::to_string(status);
    if (error || !parsed.is_object()) return "the server answered " + number + " without saying why";

    const auto& problem = parsed.get_object();
    const std::string title = text_in(problem, "title"), code = text_in(problem, "code");
    std::string text = title.empty() ? "the server refused" : title;
    text += " (" + number + (code.empty() ? "" : " " + code) + ")";
    if (const std::string detail = text_in(problem, "detail"); !detail.empty()) text += ": " + detail;
    const auto* faults = problem.if_contains("errors");
    if (faults == nullptr || !faults->is_array()) return text;
    for (const auto& fault : faults->get_array()) {
        if (!fault.is_object()) continue;
        const std::string pointer = text_in(fault.get_object(), "pointer");
        text += "\n  " + (pointer.empty() ? "(the whole)" : pointer) + ": " +
                text_in(fault.get_object(), "detail");
    }
    return text;
}

}  // namespace doorbuster
