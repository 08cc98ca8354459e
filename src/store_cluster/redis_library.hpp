// The function library that Redis runs: book.lua and book_control.lua, compiled in.
#pragma once

#include <string_view>

namespace doorbuster {

std::string_view redis_library();
// What its function doorbuster_version answers: a hash of the text.
std::string_view redis_library_version();

}  // namespace doorbuster
