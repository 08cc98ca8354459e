#include "funnel/image_check.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

const SaleId sale("phone-drop"), other_sale("shoe-drop");
const CheckScope scope{.sale = sale, .buyer = alice};

class ImageCheck : public ::testing::Test {
protected:
    std::string make(uint8_t nonce = 1) const { return checks.make("CEH349", scope, {nonce}, t0).id; }

    const ImageChecks checks{{.current = std::string(32, 's')}};
};

TEST_F(ImageCheck, IsPassedByItsTextInAnyCase) {
    for (const char* typed : {"CEH349", "ceh349", "cEh349", " CEH 349 "}) {
        const auto read = checks.read(make(), typed, scope, t0);
        ASSERT_TRUE(read) << typed;
        EXPECT_TRUE(read->is_right) << typed;
    }
    EXPECT_EQ(make().size(), ImageChecks::id_size);
}

TEST_F(ImageCheck, AWrongAnswerIsOursAndWrong) {
    for (const std::string& typed :
         {std::string(), std::string("CEH34"), std::string("CEH344"), std::string("CEH3497"),
          std::string(5000, 'A'), std::string("CEH349\0", 7)}) {
        const auto read = checks.read(make(), typed, scope, t0);
        ASSERT_TRUE(read) << typed;
        EXPECT_FALSE(read->is_right) << typed;
    }
}

TEST_F(ImageCheck, AnotherBuyersOrSalesIsForeign) {
    EXPECT_EQ(checks.read(make(), "CEH349", {.sale = sale, .buyer = bob}, t0).error(), CheckFault::foreign);
    EXPECT_EQ(checks.read(make(), "CEH349", {.sale = other_sale, .buyer = alice}, t0).error(),
              CheckFault::foreign);
}

TEST_F(ImageCheck, EndsAtItsExpiry) {
    EXPECT_TRUE(checks.read(make(), "CEH349", scope, t0 + 5min - 1ms));
    EXPECT_EQ(checks.read(make(), "CEH349", scope, t0 + 5min).error(), CheckFault::expired);
}

TEST_F(ImageCheck, EveryChangedCharacterIsNoticed) {
    const std::string id = make();
    for (size_t i = 0; i < id.size(); ++i) {
        std::string other = id;
        other[i] = other[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(checks.read(other, "CEH349", scope, t0)) << i;
    }
    EXPECT_EQ(checks.read(std::string(5000, 'A'), "CEH349", scope, t0).error(), CheckFault::malformed);
    EXPECT_EQ(checks.read("", "CEH349", scope, t0).error(), CheckFault::malformed);
}

TEST_F(ImageCheck, TheSamePictureTwiceIsTwoChecks) {
    EXPECT_NE(make(1), make(2));
    EXPECT_NE(checks.read(make(1), "CEH349", scope, t0)->mark,
              checks.read(make(2), "CEH349", scope, t0)->mark);
}

TEST_F(ImageCheck, TheIdTellsNothingThatTwoChecksOfOneTextShare) {
    // Byte 27 on is the answer's mac: character 36 on.
    EXPECT_NE(make(1).substr(36, 21), make(2).substr(36, 21));
}

TEST_F(ImageCheck, SurvivesOneRotationOfTheSecret) {
    const ImageChecks during({.current = std::string(32, 't'), .previous = std::string(32, 's')});
    const auto read = during.read(make(), "ceh349", scope, t0);
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->is_right);
    EXPECT_FALSE(ImageChecks({.current = std::string(32, 't')}).read(make(), "ceh349", scope, t0));
}

TEST(ImageAlphabet, HoldsNoCharacterThatLooksLikeAnother) {
    for (const char c : std::string_view("0OQD1ILJ72ZA5S6G8BVFMW"))
        EXPECT_EQ(image_alphabet.find(c), std::string_view::npos) << c;
}

}  // namespace
}  // namespace doorbuster
