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
    using KeyId = std::array<uint8_t, 2>;

    SigningKeys(const Secrets&, std::string_view purpose);

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
    static Key derive(std::string_view secret, std::string_view purpose);

    const Key current_;
    const std::optional<Key> previous_;
};

// What is signed: its parts one behind the other, texts with their lengths, so that nothing can
// be moved from one part to the next.
class SignedMessage {
public:
    // REQUIRES: text.size() <= 255.
    SignedMessage& text(std::string_view text) {
        CHECK(text.size() <= 255 && used_ + 1 + text.size() <= bytes_.size());
        bytes_[used_++] = static_cast<char>(text.size());
        text.copy(bytes_.data() + used_, text.size());
        used_ += text.size();
        return *this;
    }
    SignedMessage& number(uint64_t number) {
        CHECK(used_ + 8 <= bytes_.size());
        for (int shift = 56; shift >= 0; shift -= 8) bytes_[used_++] = static_cast<char>(number >> shift);
        return *this;
    }

    std::string_view view() const { return {bytes_.data(), used_}; }

private:
    // Bound: sale, item and buyer, a salt, a challenge and a few numbers.
    std::array<char, 768> bytes_;
    size_t used_ = 0;
};

}  // namespace doorbuster
