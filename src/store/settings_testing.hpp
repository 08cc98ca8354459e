// Settings in memory, for tests; fails when told to, as a full disk does.
#pragma once

#include <map>
#include <string>

#include "store/settings.hpp"

namespace doorbuster::testing {

class MemorySettings final : public Settings {
public:
    bool is_full = false;

    StoreResult<std::optional<std::string>> get(std::string_view name) override {
        const auto found = texts_.find(name);
        return found == texts_.end() ? std::nullopt : std::optional(found->second);
    }
    StoreResult<void> put(std::string_view name, std::string_view text) override {
        if (is_full) return StoreError{StoreErrc::full, "writing a setting", ""};
        texts_.insert_or_assign(std::string(name), std::string(text));
        return {};
    }

private:
    std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace doorbuster::testing
