#include "config/reload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string key32 = "0123456789abcdef0123456789abcdef";

void set(Config& config, std::string_view option, const std::string& value) {
    ASSERT_EQ(config.find(option)->set(PlainText{value}, {Source::flag, "--set"}), std::nullopt);
}

class Reloading : public testing::Test {
protected:
    ReloadResult reload() { return reloader_.reload(); }

    Config fresh_;
    ReloadFaults faults_;
    std::vector<std::string> applied_;  // log levels
    Reloader reloader_{Config(),
                       [this]() -> Result<Config, ReloadFaults> {
                           if (!faults_.empty()) return faults_;
                           return fresh_;
                       },
                       [this](const Config& config) { applied_.push_back(config.log.level); }};
};

TEST_F(Reloading, ALiveOptionTakesEffect) {
    set(fresh_, "log.level", "warn");
    const auto changes = reload();
    ASSERT_TRUE(changes);
    EXPECT_THAT(changes->live, ElementsAre("log.level"));
    EXPECT_THAT(changes->needs_restart, IsEmpty());
    EXPECT_THAT(applied_, ElementsAre("warn"));
    EXPECT_EQ(reloader_.running().log.level.value(), "warn");
}

TEST_F(Reloading, AnyOtherKeepsItsValueAndIsNamedEachTime) {
    set(fresh_, "server.threads", "3");
    set(fresh_, "admin.key", key32);
    for (int i = 0; i < 2; ++i) {
        const auto changes = reload();
        ASSERT_TRUE(changes);
        EXPECT_THAT(changes->needs_restart, ElementsAre("server.threads", "admin.key"));
        EXPECT_THAT(changes->live, IsEmpty());
    }
    EXPECT_EQ(reloader_.running().server.threads, 0u);
    EXPECT_THAT(applied_, IsEmpty());
}

TEST_F(Reloading, OnlyWhatChangedIsNamed) {
    set(fresh_, "log.level", "info");  // given now, but the same
    const auto unchanged = reload();
    EXPECT_THAT(unchanged->live, IsEmpty());
    set(fresh_, "log.level", "warn");
    (void)reload();
    const auto repeated = reload();
    EXPECT_THAT(repeated->live, IsEmpty());
    EXPECT_THAT(applied_, ElementsAre("warn"));
}

TEST_F(Reloading, ALiveOptionMayGoBackToItsDefault) {
    set(fresh_, "log.level", "warn");
    (void)reload();
    fresh_ = Config();
    EXPECT_THAT(reload()->live, ElementsAre("log.level"));
    EXPECT_THAT(applied_, ElementsAre("warn", "info"));
}

TEST_F(Reloading, AFaultyConfigurationChangesNothingAndAllFaultsAreTold) {
    set(fresh_, "log.level", "warn");
    faults_ = {"a:1: wrong", "a:2: wrong, too"};
    const auto changes = reload();
    ASSERT_FALSE(changes);
    EXPECT_THAT(changes.error(), ElementsAre("a:1: wrong", "a:2: wrong, too"));
    EXPECT_THAT(applied_, IsEmpty());
    EXPECT_EQ(reloader_.running().log.level.value(), "info");
}

}  // namespace
}  // namespace doorbuster
