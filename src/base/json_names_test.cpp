#include "base/json_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace doorbuster {
namespace {

using Name = JsonNames::Name;

class JsonNamesTest : public ::testing::Test {
protected:
    Name name(std::string_view text) {
        names_.add(text);
        return names_.end();
    }
    JsonNames names_;
};

TEST_F(JsonNamesTest, AnObjectHasANameOnceHoweverItCameInParts) {
    ASSERT_TRUE(names_.enter_object());
    EXPECT_EQ(name("item"), Name::fresh);
    EXPECT_EQ(name(""), Name::fresh);
    names_.add("i");
    names_.add("tem");
    EXPECT_EQ(names_.end(), Name::twice);
    EXPECT_EQ(name(""), Name::twice);
}

TEST_F(JsonNamesTest, ObjectsHaveTheirOwnNames) {
    ASSERT_TRUE(names_.enter_object());
    EXPECT_EQ(name("a"), Name::fresh);
    ASSERT_TRUE(names_.enter_list());
    for (int i = 0; i < 2; ++i) {  // siblings in a list
        ASSERT_TRUE(names_.enter_object());
        EXPECT_EQ(name("a"), Name::fresh);
        EXPECT_EQ(name("a"), Name::twice);
        names_.leave();
    }
    names_.leave();
    EXPECT_EQ(name("a"), Name::twice) << "back in the first";
}

TEST_F(JsonNamesTest, HasBounds) {
    ASSERT_TRUE(names_.enter_object());
    for (size_t i = 0; i < JsonNames::names_max; ++i) EXPECT_EQ(name(std::to_string(i)), Name::fresh);
    EXPECT_EQ(name("one more"), Name::too_many);
    EXPECT_EQ(name("0"), Name::twice);
    for (size_t i = 1; i < JsonNames::depth_max; ++i) ASSERT_TRUE(names_.enter_list());
    EXPECT_FALSE(names_.enter_object());
    EXPECT_EQ(names_.depth(), JsonNames::depth_max);
}

}  // namespace
}  // namespace doorbuster
