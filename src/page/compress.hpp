// Compression at its best, which is slow: for what is made once and sent often.
#pragma once

#include <string>
#include <string_view>

namespace doorbuster {

std::string gzipped(std::string_view text);   // level 9, without a name or a time: the same bytes every time
std::string brotlied(std::string_view text);  // quality 11

}  // namespace doorbuster
