// A whole file as text, up to a bound.
#pragma once

#include <string>

#include "base/result.hpp"

namespace doorbuster {

// The error says why, without the path: "No such file or directory".
[[nodiscard]] Result<std::string, std::string> read_text_file(const std::string& path, size_t bytes_max);

// A file that holds one secret and perhaps, as editors leave it, the end of its line.
[[nodiscard]] Result<std::string, std::string> read_secret_file(const std::string& path);

}  // namespace doorbuster
