// Strikes that several processes tell each other over a real Redis.
#include "store_cluster/redis_strikes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "store_cluster/redis_funnel_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

std::vector<std::pair<BuyerId, Strike>> who_and_why(const std::vector<ToldStrike>& strikes) {
    std::vector<std::pair<BuyerId, Strike>> all;
    for (const ToldStrike& one : strikes) all.emplace_back(one.buyer, one.kind);
    return all;
}

int64_t redis_now_ms(RedisSession& redis) {
    const auto time = ask(redis, {"TIME"});
    return std::stoll(time->element[0]->str) * 1000 + std::stoll(time->element[1]->str) / 1000;
}

TEST(RedisStrikes, OneThatIsGivenHereIsHeardThereAndNotHere) {
    RedisServer server;
    SharingGate one(server, "one"), two(server, "two");
    one.funnel.strikes().tell(alice, Strike::abandoned_hold);
    EXPECT_EQ(who_and_why(two.heard(1)), (std::vector{std::pair(alice, Strike::abandoned_hold)}));
    two.funnel.strikes().tell(bob, Strike::failed_check);
    // Behind this one, one has read its own as well.
    EXPECT_EQ(who_and_why(one.heard(1)), (std::vector{std::pair(bob, Strike::failed_check)}));
    EXPECT_EQ(one.funnel.figures().strikes_heard, 1u);
    EXPECT_EQ(two.heard(1).size(), 1u);
}

TEST(RedisStrikes, WhoComesLateHearsWhatIsNotForgottenAndHowOldItIs) {
    RedisServer server;
    RedisSession redis = server.connect();
    const int64_t now_ms = redis_now_ms(redis);
    const auto tell_at = [&](int64_t at_ms, const BuyerId& buyer, milliseconds age) {
        RedisCall call = tell_strike_call({"gone", buyer, Strike::refused_token, age});
        for (std::string& word : call) {
            if (word == "*") word = std::to_string(at_ms) + "-0";
        }
        ASSERT_FALSE(error_in(*ask(redis, call)));
    };
    tell_at(now_ms - 3'600'000, bob, 0ms);
    tell_at(now_ms - 60'000, alice, 0ms);
    tell_at(now_ms - 30'000, carol, 5'000ms);
    SharingGate late(server, "late", {.remembered_max = 20min});
    const auto heard = late.heard(2);
    ASSERT_EQ(who_and_why(heard), (std::vector{std::pair(alice, Strike::refused_token),
                                               std::pair(carol, Strike::refused_token)}));
    EXPECT_GE(heard[0].age, 60s);
    EXPECT_LT(heard[0].age, 20min);
    EXPECT_GE(heard[1].age, 35s);
}

TEST(RedisStrikes, MoreThanOneReadBringsAllComeThrough) {
    RedisServer server;
    RedisSession redis = server.connect();
    const size_t strikes = 2 * strikes_per_read_max + 7;
    for (size_t i = 0; i < strikes; ++i)
        (void)ask(redis, tell_strike_call({"gone", alice, Strike::failed_check, 0ms}));
    SharingGate late(server, "late");
    EXPECT_EQ(late.heard(strikes).size(), strikes);
}

TEST(RedisStrikes, WhatIsGivenWhileRedisIsAwayIsToldWhenItIsBack) {
    RedisServer server;
    SharingGate one(server, "one"), two(server, "two");
    one.connect();
    two.connect();
    server.stop(SIGKILL);
    one.notice_gone();
    one.funnel.strikes().tell(alice, Strike::failed_check);
    server.start();
    EXPECT_EQ(who_and_why(two.heard(1)), (std::vector{std::pair(alice, Strike::failed_check)}));
}

TEST(RedisStrikes, NoMoreThanTheBoundWait) {
    RedisServer server;
    SharingGate one(server, "one");
    one.connect();
    server.stop(SIGKILL);
    one.notice_gone();
    // One more may have been taken from those that wait, to be the next.
    constexpr size_t beyond = 10;
    for (size_t i = 0; i < RedisStrikes::waiting_max + 1 + beyond; ++i)
        one.funnel.strikes().tell(alice, Strike::failed_check);
    EXPECT_GE(one.funnel.figures().strikes_lost, beyond);
    EXPECT_LE(one.funnel.figures().strikes_lost, beyond + 1);
}

TEST(RedisStrikes, WhatIsNoStrikeIsPassedOver) {
    RedisServer server;
    RedisSession redis = server.connect();
    const RedisCall good = tell_strike_call({"gone", alice, Strike::failed_check, 0ms});
    const auto value_of = [&](const char* name) {
        return static_cast<size_t>(std::find(good.begin(), good.end(), name) - good.begin()) + 1;
    };
    for (const auto& [at, text] :
         std::vector<std::pair<size_t, std::string>>{{value_of("kind"), "4"},
                                                     {value_of("kind"), "-1"},
                                                     {value_of("kind"), "none"},
                                                     {value_of("age_ms"), "-5"},
                                                     {value_of("buyer"), ""},
                                                     {value_of("buyer") - 1, "by"}}) {
        RedisCall bad = good;
        bad[at] = text;
        ASSERT_FALSE(error_in(*ask(redis, bad)));
    }
    ASSERT_FALSE(error_in(*ask(redis, good)));
    SharingGate gate(server, "one");
    EXPECT_EQ(gate.heard(1).size(), 1u);
    EXPECT_EQ(gate.funnel.figures().strikes_heard, 1u);
}

TEST(RedisStrikes, NoMoreThanTheBoundIsKept) {
    RedisServer server;
    RedisSession redis = server.connect();
    const RedisCall call = tell_strike_call({"gone", alice, Strike::failed_check, 0ms});
    (void)ask(redis, {"EVAL", "for i = 1, 70000 do redis.call(unpack(ARGV)) end return 1", "0", call[0],
                      call[1], call[2], call[3], call[4], call[5], call[6], call[7], call[8], call[9],
                      call[10], call[11], call[12], call[13]});
    const auto length = ask(redis, {"XLEN", call[1]});
    EXPECT_GE(length->integer, static_cast<long long>(strikes_kept_max));
    EXPECT_LT(length->integer, static_cast<long long>(strikes_kept_max) + 200);
}

}  // namespace
}  // namespace doorbuster
