// doorbuster-image-sheet: pictures of the human check, for readers of flesh and of code.
//
//   doorbuster-image-sheet pictures FOLDER COUNT SEED full|none
//       FOLDER/0.png … and FOLDER/answers.txt, one answer per line
//   doorbuster-image-sheet contact FOLDER SEED
//       FOLDER/contact.png, twenty pictures in four columns, and FOLDER/contact.txt, their answers
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "funnel/dice.hpp"
#include "funnel/image_draw.hpp"
#include "funnel/image_text.hpp"
#include "funnel/png.hpp"

namespace doorbuster {
namespace {

std::optional<uint64_t> number_of(std::string_view text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

void write(const std::filesystem::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

void write_pictures(const std::filesystem::path& folder, uint64_t count, uint64_t seed,
                    Distortion distortion) {
    ImageDrawer drawer;
    Dice dice(seed);
    std::string answers;
    for (uint64_t i = 0; i < count; ++i) {
        const std::string text = random_image_text(dice);
        write(folder / (std::to_string(i) + ".png"), png_of(drawer.draw(text, dice.next(), distortion)));
        answers += text + '\n';
    }
    write(folder / "answers.txt", answers);
}

void write_contact_sheet(const std::filesystem::path& folder, uint64_t seed) {
    constexpr size_t columns = 4, rows = 5, margin = 10;
    ImageDrawer drawer;
    Dice dice(seed);
    GreyImage sheet(columns * (ImageDrawer::width + margin) + margin,
                    rows * (ImageDrawer::height + margin) + margin);
    std::string answers;
    for (size_t i = 0; i < columns * rows; ++i) {
        const std::string text = random_image_text(dice);
        const GreyImage image = drawer.draw(text, dice.next());
        const size_t left = margin + (i % columns) * (ImageDrawer::width + margin);
        const size_t top = margin + (i / columns) * (ImageDrawer::height + margin);
        for (size_t y = 0; y < image.height; ++y) {
            std::copy_n(image.pixels.data() + y * image.width, image.width,
                        sheet.pixels.data() + (top + y) * sheet.width + left);
        }
        answers += text + (i % columns == columns - 1 ? '\n' : ' ');
    }
    write(folder / "contact.png", png_of(sheet));
    write(folder / "contact.txt", answers);
}

int usage() {
    std::fputs(
        "usage: doorbuster-image-sheet pictures FOLDER COUNT SEED full|none\n"
        "       doorbuster-image-sheet contact FOLDER SEED\n",
        stderr);
    return 2;
}

int run(const std::vector<std::string_view>& arguments) {
    if (arguments.size() < 3) return usage();
    const std::filesystem::path folder(arguments[1]);
    std::filesystem::create_directories(folder);
    if (arguments[0] == "contact" && arguments.size() == 3) {
        const auto seed = number_of(arguments[2]);
        if (!seed) return usage();
        write_contact_sheet(folder, *seed);
        return 0;
    }
    if (arguments[0] == "pictures" && arguments.size() == 5) {
        const auto count = number_of(arguments[2]), seed = number_of(arguments[3]);
        const bool full = arguments[4] == "full";
        if (!count || !seed || (!full && arguments[4] != "none")) return usage();
        write_pictures(folder, *count, *seed, full ? Distortion::full : Distortion::none);
        return 0;
    }
    return usage();
}

}  // namespace
}  // namespace doorbuster

int main(int count, char** values) {
    return doorbuster::run({values + 1, values + count});
}
