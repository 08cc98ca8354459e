// What the audit answers, as a person reads it: figures in columns, then each difference.
//
// Tolerant: a field that is missing is shown as "-".
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace doorbuster {

std::string reconciliation_text(const boost::json::object& answer);
std::string reconciliations_table(const boost::json::object& answer);
std::string replay_text(const boost::json::object& answer);

}  // namespace doorbuster
