// The function library that Redis runs: book.lua and book_control.lua, compiled in.
#pragma once

#include <string_view>

namespace doorbuster {

std::string_view redis_library();

}  // namespace doorbuster
