// Secrets: long enough to guard a sale, or a proposal of better ones.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace doorbuster {

constexpr size_t secret_bytes_min = 32;

// What is wrong with one secret, with a fresh one to paste; empty if it is good.
std::string secret_fault(const Option<std::string>& secret);

// A process that serves must not start with any of these.
std::vector<std::string> secrets_check(const Config&);

}  // namespace doorbuster
