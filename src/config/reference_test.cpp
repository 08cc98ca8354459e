#include "config/reference.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/text_file.hpp"
#include "config/toml_file.hpp"

namespace doorbuster {
namespace {

TEST(Reference, TheFileInTheTreeIsWhatTheDeclarationsSay) {
    const auto file = read_text_file(DOORBUSTER_CONF_FILE, 1 << 20);
    ASSERT_TRUE(file);
    EXPECT_EQ(*file, reference_toml())
        << "renew it: doorbuster config print --reference > conf/doorbuster.toml";
}

TEST(Reference, ItIsAConfigurationThatSaysTheDefaults) {
    const auto config =
        load_config({.file = DOORBUSTER_CONF_FILE, .files_looked_for = {}, .environment = {}, .flags = {}});
    ASSERT_TRUE(config);
    for (const AnyOption* option : config->options()) {
        if (option->is_secret()) continue;
        EXPECT_EQ(option->value_text(), option->default_text()) << option->name();
        EXPECT_EQ(option->origin().source, Source::file) << option->name() << " is not in the file";
    }
}

TEST(Reference, EveryOptionHasATradeOffAndAnEnvironmentName) {
    const std::string text = reference_toml();
    const Config config;
    for (const AnyOption* option : config.options()) {
        EXPECT_GT(option->text().size(), 20u) << option->name();
        EXPECT_NE(text.find("# " + option->environment_name()), std::string::npos) << option->name();
    }
}

TEST(TomlQuoted, NoTextEndsItsOwnQuotes) {
    EXPECT_EQ(toml_quoted("a\"b\\c\n\x7f"), "\"a\\\"b\\\\c\\u000a\\u007f\"");
}

}  // namespace
}  // namespace doorbuster
