#include "config/config.hpp"

#include "base/check.hpp"

namespace doorbuster {

Config& Config::operator=(const Config& other) {
    CHECK(groups_.size() == other.groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
        const auto& theirs = other.groups_[g]->options;
        for (size_t o = 0; o < theirs.size(); ++o) groups_[g]->options[o]->copy_from(*theirs[o]);
    }
    file = other.file;
    return *this;
}

std::vector<const AnyOption*> Config::options() const {
    std::vector<const AnyOption*> all;
    for (const OptionGroup* group : groups_) {
        all.insert(all.end(), group->options.begin(), group->options.end());
    }
    return all;
}

AnyOption* Config::find(std::string_view name) {
    for (OptionGroup* group : groups_) {
        for (AnyOption* option : group->options) {
            if (option->name() == name) return option;
        }
    }
    return nullptr;
}

}  // namespace doorbuster
