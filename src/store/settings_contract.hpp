// What all settings must do. An adapter's test instantiates it with a Fixture that has
//   Settings& settings();
//   void reopen();  // closes and opens again, as a restart does
#pragma once

#include <gtest/gtest.h>

#include "store/settings.hpp"

namespace doorbuster {

template <class Fixture>
class SettingsContract : public ::testing::Test, public Fixture {};

TYPED_TEST_SUITE_P(SettingsContract);

TYPED_TEST_P(SettingsContract, WhatWasNeverPutIsNothing) {
    const auto found = this->settings().get("level");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, std::nullopt);
}

TYPED_TEST_P(SettingsContract, TheLastTextCountsAlsoAfterARestart) {
    ASSERT_TRUE(this->settings().put("level", "closed").has_value());
    ASSERT_TRUE(this->settings().put("level", "auto").has_value());
    EXPECT_EQ(*this->settings().get("level"), "auto");
    this->reopen();
    EXPECT_EQ(*this->settings().get("level"), "auto");
}

TYPED_TEST_P(SettingsContract, NamesDoNotDisturbEachOther) {
    ASSERT_TRUE(this->settings().put("one", "1").has_value());
    ASSERT_TRUE(this->settings().put("two", "2").has_value());
    EXPECT_EQ(*this->settings().get("one"), "1");
    EXPECT_EQ(*this->settings().get("One"), std::nullopt);
}

TYPED_TEST_P(SettingsContract, AnyTextIsKeptByteByByte) {
    const std::string text = std::string("a\0\n'\"\xff", 6) + std::string(1 << 20, 'x');
    for (const std::string& kept : {text, std::string()}) {
        ASSERT_TRUE(this->settings().put("lists", kept).has_value());
        this->reopen();
        EXPECT_EQ(*this->settings().get("lists"), kept);
    }
}

REGISTER_TYPED_TEST_SUITE_P(SettingsContract, WhatWasNeverPutIsNothing, TheLastTextCountsAlsoAfterARestart,
                            NamesDoNotDisturbEachOther, AnyTextIsKeptByteByByte);

}  // namespace doorbuster
