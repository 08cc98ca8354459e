#include "http/problem.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <set>

namespace doorbuster {
namespace {

TEST(Problem, EveryCodeHasANameATitleInEachLanguageAndAnErrorStatus) {
    std::set<std::string_view> names;
    for (size_t i = 0; i < codes; ++i) {
        const Code code = static_cast<Code>(i);
        EXPECT_TRUE(names.insert(name_of(code)).second) << name_of(code);
        EXPECT_GE(status_of(code), 400);
        EXPECT_EQ(carries_retry_after(code), status_of(code) == 429 || status_of(code) == 503);
        for (size_t language = 0; language < languages; ++language) {
            EXPECT_FALSE(title_of(code, static_cast<Language>(language)).empty());
        }
    }
}

TEST(Problem, BodyIsJsonWhateverTheDetailSays) {
    const Problem problem{.code = Code::invalid,
                          .detail = "a \"quote\",\na line",
                          .faults = {{"/a~1b", "x\\y"}, {"", "z"}},
                          .purchase = "p"};
    const auto body = boost::json::parse(problem_body(problem, Language::zh_hant)).as_object();
    EXPECT_EQ(body.at("type").as_string(), "urn:doorbuster:problem:invalid");
    EXPECT_EQ(body.at("title").as_string(), "請求內容無效");
    EXPECT_EQ(body.at("status").as_int64(), 422);
    EXPECT_EQ(body.at("code").as_string(), "invalid");
    EXPECT_EQ(body.at("detail").as_string(), "a \"quote\",\na line");
    EXPECT_EQ(body.at("errors").as_array().size(), 2u);
    EXPECT_EQ(body.at("errors").at(0).at("pointer").as_string(), "/a~1b");
    EXPECT_EQ(body.at("purchase").as_string(), "p");
}

}  // namespace
}  // namespace doorbuster
