#include "funnel/image_draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "funnel/image_text.hpp"

namespace doorbuster {
namespace {

// The share of the picture that is dark.
double ink_of(const GreyImage& image) {
    const auto dark =
        std::count_if(image.pixels.begin(), image.pixels.end(), [](uint8_t grey) { return grey < 128; });
    return static_cast<double>(dark) / static_cast<double>(image.pixels.size());
}

TEST(ImageDrawer, TheSameSeedDrawsTheSamePicture) {
    ImageDrawer one, two;
    EXPECT_EQ(one.draw("CEH349", 7).pixels, two.draw("CEH349", 7).pixels);
    EXPECT_NE(one.draw("CEH349", 7).pixels, one.draw("CEH349", 8).pixels);
    EXPECT_NE(one.draw("CEH349", 7).pixels, one.draw("CEH394", 7).pixels);
}

TEST(ImageDrawer, EveryCharacterFitsTheSheet) {
    ImageDrawer drawer;
    for (const char c : image_alphabet) {
        const GreyImage image = drawer.draw(std::string(image_characters, c), 1, Distortion::none);
        const size_t right = image.width - 1;
        for (size_t y = 0; y < image.height; ++y) {
            EXPECT_GT(image.pixels[y * image.width], 128) << c;
            EXPECT_GT(image.pixels[y * image.width + right], 128) << c;
        }
        for (size_t x = 0; x < image.width; ++x) {
            EXPECT_GT(image.pixels[x], 128) << c;
            EXPECT_GT(image.pixels[(image.height - 1) * image.width + x], 128) << c;
        }
        EXPECT_GT(ink_of(image), 0.1) << c;
        EXPECT_LT(ink_of(image), 0.4) << c;
    }
}

TEST(ImageDrawer, DistortionLeavesTheInkOfTheText) {
    ImageDrawer drawer;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        const GreyImage image = drawer.draw("CEH349", seed);
        EXPECT_GT(ink_of(image), 0.1) << seed;
        EXPECT_LT(ink_of(image), 0.5) << seed;
    }
}

TEST(ImageDrawer, PicturesAreSmall) {
    ImageDrawer drawer;
    for (uint64_t seed = 0; seed < 50; ++seed) EXPECT_LT(png_of(drawer.draw("KXNRE3", seed)).size(), 6000u);
}

}  // namespace
}  // namespace doorbuster
