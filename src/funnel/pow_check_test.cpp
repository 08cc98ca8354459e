#include "funnel/pow_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

const SaleId sale("phone-drop"), other_sale("shoe-drop");
const CheckScope scope{.sale = sale, .buyer = alice};

struct Answer {
    std::string algorithm = "SHA-256", challenge, number, salt, signature, more;

    std::string payload() const {
        return base64(
            fmt::format(R"({{"algorithm":"{}","challenge":"{}","number":{},"salt":"{}","signature":"{}"{}}})",
                        algorithm, challenge, number, salt, signature, more));
    }
};

class PowCheck : public ::testing::Test {
protected:
    PowChecks::Challenge make(uint64_t number = 1234, uint32_t number_max = 50'000) const {
        return checks.make(scope, {.nonce = {1, 2, 3, 0xff}, .number = number}, number_max, t0);
    }
    static Answer answer_to(const PowChecks::Challenge& made, uint64_t number) {
        return {.challenge = std::string(made.challenge.data(), 64),
                .number = std::to_string(number),
                .salt = std::string(made.salt()),
                .signature = std::string(made.id()),
                .more = {}};
    }
    bool passes(const Answer& answer) const {
        const auto read = checks.read(answer.payload(), scope, t0);
        return read && read->is_right;
    }

    const PowChecks checks{{.current = std::string(32, 's')}};
};

TEST_F(PowCheck, IsWhatTheWidgetSolves) {
    const auto made = make();
    // As the widget does it: all numbers, until the hash fits.
    uint64_t number = 0;
    while (hex_of(sha256(std::string(made.salt()) + std::to_string(number))) != made.challenge) ++number;
    EXPECT_EQ(number, 1234u);
    EXPECT_TRUE(passes(answer_to(made, number)));
    EXPECT_EQ(made.salt(),
              fmt::format("010203ff0000000000000000?expires={}&max=50000&key={}&", to_ms(t0 + 5min) / 1000,
                          made.salt().substr(made.salt().size() - 5, 4)));
}

TEST_F(PowCheck, FieldsOfTheWidgetsOwnDoNoHarm) {
    Answer answer = answer_to(make(), 1234);
    answer.more = R"(,"took":17,"test":true,"workers":{"count":4})";
    EXPECT_TRUE(passes(answer));
}

TEST_F(PowCheck, AWrongNumberIsOursAndWrong) {
    // So that it burns: a signature that is good and an answer that is not.
    for (const char* number : {"1235", "0", "-1234", "1234.0", "12340e-1", "\"1234\"", "null", "50001",
                               "9223372036854775807", "18446744073709551615", "[1234]"}) {
        Answer answer = answer_to(make(), 0);
        answer.number = number;
        const auto read = checks.read(answer.payload(), scope, t0);
        ASSERT_TRUE(read) << number;
        EXPECT_FALSE(read->is_right) << number;
    }
}

TEST_F(PowCheck, TheNumberIsWithinTheRangeThatWasTold) {
    // Range 0 to 2: a seed beyond it still gives a number that the widget finds.
    const auto made = make(5, 2);
    EXPECT_TRUE(passes(answer_to(made, 2)));
}

TEST_F(PowCheck, AnotherBuyersOrSalesIsForeign) {
    const Answer answer = answer_to(make(), 1234);
    EXPECT_EQ(checks.read(answer.payload(), {.sale = sale, .buyer = bob}, t0).error(), CheckFault::foreign);
    EXPECT_EQ(checks.read(answer.payload(), {.sale = other_sale, .buyer = alice}, t0).error(),
              CheckFault::foreign);
}

TEST_F(PowCheck, EndsAtItsExpiry) {
    const auto made = make();
    const Answer answer = answer_to(made, 1234);
    EXPECT_EQ(made.expires_at, t0 + 5min);
    EXPECT_TRUE(checks.read(answer.payload(), scope, t0 + 5min - 1ms));
    EXPECT_EQ(checks.read(answer.payload(), scope, t0 + 5min).error(), CheckFault::expired);
}

TEST_F(PowCheck, DigitsDoNotMoveBetweenSaltAndNumber) {
    // The classic splice: "…&" 1234 told as "…&1" 234, or as a number with the salt's end.
    const auto made = make();
    Answer answer = answer_to(made, 234);
    answer.salt += "1";
    EXPECT_FALSE(checks.read(answer.payload(), scope, t0));
    answer = answer_to(made, 1234);
    answer.salt.pop_back();
    EXPECT_FALSE(checks.read(answer.payload(), scope, t0));
    EXPECT_EQ(made.salt().back(), '&');
}

TEST_F(PowCheck, FieldsOfTwoChecksDoNotMix) {
    const auto one = make();
    const auto two = checks.make(scope, {.nonce = {9}, .number = 4321}, 100'000, t0);
    const Answer good = answer_to(one, 1234), other = answer_to(two, 4321);
    ASSERT_TRUE(passes(good) && passes(other));
    Answer mixed = good;
    mixed.salt = other.salt;
    EXPECT_FALSE(checks.read(mixed.payload(), scope, t0));
    mixed = good;
    mixed.challenge = other.challenge;
    EXPECT_FALSE(checks.read(mixed.payload(), scope, t0));
    mixed = good;
    mixed.signature = other.signature;
    EXPECT_FALSE(checks.read(mixed.payload(), scope, t0));
    // A longer life, or a smaller range, of one's own making.
    mixed = good;
    mixed.salt.replace(mixed.salt.find("max=50000"), 9, "max=99999");
    EXPECT_FALSE(checks.read(mixed.payload(), scope, t0));
}

TEST_F(PowCheck, HasOneIdHoweverItIsWritten) {
    Answer answer = answer_to(make(), 1234);
    EXPECT_EQ(checks.read(answer.payload(), scope, t0)->id(), answer.signature);
    for (char& c : answer.signature) c = c >= 'a' ? static_cast<char>(c - 32) : c;
    EXPECT_FALSE(checks.read(answer.payload(), scope, t0));
}

TEST_F(PowCheck, WhatIsNoAnswerIsMalformed) {
    Answer answer = answer_to(make(), 1234);
    answer.algorithm = "SHA-1";
    std::string doubled = answer_to(make(), 1234).payload();
    for (const std::string& payload :
         {std::string(), std::string("x"), std::string("===="), base64("{}"), base64("[]"),
          base64("{\"number\":1}"), std::string(1028, 'A'), base64(std::string(700, '[')), answer.payload(),
          doubled + "AAAA", base64(R"({"algorithm":"SHA-256","algorithm":"SHA-256"})")}) {
        const auto read = checks.read(payload, scope, t0);
        ASSERT_FALSE(read) << payload;
        EXPECT_EQ(read.error(), CheckFault::malformed) << payload;
    }
}

TEST_F(PowCheck, SurvivesOneRotationOfTheSecret) {
    const Answer answer = answer_to(make(), 1234);
    const PowChecks during({.current = std::string(32, 't'), .previous = std::string(32, 's')});
    const PowChecks after({.current = std::string(32, 't')});
    EXPECT_TRUE(during.read(answer.payload(), scope, t0));
    EXPECT_FALSE(after.read(answer.payload(), scope, t0));
}

}  // namespace
}  // namespace doorbuster
