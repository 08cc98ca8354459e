// The text of a picture check: which characters, how many, and how what was typed is compared.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "funnel/dice.hpp"

namespace doorbuster {

// No pair in it that a hasty or a weak eye takes for one another, crossed by a line or leaning on
// a neighbour: no 0 O Q D, 1 I L J 7, 2 Z, A, 5 S, 6 G, 8 B, V, F, M W. Seven million texts.
constexpr std::string_view image_alphabet = "CEHKNPRTUXY349";
constexpr size_t image_characters = 6;

inline std::string random_image_text(Dice& dice) {
    std::string text;
    for (size_t i = 0; i < image_characters; ++i) text += image_alphabet[dice.below(image_alphabet.size())];
    return text;
}

// Letters as capitals, without spaces.
struct ImageText {
    std::array<char, image_characters> letters;
    size_t size = 0;  // image_characters + 1: too long to be any answer

    static ImageText folded(std::string_view typed) {
        ImageText text;
        for (const char c : typed) {
            if (c == ' ') continue;
            if (text.size >= text.letters.size()) {
                text.size = text.letters.size() + 1;
                return text;
            }
            text.letters[text.size++] = c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
        }
        return text;
    }
    std::string_view view() const {
        return size > letters.size() ? std::string_view{} : std::string_view(letters.data(), size);
    }
};

}  // namespace doorbuster
