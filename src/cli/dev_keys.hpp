// The keys of `doorbuster dev`: made once, kept beside the data, found by a second terminal.
//
// dev.toml is itself a configuration file: the client commands read it where no other is
// there. The keys in it are kept; the addresses are those of the last start.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace doorbuster {

std::string dev_keys_file(const Config&);

// Fills in the secrets that no source gave and writes the file, readable by its owner only.
// The error is a sentence.
[[nodiscard]] Result<void, std::string> prepare_dev_keys(Config&);

}  // namespace doorbuster
