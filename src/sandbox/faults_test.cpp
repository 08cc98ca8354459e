#include "sandbox/faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace doorbuster::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Faults, AreReadByTheirNames) {
    const auto some = FaultSet::parse("lost,forged");
    ASSERT_TRUE(some.has_value()) << some.error();
    EXPECT_TRUE(some->has(Fault::lost));
    EXPECT_FALSE(some->has(Fault::delayed));
    EXPECT_THAT(some->words(), ElementsAre("lost", "forged"));
    EXPECT_EQ(FaultSet::parse("all")->words().size(), faults_count);
    for (const std::string_view none : {"", "none", ","}) EXPECT_TRUE(FaultSet::parse(none)->words().empty());
}

TEST(Faults, EachNameIsItsOwn) {
    for (const std::string_view word : FaultSet::parse("all")->words()) {
        EXPECT_THAT(FaultSet::parse(word)->words(), ElementsAre(word));
    }
    EXPECT_TRUE(FaultSet::parse("captured_after_void")->has(Fault::captured_after_void));
    EXPECT_TRUE(FaultSet::parse("unreachable")->has(Fault::unreachable));
}

TEST(Faults, AWordThatIsNoneIsNamed) {
    for (const std::string_view list : {"lots", "lost,lots", "lost, forged", "LOST"}) {
        ASSERT_TRUE(FaultSet::parse(list).has_error()) << list;
        EXPECT_THAT(FaultSet::parse(list).error(), HasSubstr("captured_after_void"));
    }
    EXPECT_THAT(FaultSet::parse("lost,lots").error(), HasSubstr("'lots'"));
}

}  // namespace
}  // namespace doorbuster::sandbox
