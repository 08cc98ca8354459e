// Contradictions: options that are good one by one and cannot be together.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace doorbuster {

// Each a sentence that says what to change.
std::vector<std::string> contradictions_in(const Config&);

// Everything for which a server must not start with this configuration: missing secrets,
// listeners that meet, contradictions.
std::vector<std::string> serving_faults(const Config&);

}  // namespace doorbuster
