#include "funnel/limit_policy.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using enum LimitPolicy::Kind;
using Cell = std::atomic<uint64_t>;

constexpr Uptime t0 = 1000s;

// One key's worth of a policy.
class Meter {
public:
    explicit Meter(const LimitPolicy& policy) : rate_(policy), room_(Rate::cells_of(policy)) {}
    // REQUIRES: it needs no more room.
    void set(const LimitPolicy& policy) { rate_ = Rate(policy); }
    Decision take(Uptime now) { return rate_.take(std::span<Cell>(cells_).first(room_), Rate::ticks(now)); }
    uint32_t passes_of(uint32_t tries, Uptime now) {
        uint32_t passes = 0;
        for (uint32_t i = 0; i < tries; ++i) passes += take(now).passes;
        return passes;
    }

private:
    Rate rate_;
    size_t room_;
    std::array<Cell, window_limit_max> cells_{};
};

TEST(TokenBucket, PassesItsBurstThenItsRate) {
    Meter meter({token_bucket, 100, 1s, 200});
    EXPECT_EQ(meter.passes_of(1000, t0), 200u);
    EXPECT_EQ(meter.take(t0).retry_after, 10ms);
    EXPECT_FALSE(meter.take(t0 + 10ms - 1us).passes);
    EXPECT_TRUE(meter.take(t0 + 10ms).passes);
    EXPECT_EQ(meter.passes_of(1000, t0 + 1010ms), 100u);
    EXPECT_EQ(meter.passes_of(1000, t0 + 1h), 200u);
}

TEST(TokenBucket, ARateThatIsNoWholeNumberOfTicksIsKeptTooStrictlyIfAnything) {
    Meter meter({token_bucket, 700'000'000, 1s, 5000});
    EXPECT_EQ(meter.passes_of(10'000, t0), 5000u);
    EXPECT_LE(meter.passes_of(10'000, t0 + 1us), 700u);
}

TEST(TokenBucket, SaysHowManyAreLeft) {
    Meter meter({token_bucket, 1, 1s, 3});
    EXPECT_EQ(meter.take(t0).remaining, 2u);
    EXPECT_EQ(meter.take(t0).remaining, 1u);
    EXPECT_EQ(meter.take(t0).remaining, 0u);
    EXPECT_EQ(meter.take(t0 + 2s).remaining, 1u);
}

TEST(SlidingWindow, ThreeInASecondPassesExactlyThreeOfTwentyAtItsEdgeToo) {
    Meter meter({sliding_window, 3, 1s});
    uint32_t passes = 0;
    for (int i = 0; i < 20; ++i) passes += meter.take(t0 + i * 49ms).passes;  // all within 931 ms
    EXPECT_EQ(passes, 3u);
    EXPECT_EQ(meter.take(t0 + 999ms).retry_after, 1ms);
    EXPECT_FALSE(meter.take(t0 + 1s - 1us).passes);
    EXPECT_EQ(meter.passes_of(20, t0 + 1s), 1u);  // the one of t0 has left the window, no other
    EXPECT_EQ(meter.passes_of(20, t0 + 1049ms), 1u);
}

TEST(SlidingWindow, SaysHowManyAreLeft) {
    Meter meter({sliding_window, 3, 1s});
    EXPECT_EQ(meter.take(t0).remaining, 2u);
    EXPECT_EQ(meter.take(t0 + 500ms).remaining, 1u);
    EXPECT_EQ(meter.take(t0 + 1s).remaining, 1u);
    EXPECT_EQ(meter.take(t0 + 1s).remaining, 0u);
}

TEST(LeakyBucket, SpacesPassesEvenlyAndSavesNothingUp) {
    Meter meter({leaky_bucket, 10, 1s});
    EXPECT_EQ(meter.passes_of(100, t0), 1u);
    EXPECT_EQ(meter.passes_of(100, t0 + 100ms - 1us), 0u);
    EXPECT_EQ(meter.passes_of(100, t0 + 100ms), 1u);
    EXPECT_EQ(meter.passes_of(100, t0 + 1h), 1u);
    EXPECT_EQ(meter.take(t0 + 1h + 30ms).retry_after, 70ms);
}

TEST(LimitPolicy, FaultsAreNamed) {
    EXPECT_EQ(fault_of({token_bucket, 100, 1s, 200}), "");
    EXPECT_EQ(fault_of({token_bucket, 0, 1s, 0}), "");
    EXPECT_EQ(fault_of({sliding_window, 64, 24h}), "");
    EXPECT_EQ(fault_of({token_bucket, 1, 24h, 1}), "");
    EXPECT_NE(fault_of({sliding_window, 65, 1s}), "");
    EXPECT_NE(fault_of({token_bucket, 1, 1s, 0}), "");
    EXPECT_NE(fault_of({token_bucket, 1, 0s, 1}), "");
    EXPECT_NE(fault_of({token_bucket, 1, 25h, 1}), "");
    EXPECT_NE(fault_of({token_bucket, 1, 1500ms, 1}), "");
    EXPECT_NE(fault_of({token_bucket, 2'000'000'000, 1s, 1}), "");
    EXPECT_NE(fault_of({token_bucket, 1, 1h, 4'000'000'000}), "");
}

LimitPolicy some_policy(LimitPolicy::Kind kind) {
    const auto limit = *rc::gen::inRange<uint32_t>(1, kind == sliding_window ? 12 : 5000);
    return {kind, limit, *rc::gen::inRange(1, 4) * 1s, *rc::gen::inRange<uint32_t>(1, 20)};
}

// Moments of several threads: forward on the whole, with steps back.
std::vector<Uptime> some_moments(Uptime step_max) {
    std::vector<Uptime> moments;
    Uptime now = t0;
    for (int i = *rc::gen::inRange(1, 200); i > 0; --i) {
        const auto step = *rc::gen::inRange<int64_t>(0, step_max.count() + 1);
        now += Uptime(*rc::gen::inRange(0, 3) == 0 ? step : 0);
        const bool is_late = *rc::gen::inRange(0, 8) == 0;
        moments.push_back(is_late ? now - Uptime(step / 2) : now);
    }
    return moments;
}

RC_GTEST_PROP(TokenBucket, AgreesWithABucketOfTokens, ()) {
    const LimitPolicy policy = some_policy(token_bucket);
    Meter meter(policy);
    std::vector<Uptime> moments = some_moments(policy.window / 2);
    std::sort(moments.begin(), moments.end());
    // In fractions of a token: 1 / window_us. The product may be late by its rounding, a tick per pass.
    const int64_t token = policy.window.count(), full = policy.burst * token;
    const int64_t slack =
        static_cast<int64_t>(policy.limit) * (1 + static_cast<int64_t>(moments.size()) / 1000);
    int64_t tokens = full;
    Uptime last = moments.front();
    for (const Uptime now : moments) {
        tokens = std::min(full, tokens + (now - last).count() * policy.limit);
        last = now;
        const bool passes = meter.take(now).passes;
        if (passes) RC_ASSERT(tokens >= token);
        if (!passes) RC_ASSERT(tokens < token + slack);
        if (passes) tokens -= token;
    }
}

RC_GTEST_PROP(TokenBucket, NeverPassesMoreThanBurstAndRateWhateverTheClocksDo, ()) {
    const LimitPolicy policy = some_policy(token_bucket);
    Meter meter(policy);
    std::vector<Uptime> passed;
    for (const Uptime now : some_moments(policy.window / 2)) {
        if (meter.take(now).passes) passed.push_back(now);
    }
    std::sort(passed.begin(), passed.end());
    for (size_t from = 0; from < passed.size(); ++from) {
        for (size_t to = from; to < passed.size(); ++to) {
            const auto time_us = (passed[to] - passed[from]).count();
            const auto allowed = policy.burst + time_us * policy.limit / policy.window.count();
            RC_ASSERT(static_cast<int64_t>(to - from + 1) <= allowed);
        }
    }
}

RC_GTEST_PROP(SlidingWindow, AgreesWithAListOfWhoPassedWhen, ()) {
    const LimitPolicy policy = some_policy(sliding_window);
    Meter meter(policy);
    std::vector<Uptime> moments = some_moments(policy.window / 2);
    std::sort(moments.begin(), moments.end());
    std::vector<Uptime> passed;
    for (const Uptime now : moments) {
        const auto in_window =
            std::count_if(passed.begin(), passed.end(), [&](Uptime at) { return at > now - policy.window; });
        const Decision decision = meter.take(now);
        RC_ASSERT(decision.passes == (in_window < policy.limit));
        if (decision.passes) {
            RC_ASSERT(decision.remaining == policy.limit - in_window - 1);
            passed.push_back(now);
        } else {
            RC_ASSERT(decision.retry_after == passed[passed.size() - policy.limit] + policy.window - now);
        }
    }
}

RC_GTEST_PROP(SlidingWindow, NoWindowHoldsMoreThanTheLimitWhateverTheClocksDo, ()) {
    const LimitPolicy policy = some_policy(sliding_window);
    Meter meter(policy);
    std::vector<Uptime> passed;
    for (const Uptime now : some_moments(policy.window / 2)) {
        if (meter.take(now).passes) passed.push_back(now);
    }
    std::sort(passed.begin(), passed.end());
    for (size_t i = policy.limit; i < passed.size(); ++i) {
        RC_ASSERT(passed[i] - passed[i - policy.limit] >= policy.window);
    }
}

RC_GTEST_PROP(LeakyBucket, TurnsLieAnIntervalApart, ()) {
    const LimitPolicy policy = some_policy(leaky_bucket);
    Meter meter(policy);
    std::vector<Uptime> turns;
    for (const Uptime now : some_moments(policy.window / 2)) {
        if (meter.take(now).passes) turns.push_back(now);
    }
    for (size_t i = 1; i < turns.size(); ++i) {
        RC_ASSERT(turns[i] - turns[i - 1] >= policy.window / policy.limit - 1us);
    }
}

RC_GTEST_PROP(Rate, WhoeverComesBackWhenToldPasses, ()) {
    const LimitPolicy policy = some_policy(*rc::gen::element(token_bucket, sliding_window, leaky_bucket));
    Meter meter(policy);
    for (Uptime now : some_moments(policy.window / 4)) {
        const Decision decision = meter.take(now);
        if (!decision.passes) RC_ASSERT(decision.retry_after > Uptime{});
        if (!decision.passes) RC_ASSERT(meter.take(now + decision.retry_after).passes);
    }
}

uint32_t passes_of_four_threads(Meter& meter, Uptime now) {
    std::atomic<uint32_t> passes{0};
    std::atomic<int> waiting{4};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                waiting.fetch_sub(1);
                while (waiting.load() > 0) std::this_thread::yield();
                passes += meter.passes_of(2000, now);
            });
        }
    }
    return passes;
}

TEST(Rate, FourThreadsAtOneInstantPassExactlyWhatOneWould) {
    for (int round = 0; round < 20; ++round) {
        Meter window({sliding_window, 64, 1s}), bucket({token_bucket, 100, 1s, 200}),
            leaky({leaky_bucket, 10, 1s});
        EXPECT_EQ(passes_of_four_threads(window, t0), 64u);
        EXPECT_EQ(passes_of_four_threads(bucket, t0), 200u);
        EXPECT_EQ(passes_of_four_threads(leaky, t0), 1u);
        EXPECT_EQ(passes_of_four_threads(window, t0 + 1s), 64u);
        EXPECT_EQ(passes_of_four_threads(bucket, t0 + 500ms), 50u);
    }
}

TEST(Rate, FourThreadsPassExactlyWhatAStricterWindowLeaves) {
    for (int round = 0; round < 200; ++round) {
        Meter meter({sliding_window, 10, 60s});
        EXPECT_EQ(meter.passes_of(8, t0), 8u);
        EXPECT_EQ(meter.passes_of(2, t0 + 30s), 2u);  // in the last cells
        meter.set({sliding_window, 5, 60s});
        EXPECT_EQ(passes_of_four_threads(meter, t0 + 59s), 0u);
        EXPECT_EQ(passes_of_four_threads(meter, t0 + 60s), 3u);
        EXPECT_EQ(passes_of_four_threads(meter, t0 + 90s), 2u);
        EXPECT_EQ(passes_of_four_threads(meter, t0 + 120s), 3u);
    }
}

}  // namespace
}  // namespace doorbuster
