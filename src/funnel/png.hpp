// Grey pictures and their PNG form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace doorbuster {

struct GreyImage {
    size_t width = 0, height = 0;
    std::vector<uint8_t> pixels;  // row by row, 0 black to 255 white

    GreyImage(size_t columns, size_t rows) : width(columns), height(rows), pixels(columns * rows, 255) {}
};

// Sixteen greys: half the bytes of 256, and no eye needs more.
std::string png_of(const GreyImage&);

}  // namespace doorbuster
