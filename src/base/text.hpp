// Text: a short string that lives inline, so that copying it never allocates.
//
// TextId makes distinct types of it: a SaleId cannot be handed over as an ItemId.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.hpp"

namespace doorbuster {

template <class Tag, size_t BytesMax>
class TextId {
public:
    static_assert(BytesMax <= 255);
    static constexpr size_t bytes_max = BytesMax;

    TextId() = default;

    // Nothing for an empty or an overlong text: what a client sends decides.
    static std::optional<TextId> from(std::string_view text) {
        if (text.empty() || text.size() > BytesMax) return std::nullopt;
        return TextId(text);
    }

    // REQUIRES: 1 <= text.size() <= bytes_max. For texts that were checked before.
    explicit TextId(std::string_view text) : size_(static_cast<uint8_t>(text.size())) {
        CHECK(!text.empty() && text.size() <= BytesMax);
        std::memcpy(bytes_.data(), text.data(), text.size());
    }

    std::string_view view() const { return {bytes_.data(), size_}; }
    std::string str() const { return std::string(view()); }
    bool empty() const { return size_ == 0; }

    friend bool operator==(const TextId& a, const TextId& b) { return a.view() == b.view(); }
    friend std::strong_ordering operator<=>(const TextId& a, const TextId& b) {
        return a.view() <=> b.view();
    }

private:
    uint8_t size_ = 0;
    std::array<char, BytesMax> bytes_;
};

}  // namespace doorbuster
