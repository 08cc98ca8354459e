#include "http/encoding.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Encoding, WhatABrowserTakesBecomesTheSmallest) {
    EXPECT_EQ(choose_encoding("gzip, deflate, br, zstd", true), Encoding::brotli);
    EXPECT_EQ(choose_encoding("gzip, deflate", true), Encoding::gzip);
    EXPECT_EQ(choose_encoding("GZIP", true), Encoding::gzip);
}

TEST(Encoding, WithoutAWishItIsPlain) {
    EXPECT_EQ(choose_encoding("", true), Encoding::plain);
    EXPECT_EQ(choose_encoding("identity", true), Encoding::plain);
    EXPECT_EQ(choose_encoding("deflate, zstd", true), Encoding::plain);
}

TEST(Encoding, AWeightOfZeroRefuses) {
    EXPECT_EQ(choose_encoding("br;q=0, gzip", true), Encoding::gzip);
    EXPECT_EQ(choose_encoding("br;q=0, gzip;q=0.0", true), Encoding::plain);
    EXPECT_EQ(choose_encoding("*;q=0", true), Encoding::plain);
    EXPECT_EQ(choose_encoding("gzip;q=0, *", true), Encoding::brotli);
    EXPECT_EQ(choose_encoding("identity;q=0", true), Encoding::plain);
}

TEST(Encoding, TheHighestWeightWins) {
    EXPECT_EQ(choose_encoding("br;q=0.5, gzip;q=0.8", true), Encoding::gzip);
    EXPECT_EQ(choose_encoding("br;q=0.5, gzip;q=0.8, identity", true), Encoding::plain);
    EXPECT_EQ(choose_encoding("br;q=0.8, gzip;q=0.8", true), Encoding::brotli);
    EXPECT_EQ(choose_encoding("br;q=x, gzip;q=0.1", true), Encoding::gzip);
}

TEST(Encoding, BrotliIsNotPromisedBeforeItIsThere) {
    EXPECT_EQ(choose_encoding("br, gzip", false), Encoding::gzip);
    EXPECT_EQ(choose_encoding("br", false), Encoding::plain);
    EXPECT_EQ(choose_encoding("*", false), Encoding::gzip);
}

}  // namespace
}  // namespace doorbuster
