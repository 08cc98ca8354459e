// SigningKeys: what the server signs for itself, and trusts when it comes back.
//
// Checks and purchase tokens live with the buyer, so only a signature tells ours from made-up
// ones. Each purpose has keys of its own, derived from the same secret: a statement signed for
// one purpose means nothing for another. While a secret is being replaced both count: the
// current one signs, the previous one still verifies what is out there.
//
// Thread safety: const calls from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/crypto.hpp"

namespace doorbuster {

class SigningKeys {
public:
    struct Secrets {
        std::string current;
        std::string previous = {};  // empty: none
    };
    using KeyId = std::array<uint8_t, 2>;  // not secret

    SigningKeys(const Secrets&, std::string_view purpose);

    // Keys of their own, under the same ids, for what is about one thing: it need not be named in each
    // message then.
    [[nodiscard]] SigningKeys about(std::string_view thing) const;

    KeyId current_id() const { return current_.id; }
    Digest sign(std::string_view message) const { return current_.hmac.sign(message); }

    // `mac` may be the beginning of the signature. REQUIRES: mac_bytes_min <= its size.
    bool verifies(const KeyId&, std::string_view message, std::string_view mac) const;

    static constexpr size_t mac_bytes_min = 16;

private:
    struct Key {
        KeyId id;
        HmacKey hmac;
    };
    SigningKeys(const Key& current, const std::optional<Key>& previous)
        : current_(current), previous_(previous) {}
    static Key derive(std::string_view secret, std::string_view purpose);

    Key current_;
    std::optional<Key> previous_;
};

}  // namespace doorbuster
