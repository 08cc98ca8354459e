#include "funnel/image_draw.hpp"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.hpp"
#include "funnel/clutter.hpp"
#include "funnel/dice.hpp"
#include "funnel/font.hpp"

namespace doorbuster {

namespace {

constexpr size_t width = ImageDrawer::width, height = ImageDrawer::height;

// How one glyph leans.
struct Lean {
    double turn = 0, shear = 0, stretch = 1, grow = 1;

    FT_Matrix matrix(double scale) const {
        const double c = std::cos(turn) * scale * grow, s = std::sin(turn) * scale * grow;
        const auto fixed = [](double value) { return static_cast<FT_Fixed>(std::lround(value * 65536)); };
        // Stretch and shear first, then the turn.
        return {.xx = fixed(c * stretch),
                .xy = fixed(c * shear - s),
                .yx = fixed(s * stretch),
                .yy = fixed(s * shear + c)};
    }
};

GreyImage developed(const InkSheet& sheet, Dice& dice, double strength) {
    GreyImage image(width, height);
    const double paper = 255 - 25 * strength * dice.between(0, 1),
                 ink = 20 + 50 * strength * dice.between(0, 1);
    for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) {
            const double share = sheet.at(static_cast<int>(x), static_cast<int>(y));
            image.pixels[y * width + x] = static_cast<uint8_t>(std::lround(paper + (ink - paper) * share));
        }
    }
    return image;
}

}  // namespace

struct ImageDrawer::Font {
    static constexpr unsigned nominal_px = 56;

    FT_Library library = nullptr;
    FT_Face face = nullptr;

    Font() {
        const auto bytes = picture_font();
        CHECK(FT_Init_FreeType(&library) == 0);
        CHECK(FT_New_Memory_Face(library, bytes.data(), static_cast<FT_Long>(bytes.size()), 0, &face) == 0);
        CHECK(FT_Set_Pixel_Sizes(face, 0, nominal_px) == 0);
    }
    ~Font() {
        FT_Done_Face(face);
        FT_Done_FreeType(library);
    }
    Font(const Font&) = delete;

    FT_Outline& shape(char letter, const Lean& lean, double scale) const {
        CHECK(FT_Load_Char(face, static_cast<FT_ULong>(letter), FT_LOAD_NO_BITMAP | FT_LOAD_NO_HINTING) == 0);
        FT_Outline& outline = face->glyph->outline;
        const FT_Matrix matrix = lean.matrix(scale);
        FT_Outline_Transform(&outline, &matrix);
        return outline;
    }
    // In 64ths of a pixel.
    static FT_BBox box_of(const FT_Outline& outline) {
        FT_BBox box;
        FT_Outline_Get_CBox(&outline, &box);
        return box;
    }

    // With its box's left edge and its middle where they are said to be.
    void print(InkSheet& sheet, char letter, const Lean& lean, double scale, double left,
               double middle) const {
        FT_Outline& outline = shape(letter, lean, scale);
        const FT_BBox box = box_of(outline);
        FT_Outline_Translate(
            &outline, std::lround(left * 64) - box.xMin,
            std::lround((static_cast<double>(height) - middle) * 64) - (box.yMin + box.yMax) / 2);
        CHECK(FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL) == 0);
        const FT_Bitmap& bitmap = face->glyph->bitmap;
        for (int row = 0; row < static_cast<int>(bitmap.rows); ++row) {
            for (int column = 0; column < static_cast<int>(bitmap.width); ++column) {
                const int x = face->glyph->bitmap_left + column;
                const int y = static_cast<int>(height) - face->glyph->bitmap_top + row;
                const auto ink = static_cast<float>(bitmap.buffer[row * bitmap.pitch + column]) / 255;
                sheet.set(x, y, std::max(sheet.at(x, y), ink));
            }
        }
    }
};

ImageDrawer::ImageDrawer() : font_(std::make_unique<Font>()) {}
ImageDrawer::~ImageDrawer() = default;

GreyImage ImageDrawer::draw(std::string_view text, uint64_t seed, Distortion distortion) {
    CHECK(!text.empty() && text.size() <= 8);
    const double strength = distortion == Distortion::full ? 1 : 0;
    Dice dice(seed);

    std::vector<Lean> leans;
    std::vector<double> widths;
    // Neighbours touch, or stand well apart.
    const double gap = strength > 0 ? -0.5 : 6;
    double width_sum = 0;
    for (const char letter : text) {
        leans.push_back({.turn = strength * dice.between(-0.34, 0.34),
                         .shear = strength * dice.between(-0.3, 0.3),
                         .stretch = 1 + strength * dice.between(-0.15, 0.1),
                         .grow = 1 + strength * dice.between(-0.15, 0.1)});
        const FT_BBox box = Font::box_of(font_->shape(letter, leans.back(), 1));
        widths.push_back(static_cast<double>(box.xMax - box.xMin) / 64);
        width_sum += widths.back();
    }
    width_sum += gap * static_cast<double>(text.size() - 1);
    const double scale = std::min(0.95, (static_cast<double>(width) - 22) / width_sum);

    InkSheet sheet;
    double left = (static_cast<double>(width) - width_sum * scale) / 2;
    for (size_t i = 0; i < text.size(); ++i) {
        const double middle = static_cast<double>(height) / 2 + strength * dice.between(-7, 7);
        font_->print(sheet, text[i], leans[i], scale, left, middle);
        left += (widths[i] + gap + strength * dice.between(-1.5, 1)) * scale;
    }
    if (strength > 0) {
        bend(sheet, dice);
        clutter(sheet, dice);
    }
    return developed(sheet, dice, strength);
}

}  // namespace doorbuster
