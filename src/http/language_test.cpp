#include "http/language.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Language, FollowsTheClientsPreference) {
    using enum Language;
    const std::pair<const char*, Language> cases[] = {
        {"", en},
        {"en", en},
        {"fr, de;q=0.8", en},
        {"zh", zh_hans},
        {"zh-CN,zh;q=0.9,en;q=0.8", zh_hans},
        {"zh-SG", zh_hans},
        {"zh-Hans-HK", zh_hans},
        {"ZH-tw", zh_hant},
        {"zh-HK", zh_hant},
        {"zh-MO;q=0.5", zh_hant},
        {"zh-Hant-CN", zh_hant},
        {"en;q=0.4, zh-TW;q=0.5", zh_hant},
        {"en;q=0.5, zh-TW;q=0.5", en},
        {"en;q=0.123, zh;q=0.124", zh_hans},
        {"zh;q=0, en;q=0.1", en},
        {"fr, *;q=0.5", en},
        {"zhx", en},
        {"zh;q=2, en;q=0.1", en},
        {"zh;q=, zh;q=0.1234, zh;q=abc", en},
        {",,;;q=1,zh-TW ; Q=1.000", zh_hant},
    };
    for (const auto& [header, language] : cases) EXPECT_EQ(choose_language(header), language) << header;
}

}  // namespace
}  // namespace doorbuster
