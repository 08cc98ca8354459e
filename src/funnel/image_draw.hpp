// ImageDrawer: a text as a picture that people read and programs do not.
//
// What a program needs is characters that stand apart, upright, on one line. So the glyphs lean,
// overlap and leave the line, the whole is bent by waves, and lines of the same ink, and of the
// paper's colour, cross it. All of it follows from the seed: the same seed draws the same picture.
//
// A picture takes some milliseconds: never in a gate thread, see ImagePool.
//
// Thread safety: none; one per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "funnel/ink_sheet.hpp"
#include "funnel/png.hpp"

namespace doorbuster {

enum class Distortion : uint8_t {
    full,
    none,  // to show that a reader that fails at the others does work
};

class ImageDrawer {
public:
    static constexpr size_t width = InkSheet::width, height = InkSheet::height;

    ImageDrawer();
    ~ImageDrawer();
    ImageDrawer(const ImageDrawer&) = delete;

    // REQUIRES: text is of image_alphabet, 1 to 8 characters.
    GreyImage draw(std::string_view text, uint64_t seed, Distortion distortion = Distortion::full);

private:
    struct Font;
    const std::unique_ptr<Font> font_;
};

}  // namespace doorbuster
