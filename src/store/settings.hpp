// Settings: named texts that outlive a restart: what the operator decided while the server ran.
//
// For a handful of small things (the operator's level, the entries of the risk lists), each
// written whole. Lives beside the orders and is written by their thread.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/errors.hpp"

namespace doorbuster {

class Settings {
public:
    virtual ~Settings() = default;

    // Nothing if it was never put.
    [[nodiscard]] virtual StoreResult<std::optional<std::string>> get(std::string_view name) = 0;

    // Durable when it returns.
    [[nodiscard]] virtual StoreResult<void> put(std::string_view name, std::string_view text) = 0;
};

}  // namespace doorbuster
