#include "page/compress.hpp"

#include <brotli/encode.h>
#include <zlib.h>
#include <zopfli/zopfli.h>

#include <cstdlib>
#include <memory>

#include "base/check.hpp"

namespace doorbuster {

std::string gzipped(std::string_view text) {
    constexpr int gzip_window = 15 + 16;  // zlib's way of asking for gzip's frame
    // Less memory is smaller blocks, each with codes of its own: style, script and three languages are
    // a hundredth smaller so than with the most.
    constexpr int memory_level = 5;
    z_stream stream{};
    CHECK(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                       Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib only reads it
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string small_gzipped(std::string_view text) {
    ZopfliOptions options;
    ZopfliInitOptions(&options);
    options.numiterations = 3;  // its 15 take twice as long, for a few bytes
    unsigned char* bytes = nullptr;
    size_t size = 0;
    ZopfliCompress(&options, ZOPFLI_FORMAT_GZIP, reinterpret_cast<const unsigned char*>(text.data()),
                   text.size(), &bytes, &size);
    const std::unique_ptr<unsigned char, decltype(&std::free)> owned(bytes, &std::free);
    return std::string(reinterpret_cast<const char*>(bytes), size);
}

std::string brotlied(std::string_view text) {
    std::string out(BrotliEncoderMaxCompressedSize(text.size()), '\0');
    size_t size = out.size();
    CHECK(BrotliEncoderCompress(BROTLI_MAX_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, text.size(),
                                reinterpret_cast<const uint8_t*>(text.data()), &size,
                                reinterpret_cast<uint8_t*>(out.data())) == BROTLI_TRUE);
    out.resize(size);
    return out;
}

}  // namespace doorbuster
