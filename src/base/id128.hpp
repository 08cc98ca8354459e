// Id128: a 128-bit id, written as 32 lower-case hexadecimal digits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doorbuster {

template <class Tag>
struct Id128 {
    std::array<uint8_t, 16> bytes{};

    static std::optional<Id128> from_hex(std::string_view text) {
        if (text.size() != 32) return std::nullopt;
        Id128 id;
        for (size_t i = 0; i < 32; ++i) {
            const char c = text[i];
            int digit;
            if (c >= '0' && c <= '9') {
                digit = c - '0';
            } else if (c >= 'a' && c <= 'f') {
                digit = c - 'a' + 10;
            } else {
                return std::nullopt;
            }
            id.bytes[i / 2] = static_cast<uint8_t>(id.bytes[i / 2] << 4 | digit);
        }
        return id;
    }

    std::string hex() const {
        static constexpr char digits[] = "0123456789abcdef";
        std::string text(32, '0');
        for (size_t i = 0; i < 16; ++i) {
            text[2 * i] = digits[bytes[i] >> 4];
            text[2 * i + 1] = digits[bytes[i] & 15];
        }
        return text;
    }

    friend auto operator<=>(const Id128&, const Id128&) = default;
};

}  // namespace doorbuster
