#include "sandbox/money_text.hpp"

#include <gtest/gtest.h>

namespace doorbuster::sandbox {
namespace {

using enum Language;

TEST(MoneyText, HasTheSignThatTheLanguageHas) {
    EXPECT_EQ(money_text(999900, "TWD", en), "NT$9,999");
    EXPECT_EQ(money_text(999900, "TWD", zh_hant), "$9,999");
    EXPECT_EQ(money_text(1999, "CNY", zh_hans), "¥19.99");
    EXPECT_EQ(money_text(1999, "CNY", en), "CN¥19.99");
}

TEST(MoneyText, HasAsManyDecimalsAsTheCurrency) {
    EXPECT_EQ(money_text(5, "EUR", en), "€0.05");
    EXPECT_EQ(money_text(1999, "JPY", en), "¥1,999");
    EXPECT_EQ(money_text(1999, "KWD", en),
              "KWD\u00a0"
              "1.999");
    EXPECT_EQ(money_text(1'234'567'890, "USD", en), "$12,345,678.90");
}

}  // namespace
}  // namespace doorbuster::sandbox
