// Settings: named texts that outlive a restart: what the operator decided while the server ran.
//
// For a handful of small things (the operator's level, the entries of the risk lists), each
// written whole. Lives beside the orders and is written by their thread. On the cluster all
// processes share them: whoever changes a part of a text must not undo what another has written.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.hpp"
#include "store/errors.hpp"

namespace doorbuster {

class Settings {
public:
    virtual ~Settings() = default;

    // Nothing if it was never put.
    [[nodiscard]] virtual StoreResult<std::optional<std::string>> get(std::string_view name) = 0;

    // Nothing if it still is the text with this SHA-256, too: asking often costs little.
    [[nodiscard]] virtual StoreResult<std::optional<std::string>> get_unless(std::string_view name,
                                                                             const Digest& seen) = 0;

    // Durable when it returns.
    [[nodiscard]] virtual StoreResult<void> put(std::string_view name, std::string_view text) = 0;

    // One step, between whose look and whose writing nobody else writes: hands `edit` the text as it is
    // now, unless it still is the one with this SHA-256 (then, and if it was never put, nothing), and keeps
    // what that makes of it. An error of `edit` is handed on, and nothing was written. It may be called
    // more than once.
    using Edit = std::function<StoreResult<std::string>(std::optional<std::string> other)>;
    [[nodiscard]] virtual StoreResult<void> change(std::string_view name, const std::optional<Digest>& seen,
                                                   const Edit& edit) = 0;
};

}  // namespace doorbuster
