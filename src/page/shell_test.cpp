#include "page/shell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace doorbuster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Shell shell({.html = R"(<html lang="{{lang}}"><title>{{title}}</title><meta content="{{summary}}">)"
                           R"(<style>{{style}}</style><script type="application/json">{{data}}</script>)"
                           R"(<script>{{script}}</script></html>)",
                   .style = "p{color:red}",
                   .script = "run()"});

TEST(Shell, FillsEveryPlace) {
    EXPECT_EQ(shell.fill({.language = "zh-Hans", .title = "T", .summary = "S", .data = R"({"a":1})"}),
              R"(<html lang="zh-Hans"><title>T</title><meta content="S"><style>p{color:red}</style>)"
              R"(<script type="application/json">{"a":1}</script><script>run()</script></html>)");
}

TEST(Shell, NothingFromOutsideEndsItsElement) {
    const std::string page = shell.fill({.title = R"(</title><script>x()</script>)",
                                         .summary = R"("><script>y()</script>)",
                                         .data = R"({"a":"</script><script>z()<!--"})"});
    EXPECT_THAT(page, Not(HasSubstr("<script>x")));
    EXPECT_THAT(page, Not(HasSubstr("<script>y")));
    EXPECT_THAT(page, Not(HasSubstr("<script>z")));
    EXPECT_THAT(page, HasSubstr(R"({"a":"\u003c/script>\u003cscript>z()\u003c!--"})"));
}

TEST(Shell, APlaceholderInATextStaysAText) {
    EXPECT_THAT(shell.fill({.title = "{{script}} {{data}}"}),
                HasSubstr("<title>{{script}} {{data}}</title>"));
}

TEST(Shell, ABodyIsMarkupAndItsBracesAreText) {
    const Shell frame({.html = "<body>{{body}}</body>", .style = {}, .script = {}});
    EXPECT_EQ(frame.fill({.body = "<p>{{data}}</p>"}), "<body><p>{{data}}</p></body>");
}

TEST(Shell, APartTakesThePlaceOfItsName) {
    EXPECT_EQ(with_part("<body>{{body}}</body>", "body", "<p>{{data}}</p>"), "<body><p>{{data}}</p></body>");
}

TEST(Shell, ThePolicyNamesWhatIsInlinedAndNothingElse) {
    // printf 'run()' | openssl dgst -sha256 -binary | base64
    const std::string policy = shell.policy("");
    EXPECT_THAT(
        policy,
        HasSubstr("default-src 'none'; script-src 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='; "
                  "style-src 'sha256-p0bF+un5yUb9MBO6xRb8kPHlY2BdpHVtLiFkDrZPF64='"));
    EXPECT_THAT(policy, HasSubstr("connect-src 'self';"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
}

TEST(Shell, ThePolicyLetsAPageReachItsServer) {
    EXPECT_THAT(shell.policy("https://api.example"), HasSubstr("connect-src 'self' https://api.example;"));
}

TEST(Shell, WithoutAScriptNoneIsAllowed) {
    const Shell plain({.html = "<style>{{style}}</style>", .style = "p{}", .script = {}});
    EXPECT_THAT(plain.policy(""), HasSubstr("script-src 'none';"));
}

}  // namespace
}  // namespace doorbuster
