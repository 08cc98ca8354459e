#include "base/parts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace doorbuster {
namespace {

TEST(Parts, NothingMovesFromOnePartToTheNext) {
    EXPECT_NE(Parts().text("ab").text("c").view(), Parts().text("a").text("bc").view());
    EXPECT_NE(Parts().text("").text("a").view(), Parts().text("a").text("").view());
    EXPECT_NE(Parts().number(1).number(0).view(), Parts().number(0).number(1).view());
}

TEST(Parts, ATextOfAnySizeIsThereWithItsLengthInFront) {
    std::string text;
    for (size_t size = 0; size <= 255; ++size) {
        const Parts parts = Parts().text("before").text(text).text("behind");
        EXPECT_EQ(parts.view(),
                  "\x06"
                  "before" +
                      std::string(1, static_cast<char>(size)) + text +
                      "\x06"
                      "behind");
        text += static_cast<char>(size);
    }
}

}  // namespace
}  // namespace doorbuster
