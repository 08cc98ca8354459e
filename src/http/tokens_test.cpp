#include "http/tokens.hpp"

#include <gtest/gtest.h>

#include "http/check_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
namespace json = boost::json;

class TokensTest : public CheckFixture {
protected:
    static std::string pow_answer(const std::string& payload, const std::string& item = "phone") {
        return fmt::format(R"({{"item":"{}","answer":"{}"}})", item, payload);
    }
    static std::string image_answer(const json::object& made, const std::string& typed) {
        return fmt::format(R"({{"item":"phone","challenge":"{}","answer":"{}"}})",
                           std::string_view(made.at("id").as_string()), typed);
    }
    json::object picture() {
        listed.sale.human_check = HumanCheck::image;
        return body_of(challenge(""));
    }
};

TEST_F(TokensTest, ASolvedProofOfWorkGivesATokenThatOpens) {
    const json::object made = body_of(challenge(""));
    const json::object answer = body_of(token(pow_answer(solve(made))));
    EXPECT_EQ(answer.at("expires_at"), "2026-12-01T12:10:00Z");
    EXPECT_EQ(answer.at("expires_at_ms"), to_ms(t0 + 10min));
    const auto opened = item_tokens.open(std::string_view(answer.at("token").as_string()), alice, t0);
    ASSERT_TRUE(opened);
    EXPECT_EQ(*opened, purchase_of_check(std::string_view(made.at("id").as_string()),
                                         {listed.sale.id, listed.items[0].item.id, alice}));
}

TEST_F(TokensTest, AReadPictureGivesAToken) {
    EXPECT_EQ(body_of(token(image_answer(picture(), "ceh349"))).at("token").as_string().size(),
              ItemTokens::text_size);
}

TEST_F(TokensTest, WhereAPictureIsAskedTheProofOfWorkBesideItWillDo) {
    const json::object made = picture();
    EXPECT_TRUE(body_of(token(pow_answer(solve(made.at("pow").as_object())))).contains("token"));
}

TEST_F(TokensTest, TheChallengeOfAProofOfWorkMayBeNamedAndMustThenBeIts) {
    const json::object one = body_of(challenge("")), two = body_of(challenge(""));
    const auto named = [](const json::object& of, const std::string& payload) {
        return fmt::format(R"({{"item":"phone","challenge":"{}","answer":"{}"}})",
                           std::string_view(of.at("id").as_string()), payload);
    };
    EXPECT_EQ(code_of(token(named(two, solve(one)))), Code::check_failed);
    EXPECT_TRUE(body_of(token(named(two, solve(two)))).contains("token"));
}

TEST_F(TokensTest, ASolvedCheckCountsOnce) {
    const std::string answer = pow_answer(solve(body_of(challenge(""))));
    EXPECT_TRUE(body_of(token(answer)).contains("token"));
    EXPECT_EQ(code_of(token(answer)), Code::check_failed);
    const json::object made = picture();
    EXPECT_TRUE(body_of(token(image_answer(made, "CEH349"))).contains("token"));
    EXPECT_EQ(code_of(token(image_answer(made, "CEH349"))), Code::check_failed);
}

TEST_F(TokensTest, AWrongAnswerBurnsTheCheck) {
    const json::object made = body_of(challenge(""));
    EXPECT_EQ(code_of(token(pow_answer(solve(made, 1)))), Code::check_failed);
    EXPECT_EQ(code_of(token(pow_answer(solve(made)))), Code::check_failed);
    const json::object shown = picture();
    EXPECT_EQ(code_of(token(image_answer(shown, "CEH394"))), Code::check_failed);
    EXPECT_EQ(code_of(token(image_answer(shown, "CEH349"))), Code::check_failed);
}

TEST_F(TokensTest, WhatIsBurnedByAnAnswerIsToldRightOrWrongAndOnlyThen) {
    const auto burned_by = [&](std::string body) {
        text = std::move(body);
        request.body = text;
        return tokens.answer(token_ask()).burned;
    };
    const json::object one = body_of(challenge("")), two = body_of(challenge(""));
    const auto by_right = burned_by(pow_answer(solve(one)));
    ASSERT_TRUE(by_right);
    EXPECT_GT(by_right->expires_at, now);
    EXPECT_FALSE(burned_by(pow_answer(solve(one)))) << "it was before";
    const auto by_wrong = burned_by(pow_answer(solve(two, 1)));
    ASSERT_TRUE(by_wrong);
    EXPECT_NE(by_wrong->mark, by_right->mark);
    EXPECT_FALSE(burned_by(pow_answer("garbage")));
    const json::object shown = picture();
    EXPECT_FALSE(burned_by("{}"));
    EXPECT_TRUE(burned_by(image_answer(shown, "CEH394")));
}

TEST_F(TokensTest, AnotherBuyersCheckFailsAndIsNotBurnedByThat) {
    const json::object made = body_of(challenge(""));
    who.buyer = bob;
    EXPECT_EQ(code_of(token(pow_answer(solve(made)))), Code::check_failed);
    who.buyer = alice;
    EXPECT_TRUE(body_of(token(pow_answer(solve(made)))).contains("token"));
}

TEST_F(TokensTest, AnExpiredCheckFails) {
    const json::object made = body_of(challenge(""));
    now = t0 + 5min;
    EXPECT_EQ(code_of(token(pow_answer(solve(made)))), Code::check_failed);
}

TEST_F(TokensTest, ComingLateAndSendingTheRightAnswerAgainAreExcusedAndNothingElseIs) {
    const json::object made = body_of(challenge(""));
    const std::string right = pow_answer(solve(made));
    EXPECT_TRUE(body_of(token(right)).contains("token"));
    EXPECT_TRUE(is_excused(token(right)));
    EXPECT_FALSE(is_excused(token(pow_answer(solve(made, 1)))));
    const json::object shown = picture();
    EXPECT_FALSE(is_excused(token(image_answer(shown, "CEH394"))));
    EXPECT_TRUE(is_excused(token(image_answer(shown, "CEH349"))));
    EXPECT_FALSE(is_excused(token(image_answer(shown, "CEH394"))));

    now = t0 + 5min;
    EXPECT_TRUE(is_excused(token(right)));
    EXPECT_TRUE(is_excused(token(image_answer(shown, "CEH349"))));
    who.buyer = bob;  // late, and not his
    EXPECT_FALSE(is_excused(token(right)));
    EXPECT_FALSE(is_excused(token(image_answer(shown, "CEH349"))));
    EXPECT_FALSE(is_excused(token(pow_answer("garbage"))));
}

TEST_F(TokensTest, ASlipInTheItemBurnsNothing) {
    const std::string payload = solve(body_of(challenge("")));
    EXPECT_EQ(code_of(token(pow_answer(payload, "fone"))), Code::not_found);
    EXPECT_TRUE(body_of(token(pow_answer(payload))).contains("token"));
}

TEST_F(TokensTest, WhenNoMoreCanBeRememberedNobodyPasses) {
    Burned small(64);
    for (uint64_t i = 0; i < 64; ++i) {
        static_cast<void>(small.burn(i * 0x9e3779b97f4a7c15, t0 + 5min));
    }
    Tokens full(small);
    const std::string answer = pow_answer(solve(body_of(challenge(""))));
    request.body = answer;
    EXPECT_EQ(code_of(full.answer(token_ask()).reply), Code::overloaded);
}

TEST_F(TokensTest, ALostMemoryGivesTheSamePurchaseAgain) {
    const json::object made = body_of(challenge(""));
    const std::string answer = pow_answer(solve(made));
    const auto purchase_in = [&](const json::object& answered) {
        return *item_tokens.open(std::string_view(answered.at("token").as_string()), alice, now);
    };
    const PurchaseId first = purchase_in(body_of(token(answer)));
    Burned fresh(1024);
    Tokens after_restart(fresh);
    request.body = answer;
    now += 1s;
    EXPECT_EQ(purchase_in(body_of(after_restart.answer(token_ask()).reply)), first);
}

TEST_F(TokensTest, NoneIsToBeHadBeforeTheWarmUpAfterTheEndOrWhereNoCheckIsAsked) {
    const std::string answer = pow_answer(solve(body_of(challenge(""))));
    listed.state = SaleState::scheduled;
    EXPECT_EQ(code_of(token(answer)), Code::not_open);
    listed.state = SaleState::closed;
    EXPECT_EQ(code_of(token(answer)), Code::ended);
    listed.state = SaleState::open;
    who.check = CheckClaim::waive;
    EXPECT_EQ(code_of(token(answer)), Code::wrong_state);
}

TEST_F(TokensTest, AWrongBodyIsToldWithItsPointers) {
    EXPECT_EQ(code_of(token("")), Code::malformed);
    EXPECT_EQ(code_of(token(R"({"item":"a","item":"b","answer":"c"})")), Code::malformed);
    EXPECT_EQ(pointers_of(token("[]")), "");
    EXPECT_EQ(pointers_of(token("{}")), "/item /answer");
    EXPECT_EQ(pointers_of(token(R"({"item":7,"challenge":null,"answer":{},"price":1})")),
              "/price /item /challenge /answer");
    EXPECT_EQ(pointers_of(token(pow_answer(std::string(1025, 'A')))), "/answer");
    EXPECT_EQ(code_of(token(R"({"item":"phone","answer":""})")), Code::check_failed);
    EXPECT_EQ(code_of(token(R"({"item":"phone","challenge":"","answer":"x"})")), Code::check_failed);
    request.content_type = "text/plain";
    EXPECT_EQ(code_of(token("{}")), Code::unsupported_media);
}

}  // namespace
}  // namespace doorbuster
