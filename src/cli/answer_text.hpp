// Fields of an answer, for a person: "-" for what is missing, nothing that moves the cursor.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "cli/table.hpp"

namespace doorbuster {

inline std::string answer_text(const boost::json::object& object, std::string_view key) {
    const boost::json::value* found = object.if_contains(key);
    if (found == nullptr || !found->is_string()) return "-";
    return printable(std::string_view(found->get_string()));
}

inline std::string answer_number(const boost::json::object& object, std::string_view key) {
    const boost::json::value* found = object.if_contains(key);
    if (found == nullptr || !found->is_number()) return "-";
    return std::to_string(found->to_number<int64_t>());
}

}  // namespace doorbuster
