#include "page/compress.hpp"

#include <brotli/decode.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace doorbuster {
namespace {

std::string text() {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "one line of many, number " + std::to_string(i * 7919) + "\n";
    return text;
}

std::string unzipped(const std::string& packed) {
    std::string back(text().size() + 1, '\0');
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(back.data());
    stream.avail_out = static_cast<uInt>(back.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    back.resize(stream.total_out);
    inflateEnd(&stream);
    return back;
}

TEST(Compress, GzipGivesTheTextBack) {
    EXPECT_EQ(unzipped(gzipped(text())), text());
    EXPECT_LT(gzipped(text()).size(), text().size() / 2);
}

TEST(Compress, SmallGzipGivesTheTextBackAndIsSmaller) {
    EXPECT_EQ(unzipped(small_gzipped(text())), text());
    EXPECT_LT(small_gzipped(text()).size(), gzipped(text()).size());
}

TEST(Compress, BrotliGivesTheTextBack) {
    const std::string packed = brotlied(text());
    std::string back(text().size() + 1, '\0');
    size_t size = back.size();
    EXPECT_EQ(BrotliDecoderDecompress(packed.size(), reinterpret_cast<const uint8_t*>(packed.data()), &size,
                                      reinterpret_cast<uint8_t*>(back.data())),
              BROTLI_DECODER_RESULT_SUCCESS);
    back.resize(size);
    EXPECT_EQ(back, text());
    EXPECT_LT(packed.size(), gzipped(text()).size());
}

TEST(Compress, TheSameTextBecomesTheSameBytes) {
    EXPECT_EQ(gzipped(text()), gzipped(text()));
    EXPECT_EQ(small_gzipped(text()), small_gzipped(text()));
    EXPECT_EQ(brotlied(text()), brotlied(text()));
}

TEST(Compress, NothingIsNoTrouble) {
    EXPECT_FALSE(gzipped("").empty());
    EXPECT_EQ(unzipped(small_gzipped("")), "");
    EXPECT_FALSE(brotlied("").empty());
}

}  // namespace
}  // namespace doorbuster
