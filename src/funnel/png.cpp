#include "funnel/png.hpp"

#include <png.h>

#include "base/check.hpp"

namespace doorbuster {

namespace {

void append(png_structp png, png_bytep bytes, size_t size) {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(bytes), size);
}

// Writing to memory fails only by a bug here or by lack of memory.
[[noreturn]] void fail(png_structp, png_const_charp reason) {
    check_failed(reason, __FILE__, __LINE__);
}

void ignore(png_structp, png_const_charp) {}

}  // namespace

std::string png_of(const GreyImage& image) {
    CHECK(image.width > 0 && image.pixels.size() == image.width * image.height);
    std::string text;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, &fail, &ignore);
    CHECK(png != nullptr);
    png_infop info = png_create_info_struct(png);
    CHECK(info != nullptr);
    png_set_write_fn(png, &text, &append, nullptr);
    png_set_compression_level(png, 9);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 4,
                 PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    std::vector<uint8_t> row((image.width + 1) / 2);
    for (size_t y = 0; y < image.height; ++y) {
        row.assign(row.size(), 0);
        for (size_t x = 0; x < image.width; ++x) {
            const int grey = (image.pixels[y * image.width + x] * 15 + 127) / 255;
            row[x / 2] = static_cast<uint8_t>(row[x / 2] | grey << (x % 2 == 0 ? 4 : 0));
        }
        png_write_row(png, row.data());
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return text;
}

}  // namespace doorbuster
