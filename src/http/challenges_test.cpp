#include "http/challenges.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "http/check_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
namespace json = boost::json;

class ChallengesTest : public CheckFixture {};

TEST_F(ChallengesTest, ASaleWithProofOfWorkHandsOneOut) {
    listed.sale.human_check = HumanCheck::pow;
    const json::object made = body_of(challenge(""));
    EXPECT_EQ(made.at("kind"), "pow");
    EXPECT_EQ(made.at("algorithm"), "SHA-256");
    EXPECT_EQ(made.at("maxnumber"), 500);
    EXPECT_EQ(made.at("id"), made.at("signature"));
    EXPECT_EQ(made.at("expires_at"), "2026-12-01T12:05:00Z");
    EXPECT_EQ(made.at("expires_at_ms"), to_ms(t0 + 5min));
    EXPECT_EQ(made.at("salt").as_string().back(), '&');
}

TEST_F(ChallengesTest, ASaleWithPicturesOffersProofOfWorkBeside) {
    listed.sale.human_check = HumanCheck::image;
    for (const char* body : {"", "{}", R"({"kind":"image"})"}) {
        const json::object made = body_of(challenge(body));
        EXPECT_EQ(made.at("kind"), "image");
        EXPECT_EQ(made.at("image"), "data:image/png;base64,AAAA");
        EXPECT_EQ(made.at("pow").at("kind"), "pow");
        EXPECT_EQ(made.at("pow").at("id"), made.at("pow").at("signature"));
    }
    EXPECT_EQ(body_of(challenge(R"({"kind":"pow"})")).at("kind"), "pow");
}

TEST_F(ChallengesTest, ReadingAlwaysGetsTheWidgetsForm) {
    listed.sale.human_check = HumanCheck::image;
    request.method = Method::get;
    EXPECT_EQ(body_of(challenge("")).at("kind"), "pow");
}

TEST_F(ChallengesTest, APictureIsNotToBeHadWhereNoneIsAsked) {
    listed.sale.human_check = HumanCheck::pow;
    EXPECT_EQ(pointers_of(challenge(R"({"kind":"image"})")), "/kind");
}

TEST_F(ChallengesTest, WhereNoCheckIsAskedThereIsNone) {
    listed.sale.human_check = HumanCheck::none;
    EXPECT_EQ(code_of(challenge("")), Code::wrong_state);
    // The shop's word for this buyer counts, either way.
    who.check = CheckClaim::pow;
    EXPECT_EQ(body_of(challenge("")).at("kind"), "pow");
    listed.sale.human_check = HumanCheck::image;
    who.check = CheckClaim::waive;
    EXPECT_EQ(code_of(challenge("")), Code::wrong_state);
}

TEST_F(ChallengesTest, NoneIsToBeHadBeforeTheWarmUpOrAfterTheEnd) {
    listed.state = SaleState::scheduled;
    EXPECT_EQ(code_of(challenge("")), Code::not_open);
    listed.state = SaleState::closed;
    EXPECT_EQ(code_of(challenge("")), Code::ended);
}

TEST_F(ChallengesTest, AWrongBodyIsToldWithItsPointer) {
    EXPECT_EQ(code_of(challenge("x")), Code::malformed);
    EXPECT_EQ(pointers_of(challenge("[]")), "");
    EXPECT_EQ(pointers_of(challenge(R"({"kind":"audio"})")), "/kind");
    EXPECT_EQ(pointers_of(challenge(R"({"kind":null})")), "/kind");
    EXPECT_EQ(pointers_of(challenge(R"({"a/b":1})")), "/a~1b");
    request.content_type = "text/plain";
    EXPECT_EQ(code_of(challenge("{}")), Code::unsupported_media);
}

TEST_F(ChallengesTest, TheSalesOwnDifficultyCountsAndRisesWithOverload) {
    listed.sale.pow_number_max = 7000;
    EXPECT_EQ(body_of(challenge("")).at("maxnumber"), 7000);
    overload_level = 2;
    EXPECT_EQ(body_of(challenge("")).at("maxnumber"), 28'000);
}

TEST_F(ChallengesTest, WhoAsksBeforeAnyPictureIsDrawnGetsProofOfWorkAndHasOneDrawn) {
    ImagePool empty(
        2, [](uint64_t) { return PooledImage{}; }, [] { return uint64_t{0}; });
    Challenges none(empty, &fill);
    listed.sale.human_check = HumanCheck::image;
    request.method = Method::post;
    EXPECT_EQ(body_of(none.make(challenge_ask())).at("kind"), "pow");
    while (empty.drawn_total() == 0) std::this_thread::yield();
    EXPECT_EQ(body_of(none.make(challenge_ask())).at("kind"), "image");
}

}  // namespace
}  // namespace doorbuster
