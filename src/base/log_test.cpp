#include "base/log.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Log, WritesASentenceThenFacts) {
    EXPECT_EQ(format_log_line("sale opened", {{"sale", "phone-drop"}, {"units", 1000}}),
              "sale opened  sale=phone-drop units=1000");
}

TEST(Log, AForeignValueCannotForgeALine) {
    EXPECT_EQ(format_log_line("refused", {{"buyer", "eve\n2026 warn sold=1\x1b[31m\"q\""}}),
              "refused  buyer=\"eve\\x0a2026 warn sold=1\\x1b[31m\\\"q\\\"\"");
    EXPECT_EQ(format_log_line("refused", {{"buyer", "eve\xc2\x9b[2J\xe2\x80\xa8"}}),
              R"(refused  buyer="eve\xc2\x9b[2J\xe2\x80\xa8")");
    EXPECT_EQ(format_log_line("refused", {{"buyer", ""}}), "refused  buyer=\"\"");
}

}  // namespace
}  // namespace doorbuster
