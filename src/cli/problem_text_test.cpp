#include "cli/problem_text.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(ProblemText, TellsTitleCodeDetailAndEveryFault) {
    EXPECT_EQ(
        problem_text(422, R"({"title":"Not valid","status":422,"code":"invalid","detail":"mend it",
                                    "errors":[{"pointer":"/title","detail":"must not be empty"},
                                              {"pointer":"","detail":"must be an object"}]})"),
        "Not valid (422 invalid): mend it\n  /title: must not be empty\n  (the whole): must be an object");
}

TEST(ProblemText, AnAnswerThatIsNoProblemStillHasItsStatus) {
    EXPECT_EQ(problem_text(502, "<html>"), "the server answered 502 without saying why");
    EXPECT_EQ(problem_text(500, "{}"), "the server refused (500)");
    EXPECT_EQ(problem_text(422, R"({"title":"Not valid","errors":[1,{"pointer":2}]})"),
              "Not valid (422)\n  (the whole): ");
}

TEST(ProblemText, EscapesWhatCouldForgeALine) {
    EXPECT_EQ(problem_text(409, R"({"title":"a\nb"})"), "a\\x0ab (409)");
}

}  // namespace
}  // namespace doorbuster
