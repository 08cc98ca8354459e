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

TYPED_TEST_P(SettingsContract, WhoeverKnowsTheTextIsToldNothing) {
    Settings& settings = this->settings();
    EXPECT_EQ(*settings.get_unless("lists", sha256("")), std::nullopt);
    ASSERT_TRUE(settings.put("lists", "one").has_value());
    EXPECT_EQ(*settings.get_unless("lists", sha256("one")), std::nullopt);
    EXPECT_EQ(*settings.get_unless("lists", sha256("two")), "one");
    EXPECT_EQ(*settings.get_unless("Lists", sha256("two")), std::nullopt);
}

TYPED_TEST_P(SettingsContract, AChangeIsMadeToWhatIsThere) {
    const auto change = [&](const std::optional<Digest>& seen, std::optional<std::string> expected,
                            StoreResult<std::string> made) {
        return this->settings().change("lists", seen, [&](std::optional<std::string> other) {
            EXPECT_EQ(other, expected);
            return made;
        });
    };
    ASSERT_TRUE(change(std::nullopt, std::nullopt, std::string("one")).has_value());
    ASSERT_TRUE(change(std::nullopt, "one", std::string("two")).has_value());
    ASSERT_TRUE(change(sha256("two"), std::nullopt, std::string()).has_value());
    ASSERT_TRUE(change(sha256("two"), "", std::string("three")).has_value());
    const StoreError full{StoreErrc::not_allowed, "changing the lists", "full"};
    EXPECT_EQ(change(sha256("two"), "three", full).error().detail, "full");
    this->reopen();
    EXPECT_EQ(*this->settings().get("lists"), "three");
}

REGISTER_TYPED_TEST_SUITE_P(SettingsContract, WhatWasNeverPutIsNothing, TheLastTextCountsAlsoAfterARestart,
                            NamesDoNotDisturbEachOther, AnyTextIsKeptByteByByte,
                            WhoeverKnowsTheTextIsToldNothing, AChangeIsMadeToWhatIsThere);

}  // namespace doorbuster
