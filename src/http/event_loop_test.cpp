#include "http/event_loop.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"

namespace doorbuster {
namespace {

using Readiness = EventLoop::Readiness;
using std::chrono::steady_clock;

struct Pair {
    Pair() {
        int numbers[2];
        CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, numbers) == 0);
        ours = Descriptor(numbers[0]);
        theirs = Descriptor(numbers[1]);
    }
    void say(const std::string& text) {
        CHECK(::send(theirs.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }
    Descriptor ours, theirs;
};

struct Noting final : EventLoop::Watcher {
    void ready(Readiness is) override {
        seen.push_back(is);
        if (then) then();
    }
    size_t reads() const {
        return static_cast<size_t>(
            std::count_if(seen.begin(), seen.end(), [](const Readiness& is) { return is.readable; }));
    }
    std::vector<Readiness> seen;
    std::function<void()> then;
};

void run_all(EventLoop& loop) {
    while (loop.run_once()) {
    }
}

TEST(EventLoop, TellsOfBytesOnceAndOfTheEnd) {
    EventLoop loop;
    Pair pair;
    Noting watcher;
    ASSERT_TRUE(loop.watch(pair.ours, watcher));
    run_all(loop);
    EXPECT_EQ(watcher.reads(), 0u);
    pair.say("a");
    run_all(loop);
    EXPECT_EQ(watcher.reads(), 1u);  // unread, and not told again
    EXPECT_FALSE(watcher.seen.back().ended);
    pair.say("b");
    run_all(loop);
    EXPECT_EQ(watcher.reads(), 2u);
    pair.theirs.close();
    run_all(loop);
    EXPECT_EQ(watcher.reads(), 3u);
    EXPECT_TRUE(watcher.seen.back().ended);
}

TEST(EventLoop, WhatCameBeforeItWasWatchedIsTold) {
    EventLoop loop;
    Pair pair;
    pair.say("a");
    Noting watcher;
    ASSERT_TRUE(loop.watch(pair.ours, watcher));
    run_all(loop);
    EXPECT_EQ(watcher.reads(), 1u);
}

TEST(EventLoop, WhoAsksIsCalledAgainAfterTheOthers) {
    EventLoop loop;
    Pair first, second;
    std::string order;
    Noting greedy, modest;
    greedy.then = [&] {
        order += 'g';
        if (greedy.seen.size() < 3) loop.again(greedy);
    };
    modest.then = [&] { order += 'm'; };
    // Both are ready to be written to; that is one event each.
    ASSERT_TRUE(loop.watch(first.ours, greedy));
    ASSERT_TRUE(loop.watch(second.ours, modest));
    run_all(loop);
    EXPECT_EQ(order.size(), 4u);
    EXPECT_LT(order.find('m'), 2u);
}

// What tells how long everybody waits stands in line with everybody (DelayProbe).
TEST(EventLoop, MoreThanATurnTakesAreCalledInTheOrderInWhichTheyBecameReady) {
    constexpr size_t many = 300;
    EventLoop loop;
    std::vector<Descriptor> events;
    std::vector<Noting> watchers(many);
    std::vector<size_t> order;
    for (size_t i = 0; i < many; ++i) {
        events.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        ASSERT_TRUE(loop.watch(events.back(), watchers[i]));
    }
    run_all(loop);  // each could be written to
    for (size_t i = 0; i < many; ++i) watchers[i].then = [&order, i] { order.push_back(i); };
    std::vector<size_t> expected;
    for (size_t i = many; i-- > 0;) {
        const uint64_t one = 1;
        ASSERT_EQ(::write(events[i].number(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
        expected.push_back(i);
    }
    ASSERT_TRUE(loop.run_once());
    EXPECT_LT(order.size(), many);
    run_all(loop);
    EXPECT_EQ(order, expected);
}

// Two that are ready in one turn: the first one that is called makes the loop forget the other.
TEST(EventLoop, WhoIsForgottenIsNotCalledAnyMore) {
    EventLoop loop;
    Pair pairs[2];
    Noting watchers[2];
    for (int i = 0; i < 2; ++i) {
        watchers[i].then = [&loop, &other = watchers[1 - i]] {
            loop.again(other);
            loop.forget(other);
        };
        ASSERT_TRUE(loop.watch(pairs[i].ours, watchers[i]));
    }
    run_all(loop);
    EXPECT_EQ(watchers[0].seen.size() + watchers[1].seen.size(), 1u);
}

TEST(EventLoop, WhoIsForgottenAmongThoseToBeCalledAgainIsNotCalledAnyMore) {
    EventLoop loop;
    Noting watcher, other;
    other.then = [&] { loop.forget(watcher); };
    loop.again(other);
    loop.again(watcher);
    run_all(loop);
    EXPECT_EQ(watcher.seen.size(), 0u);
    EXPECT_EQ(other.seen.size(), 1u);
    loop.again(watcher);
    run_all(loop);
    EXPECT_EQ(watcher.seen.size(), 1u);
}

TEST(EventLoop, WhoAsksTwiceIsCalledAgainOnce) {
    EventLoop loop;
    Noting watcher;
    loop.again(watcher);
    loop.again(watcher);
    run_all(loop);
    EXPECT_EQ(watcher.seen.size(), 1u);
}

TEST(EventLoop, TasksRunInOrderAndThoseThatATaskPostsAfterThem) {
    EventLoop loop;
    std::string order;
    loop.post([&] {
        order += 'a';
        loop.post([&] { order += 'c'; });
    });
    loop.post([&] { order += 'b'; });
    run_all(loop);
    EXPECT_EQ(order, "abc");
}

TEST(EventLoop, TimersRunWhenDueAndNotIfCancelled) {
    EventLoop loop;
    EventLoop::Timer soon(loop), later(loop), cancelled(loop), moved(loop);
    const auto now = steady_clock::now();
    std::string order;
    later.set(now + std::chrono::milliseconds(20), [&] {
        order += 'l';
        EXPECT_GE(steady_clock::now(), now + std::chrono::milliseconds(20));
        loop.stop();
    });
    soon.set(now, [&] { order += 's'; });
    cancelled.set(now, [&] { order += 'x'; });
    cancelled.cancel();
    moved.set(now, [&] { order += 'x'; });
    moved.set(now + std::chrono::hours(1), [&] { order += 'x'; });
    loop.run();
    EXPECT_EQ(order, "sl");
}

TEST(EventLoop, ATimerMaySetItselfAndCancelAnother) {
    EventLoop loop;
    EventLoop::Timer again(loop), other(loop);
    int turns = 0;
    std::function<void()> tick = [&] {
        if (++turns < 3) return again.set(steady_clock::now(), tick);
        other.cancel();
    };
    again.set(steady_clock::now(), tick);
    other.set(steady_clock::now() + std::chrono::hours(1), [] { FAIL(); });
    run_all(loop);
    EXPECT_EQ(turns, 3);
}

// Each thread posts while the loop is about to wait as often as not; a lost wake-up would hang.
TEST(EventLoop, NoTaskOfAnotherThreadIsLeftWaiting) {
    constexpr int threads = 4, tasks = 5'000;
    EventLoop loop;
    int done = 0;
    std::vector<std::thread> posting;
    for (int i = 0; i < threads; ++i) {
        posting.emplace_back([&] {
            for (int task = 0; task < tasks; ++task) {
                loop.post([&] {
                    if (++done == threads * tasks) loop.stop();
                });
            }
        });
    }
    loop.run();
    for (std::thread& thread : posting) thread.join();
    EXPECT_EQ(done, threads * tasks);
}

TEST(EventLoop, OneThatWasStoppedBeforeItRanDoesNotRun) {
    EventLoop loop;
    loop.post([] { FAIL(); });
    loop.stop();
    loop.run();
}

}  // namespace
}  // namespace doorbuster
