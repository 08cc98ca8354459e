// {"item":"phone","reason":"…"}: whose books are to be rebuilt, and why.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sale/sale.hpp"

namespace doorbuster {

constexpr size_t rebuild_reason_bytes_max = 200;

struct RebuildReading {
    std::optional<std::string> item;  // none: all of the sale's
    std::string reason = "the operator's word";
    std::vector<Fault> faults;  // every one there is
};

RebuildReading read_rebuild(const boost::json::value&);

}  // namespace doorbuster
