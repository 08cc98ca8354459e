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
    StoreResult<std::optional<std::string>> get_unless(std::string_view name, const Digest& seen) override {
        const auto found = texts_.find(name);
        if (found == texts_.end() || sha256(found->second) == seen) return std::nullopt;
        return std::optional(found->second);
    }
    StoreResult<void> put(std::string_view name, std::string_view text) override {
        if (is_full) return StoreError{StoreErrc::full, "writing a setting", ""};
        texts_.insert_or_assign(std::string(name), std::string(text));
        return {};
    }
    StoreResult<void> change(std::string_view name, const std::optional<Digest>& seen,
                             const Edit& edit) override {
        const auto edited = edit(*(seen ? get_unless(name, *seen) : get(name)));
        if (!edited) return edited.error();
        return put(name, *edited);
    }

private:
    std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace doorbuster::testing
