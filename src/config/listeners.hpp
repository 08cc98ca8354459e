// The two listeners: each needs an address of its own.
#pragma once

#include <string>

#include "config/config.hpp"

namespace doorbuster {

// Why both cannot be bound at once; empty if they can. The gates share their port among
// threads (SO_REUSEPORT), so the kernel would let the listeners share one as well, and buyers
// would meet the operator's calls at random.
std::string listeners_fault(const Config&);

}  // namespace doorbuster
