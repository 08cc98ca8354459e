// Compression at its best, which is slow: for what is made once and sent often.
#pragma once

#include <string>
#include <string_view>

namespace doorbuster {

// Without a name or a time: the same bytes every time.
std::string gzipped(std::string_view text);        // zlib, level 9: a few milliseconds
std::string small_gzipped(std::string_view text);  // zopfli: a twentieth smaller, a tenth of a second
std::string brotlied(std::string_view text);       // quality 11: a tenth of a second

}  // namespace doorbuster
