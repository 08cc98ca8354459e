// A reconciliation's report as a page: one file, no script, nothing fetched from anywhere, light
// and dark, fit for paper.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace doorbuster::audit {

// From the report's JSON. A field that is missing is shown as "-".
std::string report_html(const boost::json::object& report);

// For text between tags and in quoted attributes.
std::string escape_html(std::string_view text);

}  // namespace doorbuster::audit
