// Marks that count once among several processes, over a real Redis that stalls, fills up and dies.
#include "store_cluster/redis_funnel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "store_cluster/redis_funnel_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(RedisMarks, OfManyWhoSetOneAtOnceOneIsFirst) {
    RedisServer server;
    SharingGate one(server, "one"), two(server, "two");
    one.connect();
    two.connect();
    const size_t before_one = one.outcomes(0).size(), before_two = two.outcomes(0).size();
    constexpr size_t marks = 200, tries = 2;
    const auto set_all = [](SharingGate& gate) {
        for (uint64_t mark = 0; mark < marks; ++mark) {
            for (size_t i = 0; i < tries; ++i) EXPECT_TRUE(gate.ask(mark));
        }
    };
    std::thread other([&] { set_all(two); });
    set_all(one);
    other.join();
    const auto count = [](const std::vector<MarkOutcome>& all, size_t before, MarkOutcome what) {
        return std::count(all.begin() + static_cast<ptrdiff_t>(before), all.end(), what);
    };
    const auto of_one = one.outcomes(before_one + marks * tries),
               of_two = two.outcomes(before_two + marks * tries);
    EXPECT_EQ(count(of_one, before_one, MarkOutcome::first) + count(of_two, before_two, MarkOutcome::first),
              marks);
    EXPECT_EQ(count(of_one, before_one, MarkOutcome::again) + count(of_two, before_two, MarkOutcome::again),
              marks * (2 * tries - 1));
}

TEST(RedisMarks, OneGoesWithItsLife) {
    RedisServer server;
    SharingGate gate(server, "one");
    gate.connect();
    ASSERT_EQ(gate.set(7, 300'000ms), MarkOutcome::first);
    RedisSession redis = server.connect();
    const auto left = ask(redis, {"PTTL", "burned:0000000000000007"});
    EXPECT_GT(left->integer, 0);
    EXPECT_LE(left->integer, 300'000);
    ASSERT_EQ(gate.set(8, 1ms), MarkOutcome::first);
    for (const Patience patience; ask(redis, {"EXISTS", "burned:0000000000000008"})->integer != 0;)
        patience.check("a mark outlives its life");
}

TEST(RedisMarks, ARedisThatIsGoneIsUnknownAndIsFoundAgain) {
    RedisServer server;
    SharingGate gate(server, "one");
    gate.connect();
    server.freeze();  // so that the call is still under way
    const size_t before = gate.outcomes(0).size();
    ASSERT_TRUE(gate.ask(1));
    server.stop(SIGKILL);
    EXPECT_EQ(gate.outcomes(before + 1).back(), MarkOutcome::unknown);
    EXPECT_EQ(gate.set(2), MarkOutcome::unknown);
    EXPECT_GE(gate.funnel.figures().marks_unknown, 2u);
    server.start();
    gate.connect();
    EXPECT_EQ(gate.set(2), MarkOutcome::first);
}

TEST(RedisMarks, ARedisThatIsLateIsUnknown) {
    RedisServer server;
    SharingGate patient(server, "one"), impatient(server, "two", {.call_max = 50ms});
    patient.connect();
    impatient.connect();
    server.freeze();
    EXPECT_EQ(impatient.set(1), MarkOutcome::unknown);
    server.thaw();
    EXPECT_NE(patient.set(1), MarkOutcome::unknown);
}

TEST(RedisMarks, AFullRedisIsUnknown) {
    RedisServer server;
    SharingGate gate(server, "one");
    gate.connect();
    RedisSession redis = server.connect();
    (void)ask(redis, {"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(gate.set(1), MarkOutcome::unknown);
}

TEST(RedisMarks, BeyondTheBoundThereIsNoRoomAndAStopAnswersAll) {
    RedisServer server;
    SharingGate gate(server, "one", {.in_hand_max = 3});
    gate.connect();
    server.freeze();
    const size_t before = gate.outcomes(0).size();
    for (uint64_t mark = 1; mark <= 3; ++mark) ASSERT_TRUE(gate.ask(mark));
    EXPECT_FALSE(gate.ask(4));
    std::thread killer([&] { server.stop(SIGKILL); });
    gate.funnel.stop();
    killer.join();
    const auto all = gate.outcomes(before + 3);
    EXPECT_EQ(all.size(), before + 3);
    EXPECT_EQ(std::count(all.end() - 3, all.end(), MarkOutcome::unknown), 3);
    EXPECT_FALSE(gate.ask(5));
}

}  // namespace
}  // namespace doorbuster
