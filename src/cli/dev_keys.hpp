// The keys of `doorbuster dev`: made once, kept beside the data, found by a second terminal.
//
// dev.toml is itself a configuration file: the client commands read it where no other gives
// them keys. The keys in it are kept; the addresses are those of the last start, written when
// the data folder is this process's and the ports are bound.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"

namespace doorbuster {

std::string dev_keys_file(const Config&);

// Fills in the secrets that no source gave. Writes the file, readable by its owner only, if it
// does not have them all yet: one that does may be a running server's. Errors are sentences.
[[nodiscard]] Result<void, std::string> prepare_dev_keys(Config&);

struct DevAddresses {
    std::string server_listen, admin_listen;  // as bound
};
// Writes where the server is reached, and the keys it has. REQUIRES: it holds the data folder.
[[nodiscard]] Result<void, std::string> record_dev_start(const Config&, const DevAddresses&);

// For a client: takes from dev.toml what no source gave. Leaves it alone where the
// configuration file has a key, because that file's server is then meant.
[[nodiscard]] Result<void, std::string> borrow_dev_keys(Config&);

}  // namespace doorbuster
