// A TOML file as a flat list of keys with their lines.
//
// The TOML library stays inside the .cpp: it takes seconds to compile.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/option.hpp"

namespace doorbuster {

struct TomlEntry {
    std::string name;  // "server.listen"
    RawValue value;
    uint32_t line;
    bool is_heading = false;  // a table at the top without keys: all are commented out
};

// In the order of the file's lines; or why it cannot be read, with the line.
[[nodiscard]] Result<std::vector<TomlEntry>, std::string> read_toml_file(const std::string& path);

std::string toml_quoted(std::string_view text);

}  // namespace doorbuster
