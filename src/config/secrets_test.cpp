#include "config/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace doorbuster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string key32 = "0123456789abcdef0123456789abcdef";

Config config_with(const std::string& key, const std::string& secret) {
    ConfigSources sources{.file = std::nullopt, .files_looked_for = {}, .environment = {}, .flags = {}};
    sources.environment = {{"DOORBUSTER_ADMIN__KEY", key}, {"DOORBUSTER_IDENTITY__HMAC_SECRET", secret}};
    return *load_config(sources);
}

TEST(Secrets, ThirtyTwoBytesAreEnough) {
    EXPECT_TRUE(secrets_check(config_with(key32, key32)).empty());
}

TEST(Secrets, AMissingOneIsReportedWithLinesToPaste) {
    const auto faults = secrets_check(Config{});
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_THAT(faults[0],
                AllOf(HasSubstr("admin.key is missing"), HasSubstr("export DOORBUSTER_ADMIN__KEY='"),
                      HasSubstr("in [admin]:  key = \"")));
    EXPECT_THAT(faults[1], HasSubstr("export DOORBUSTER_IDENTITY__HMAC_SECRET='"));
}

TEST(Secrets, AShortOneIsReportedButNotShown) {
    const auto faults = secrets_check(config_with("tooshort", key32));
    EXPECT_THAT(faults, testing::ElementsAre(AllOf(HasSubstr("too short: 8 bytes"),
                                                   HasSubstr("DOORBUSTER_ADMIN__KEY"),
                                                   testing::Not(HasSubstr("tooshort")))));
}

TEST(Secrets, TheProposedOneIsGoodAndNeverTheSame) {
    const auto proposed = [] {
        const std::string fault = secret_fault(Config{}.admin.key);
        const size_t from = fault.find('\'') + 1;
        return fault.substr(from, fault.find('\'', from) - from);
    };
    const std::string first = proposed();
    EXPECT_TRUE(secrets_check(config_with(first, proposed())).empty());
    EXPECT_NE(first, proposed());
}

TEST(Secrets, APrintedOneIsStars) {
    const Config config = config_with(key32, "");
    EXPECT_EQ(config.admin.key.value_text(), "***");
    EXPECT_EQ(config.identity.hmac_secret.value_text(), "(not set)");
}

}  // namespace
}  // namespace doorbuster
