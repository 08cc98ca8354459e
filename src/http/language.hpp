// Which of our languages a client likes best.
#pragma once

#include <string_view>

#include "http/request.hpp"

namespace doorbuster {

// By the highest q value, the first of equals; English if none of ours is named.
Language choose_language(std::string_view accept_language);

std::string_view tag_of(Language);  // en, zh-Hans, zh-Hant

}  // namespace doorbuster
