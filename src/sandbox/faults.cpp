#include "sandbox/faults.hpp"

#include <algorithm>
#include <array>

namespace doorbuster::sandbox {

namespace {

constexpr std::array<std::string_view, faults_count> names{
    "delayed",   "repeated",       "reordered",           "lost",       "forged",
    "underpaid", "wrong_currency", "captured_after_void", "unreachable"};

}  // namespace

std::vector<std::string_view> FaultSet::words() const {
    std::vector<std::string_view> words;
    for (size_t i = 0; i < names.size(); ++i) {
        if (set_.test(i)) words.push_back(names[i]);
    }
    return words;
}

Result<FaultSet, std::string> FaultSet::parse(std::string_view list) {
    FaultSet faults;
    while (!list.empty()) {
        const size_t comma = list.find(',');
        const std::string_view word = list.substr(0, comma);
        list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
        if (word.empty() || word == "none") continue;
        if (word == "all") {
            faults.set_.set();
            continue;
        }
        const auto found = std::find(names.begin(), names.end(), word);
        if (found == names.end()) {
            std::string known;
            for (const std::string_view name : names) known.append(name).append(", ");
            return "unknown fault '" + std::string(word) + "': write some of " + known + "or all, or none";
        }
        faults.set_.set(static_cast<size_t>(found - names.begin()));
    }
    return faults;
}

}  // namespace doorbuster::sandbox
