// load_config: the configuration from its sources, or everything that is wrong with them.
//
//   flag over environment over file over default
//
// The environment and the flags are handed in; files are read. All faults are reported
// at once: nobody should mend a file one restart at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace doorbuster {

using Environment = std::map<std::string, std::string>;

// The DOORBUSTER_* variables of this process.
Environment process_environment();

struct FlagValue {
    std::string option;  // "server.listen"
    std::string value;
    std::string flag;  // as typed: "--listen", "--set"
};

struct ConfigSources {
    std::optional<std::string> file;  // --config; wins over DOORBUSTER_CONFIG
    // Where nobody names a file, the first of these that exists.
    std::vector<std::string> files_looked_for{"doorbuster.toml"};
    Environment environment;
    std::vector<FlagValue> flags;
};

struct ConfigFault {
    Source source;
    std::string text;
};

[[nodiscard]] Result<Config, std::vector<ConfigFault>> load_config(const ConfigSources&);

}  // namespace doorbuster
