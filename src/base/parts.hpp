// Parts: texts and numbers one behind the other, texts with their lengths, so that nothing can be moved from
// one part to the next. What is signed, and what an id is a hash of.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.hpp"

namespace doorbuster {

class Parts {
public:
    // REQUIRES: text.size() <= 255.
    Parts& text(std::string_view text) {
        CHECK(text.size() <= 255 && used_ + 1 + text.size() <= bytes_.size());
        bytes_[used_++] = static_cast<char>(text.size());
        append(text);
        return *this;
    }
    Parts& number(uint64_t number) {
        CHECK(used_ + 8 <= bytes_.size());
        for (int shift = 56; shift >= 0; shift -= 8) bytes_[used_++] = static_cast<char>(number >> shift);
        return *this;
    }

    std::string_view view() const { return {bytes_.data(), used_}; }

private:
    // In whole words, which overlap at the end: for a copy of any size up to 255 the compiler would take an
    // instruction that begins slowly.
    void append(std::string_view text) {
        char* const into = bytes_.data() + used_;
        used_ += text.size();
        if (text.size() >= 16) {
            for (size_t at = 0; at + 16 < text.size(); at += 16) copy<16>(into, text, at);
            copy<16>(into, text, text.size() - 16);
        } else if (text.size() >= 8) {
            copy<8>(into, text, 0);
            copy<8>(into, text, text.size() - 8);
        } else {
            for (size_t at = 0; at < text.size(); ++at) into[at] = text[at];
        }
    }
    template <size_t Bytes>
    static void copy(char* into, std::string_view text, size_t at) {
        std::memcpy(into + at, text.data() + at, Bytes);
    }

    // Bound: sale, item and buyer, a salt or a key, a challenge and a few numbers.
    std::array<char, 768> bytes_;
    size_t used_ = 0;
};

}  // namespace doorbuster
