// The table's protocol, one atomic operation at a time: tasks run as coroutines that stop before
// every load and swap, and a seeded scheduler picks who goes on. So each seed is one exact
// interleaving, and rare races come up in thousands of short runs.
#include "funnel/key_table.hpp"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "funnel/limit_policy.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

class Random {
public:
    explicit Random(uint32_t seed) : engine_(seed) {}
    uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine_() % bound); }

private:
    std::mt19937 engine_;
};

class Scheduler {
public:
    explicit Scheduler(uint32_t seed) : random_(seed) {}

    // Runs all tasks to their end.
    void run(const std::vector<std::function<void()>>& tasks) {
        running_ = this;
        std::vector<Task> made(tasks.size());
        std::vector<Task*> ready;
        for (size_t i = 0; i < tasks.size(); ++i) {
            made[i].body = &tasks[i];
            prepare(made[i], i);
            ready.push_back(&made[i]);
        }
        size_t steps = 0;
        while (!ready.empty()) {
            CHECK(++steps < 1'000'000);  // a livelock
            const size_t chosen = random_.below(static_cast<uint32_t>(ready.size()));
            current_ = ready[chosen];
            // Long runs of one task let another be stopped for long.
            current_->steps_left = random_.below(4) == 0 ? random_.below(60) : random_.below(3);
            ::swapcontext(&home_, &current_->context);
            if (current_->is_done) ready.erase(ready.begin() + static_cast<ptrdiff_t>(chosen));
        }
        current_ = nullptr;
        running_ = nullptr;
    }

    // Called before every atomic operation.
    static void step() {
        if (running_ == nullptr) return;
        Task& task = *running_->current_;
        if (task.steps_left-- == 0) ::swapcontext(&task.context, &running_->home_);
    }

private:
    static constexpr size_t stack_bytes = 64 * 1024;
    struct Task {
        const std::function<void()>* body = nullptr;
        ucontext_t context;
        uint32_t steps_left = 0;
        bool is_done = false;
    };
    void prepare(Task& task, size_t number) {
        if (stacks_.size() <= number) stacks_.emplace_back(stack_bytes);
        ::getcontext(&task.context);
        task.context.uc_stack.ss_sp = stacks_[number].data();
        task.context.uc_stack.ss_size = stack_bytes;
        task.context.uc_link = &home_;
        ::makecontext(&task.context, &Scheduler::enter, 0);
    }
    static void enter() {
        (*running_->current_->body)();
        running_->current_->is_done = true;
    }

    static inline Scheduler* running_ = nullptr;
    static inline std::vector<std::vector<char>> stacks_;  // one per task of a run, used again by the next
    Random random_;
    ucontext_t home_;
    Task* current_ = nullptr;
};

class SteppedWord {
public:
    uint64_t load() const {
        Scheduler::step();
        return value_;
    }
    bool compare_exchange_strong(uint64_t& expected, uint64_t desired) {
        Scheduler::step();
        if (value_ != expected) {
            expected = value_;
            return false;
        }
        value_ = desired;
        return true;
    }
    bool compare_exchange_weak(uint64_t& expected, uint64_t desired) {
        return compare_exchange_strong(expected, desired);
    }

private:
    uint64_t value_ = 0;
};

using Table = KeyTable<RateRules, SteppedWord>;

// A key of the only set there is; tags that differ by a multiple of 4 share an overflow entry.
uint64_t key(uint32_t tag) {
    return tag;
}

Decision take(Table& table, uint32_t tag, const Rate& rate, Uptime now) {
    const uint64_t ticks = Rate::ticks(now);
    return table.at(key(tag), ticks, [&](auto cells) { return rate.take(cells, ticks); });
}

TEST(KeyTable, KeepsKeysApart) {
    Table table(RateRules{}, {8, 1});
    const Rate once({LimitPolicy::Kind::token_bucket, 1, 10s, 1});
    for (uint32_t tag = 1; tag <= 8; ++tag) EXPECT_TRUE(take(table, tag, once, 100s).passes);
    for (uint32_t tag = 1; tag <= 8; ++tag) EXPECT_FALSE(take(table, tag, once, 100s).passes);
    EXPECT_EQ(table.overflowed_total(), 0u);
}

TEST(KeyTable, WhenFullNewKeysShareAndNobodyIsPushedOut) {
    Table table(RateRules{}, {8, 1});
    const Rate once({LimitPolicy::Kind::token_bucket, 1, 10s, 1});
    for (uint32_t tag = 1; tag <= 8; ++tag) EXPECT_TRUE(take(table, tag, once, 100s).passes);
    uint32_t passes = 0;
    for (uint32_t tag = 9; tag < 10'000; ++tag) passes += take(table, tag, once, 100s).passes;
    EXPECT_EQ(passes, 4u);  // one per overflow entry
    EXPECT_EQ(table.overflowed_total(), 9'991u);
    for (uint32_t tag = 1; tag <= 8; ++tag) EXPECT_FALSE(take(table, tag, once, 105s).passes);
}

TEST(KeyTable, AKeyThatGetsASlotLaterHasNotForgottenWhatItDidInTheOverflow) {
    Table table(RateRules{}, {8, 2});
    const Rate twice({LimitPolicy::Kind::sliding_window, 2, 60s});
    const Rate briefly({LimitPolicy::Kind::token_bucket, 1, 1s, 1});
    for (uint32_t tag = 1; tag <= 8; ++tag) EXPECT_TRUE(take(table, tag, briefly, 100s).passes);
    EXPECT_TRUE(take(table, 9, twice, 100s).passes);
    EXPECT_TRUE(take(table, 9, twice, 101s).passes);
    EXPECT_EQ(table.overflowed_total(), 2u);
    EXPECT_FALSE(take(table, 9, twice, 110s).passes);  // the others are idle: it has a slot now
    EXPECT_EQ(table.overflowed_total(), 2u);
    EXPECT_TRUE(take(table, 9, twice, 160s).passes);
    EXPECT_FALSE(take(table, 9, twice, 160s).passes);
}

TEST(KeyTable, AThreadWhoseClockIsBehindFindsWhatItStillNeeds) {
    Table table(RateRules{}, {8, 1});
    const Rate once({LimitPolicy::Kind::token_bucket, 1, 10s, 1});
    EXPECT_TRUE(take(table, 1, once, 100s).passes);
    for (uint32_t tag = 2; tag < 20; ++tag) (void)take(table, tag, once, 110s + 900ms);
    EXPECT_FALSE(take(table, 1, once, 110s - 1us).passes);
}

struct Pass {
    uint32_t tag;
    Uptime at;
};

// No key may have more than `limit` passes in any window, by the clocks of those who passed.
::testing::AssertionResult hold(std::vector<Pass> passes, uint32_t limit, Uptime window) {
    std::map<uint32_t, std::vector<Uptime>> by_tag;
    for (const Pass& pass : passes) by_tag[pass.tag].push_back(pass.at);
    for (auto& [tag, times] : by_tag) {
        std::sort(times.begin(), times.end());
        for (size_t i = limit; i < times.size(); ++i) {
            if (times[i] - times[i - limit] < window) {
                return ::testing::AssertionFailure() << "key " << tag << " passed once too often";
            }
        }
    }
    return ::testing::AssertionSuccess();
}

struct Crowd {
    uint32_t tags, tasks, takes_per_task, rounds;
};

// Rounds of tasks that come at about the same time; between rounds time passes, so that slots fall
// idle and change hands.
std::vector<Pass> passes_of(const Crowd& crowd, uint32_t seed, uint64_t& overflowed) {
    Random random(seed);
    Scheduler scheduler(seed);
    Table table(RateRules{}, {8, 2});
    const Rate rate({LimitPolicy::Kind::sliding_window, 2, 2s});
    std::vector<Pass> passes;
    Uptime now = 100s;
    for (uint32_t round = 0; round < crowd.rounds; ++round) {
        std::vector<std::function<void()>> tasks;
        for (uint32_t i = 0; i < crowd.tasks; ++i) {
            const Uptime its_now = now - Uptime(random.below(900'000));  // clocks differ
            std::vector<uint32_t> tags;
            for (uint32_t n = 0; n < crowd.takes_per_task; ++n) tags.push_back(1 + random.below(crowd.tags));
            tasks.push_back([&, its_now, tags] {
                for (const uint32_t tag : tags) {
                    if (take(table, tag, rate, its_now).passes) passes.push_back({tag, its_now});
                }
            });
        }
        scheduler.run(tasks);
        now += Uptime(random.below(2) == 0 ? random.below(100'000) : random.below(4'000'000));
    }
    overflowed += table.overflowed_total();
    return passes;
}

// Under the thread sanitizer coroutines confuse the tool, and there is nothing for it to see.
#ifdef __SANITIZE_THREAD__
constexpr uint32_t seeds = 0;
#else
constexpr uint32_t seeds = 600;
#endif

// More keys than slots: claims, takeovers, overflow and inheriting, all at once.
TEST(KeyTable, NoInterleavingLoosensALimit) {
    uint64_t overflowed = 0;
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
        const auto passes =
            passes_of({.tags = 14, .tasks = 4, .takes_per_task = 4, .rounds = 25}, seed, overflowed);
        ASSERT_TRUE(hold(passes, 2, 2s)) << "seed " << seed;
    }
    EXPECT_EQ(overflowed > 0, seeds > 0);
}

// Two keys fight for the same slots: both new, both coming back just as the other takes over.
TEST(KeyTable, NoInterleavingOfAFewKeysLoosensALimit) {
    uint64_t overflowed = 0;
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
        const auto passes =
            passes_of({.tags = 9, .tasks = 5, .takes_per_task = 2, .rounds = 25}, seed, overflowed);
        ASSERT_TRUE(hold(passes, 2, 2s)) << "seed " << seed;
    }
}

// One key, many threads, a fresh table each time: exactly the limit passes.
TEST(KeyTable, HoweverManyThreadsBringANewKeyItGetsOneSlot) {
    const Rate rate({LimitPolicy::Kind::sliding_window, 2, 2s});
    for (uint32_t seed = 1; seed <= seeds; ++seed) {
        Table table(RateRules{}, {8, 2});
        Scheduler scheduler(seed);
        uint32_t passes = 0;
        std::vector<std::function<void()>> tasks;
        for (int i = 0; i < 4; ++i) {
            tasks.push_back([&] { passes += take(table, 7, rate, 100s).passes; });
        }
        scheduler.run(tasks);
        ASSERT_EQ(passes, 2u) << "seed " << seed;
    }
}

// Threads whose clocks differ see different slots idle, and claim them for the same key.
TEST(KeyTable, ClaimsOfOneKeyOnTwoSlotsEndInOne) {
    const Rate rate({LimitPolicy::Kind::sliding_window, 1, 2s});
    for (uint32_t seed = 1; seed <= 20 * seeds; ++seed) {
        Table table(RateRules{}, {8, 1});
        (void)take(table, 1, rate, 100s);  // idle from 103 s on
        (void)take(table, 2, rate, 99s);   // idle from 102 s on
        for (uint32_t tag = 3; tag <= 8; ++tag) (void)take(table, tag, rate, 102s);
        Scheduler scheduler(seed);
        uint32_t passes = 0;
        std::vector<std::function<void()>> tasks;
        for (const Uptime now : {103s + 200ms, 102s + 600ms, 103s + 100ms, 102s + 500ms}) {
            tasks.push_back([&, now] { passes += take(table, 20, rate, now).passes; });
        }
        scheduler.run(tasks);
        ASSERT_EQ(passes, 1u) << "seed " << seed;
    }
}

}  // namespace
}  // namespace doorbuster
