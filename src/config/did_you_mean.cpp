#include "config/did_you_mean.hpp"

#include <algorithm>
#include <vector>

namespace doorbuster {

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[b.size()];
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
    typed = typed.substr(0, 200);  // the cost is a product of lengths, and no name is longer
    const std::string* nearest = nullptr;
    size_t distance_min = std::max<size_t>(2, typed.size() / 3) + 1;
    for (const std::string& word : known) {
        const size_t distance = edit_distance(typed, word);
        // A word that shares no letter with what was typed was not meant.
        if (distance < distance_min && distance < std::max(typed.size(), word.size())) {
            distance_min = distance;
            nearest = &word;
        }
    }
    if (nearest == nullptr) return "";
    return ": did you mean '" + *nearest + "'?";
}

}  // namespace doorbuster
