#include "base/percent.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Percent, AnyTextReadsBack) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    for (const std::string& text : {all, std::string(), std::string("2001:db8::/32"), std::string("a%41")}) {
        EXPECT_EQ(percent_decoded(percent_encoded(text)), text);
    }
    EXPECT_EQ(percent_encoded("a/b c"), "a%2Fb%20c");
}

TEST(Percent, ABrokenEncodingIsNothing) {
    for (const char* text : {"%", "a%", "%4", "%4g", "%%41", "% 1"})
        EXPECT_FALSE(percent_decoded(text)) << text;
    EXPECT_EQ(percent_decoded("%2f%2F"), "//");
}

}  // namespace
}  // namespace doorbuster
