// The weight of one choice of a header such as Accept-Language: its q value.
#pragma once

#include <string_view>

#include "base/words.hpp"

namespace doorbuster {

// In thousandths; 0 for what is not a weight.
inline int weight_of(std::string_view parameters) {
    while (!parameters.empty()) {
        std::string_view value = trim(cut(parameters, ';'));
        const std::string_view name = cut(value, '=');
        if (!equal_words(name, "q")) continue;
        if (value.empty() || value.size() > 5 || (value.size() > 1 && value[1] != '.')) return 0;
        int weight = 0;
        for (size_t digit : {0u, 2u, 3u, 4u}) {
            const char c = digit < value.size() ? value[digit] : '0';
            if (c < '0' || c > '9') return 0;
            weight = weight * 10 + (c - '0');
        }
        return weight <= 1000 ? weight : 0;
    }
    return 1000;
}

}  // namespace doorbuster
