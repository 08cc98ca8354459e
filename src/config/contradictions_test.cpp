#include "config/contradictions.hpp"

#include <gmock/gmock.h>

namespace doorbuster {
namespace {

void set(Config& config, const char* name, const char* value) {
    AnyOption* option = config.find(name);
    ASSERT_NE(option, nullptr) << name;
    ASSERT_EQ(option->set(PlainText{value}, {}), std::nullopt) << name;
}

TEST(Contradictions, TheDefaultsHaveNone) {
    EXPECT_TRUE(contradictions_in(Config()).empty());
}

TEST(Contradictions, AnExactWindowOfManyIsRefusedAndToldWhatToDo) {
    Config config;
    set(config, "limits.address_policy", "sliding_window");
    const auto faults = contradictions_in(config);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults.front(), testing::HasSubstr("limits.address_per_second is 100"));
    EXPECT_THAT(faults.front(), testing::HasSubstr("token_bucket"));
    set(config, "limits.address_per_second", "64");
    EXPECT_TRUE(contradictions_in(config).empty());
}

TEST(Contradictions, ABurstThatTakesLongerThanADayToRefillIsRefused) {
    for (const auto& [limit, burst, least] :
         {std::tuple("limits.address_per_second", "limits.address_burst", "12"),
          std::tuple("limits.buyer_per_minute", "limits.buyer_burst", "695"),
          std::tuple("limits.global_per_second", "limits.global_burst", "12")}) {
        Config config;
        set(config, "limits.buyer_policy", "token_bucket");
        set(config, limit, "1");
        set(config, burst, "1000000");
        ASSERT_EQ(contradictions_in(config).size(), 1u) << limit;
        EXPECT_THAT(contradictions_in(config).front(), testing::StartsWith(burst));
        set(config, limit, least);
        EXPECT_TRUE(contradictions_in(config).empty()) << limit;
        set(config, limit, "0");
        EXPECT_TRUE(contradictions_in(config).empty()) << "no limit, no burst";
    }
}

TEST(Contradictions, BarredBeforeSlowedIsRefused) {
    Config config;
    set(config, "risk.strikes_bar", "4");
    ASSERT_EQ(contradictions_in(config).size(), 1u);
    EXPECT_THAT(contradictions_in(config).front(), testing::HasSubstr("risk.strikes_bar"));
}

TEST(Contradictions, AWebhookWithoutASecretIsRefusedAndToldHowToMakeOne) {
    Config config;
    set(config, "webhooks.url", "https://shop.example/hooks");
    const auto faults = contradictions_in(config);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults.front(), testing::HasSubstr("doorbuster webhooks secret"));
    EXPECT_THAT(faults.front(), testing::HasSubstr("DOORBUSTER_WEBHOOKS__SECRETS='whsec_"));
    set(config, "webhooks.secrets", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    EXPECT_TRUE(contradictions_in(config).empty());
}

}  // namespace
}  // namespace doorbuster
