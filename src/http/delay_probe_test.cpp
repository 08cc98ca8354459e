#include "http/delay_probe.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

namespace doorbuster {
namespace {

using namespace std::chrono_literals;

Uptime now() {
    return std::chrono::duration_cast<Uptime>(std::chrono::steady_clock::now().time_since_epoch());
}

// A socket's stand-in: something that happens to the loop, and takes as long as it takes.
class Visitor final : public EventLoop::Watcher {
public:
    explicit Visitor(EventLoop& loop) : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        EXPECT_TRUE(loop.watch(event_, *this));
    }
    void come() {
        const uint64_t one = 1;
        ASSERT_EQ(::write(event_.number(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    }
    void ready(EventLoop::Readiness) override {
        if (then) then();
    }
    std::function<void()> then;

private:
    const Descriptor event_;
};

class DelayProbeTest : public ::testing::Test {
protected:
    DelayProbeTest() {
        while (loop_.run_once()) {
        }  // the visitor's event can be written to
        probe_.begin();
    }

    // Whether a timer runs: a moment far away would find it overdue.
    bool is_ticking() {
        (void)sensor_.take(now());  // what was measured so far
        return sensor_.take(now() + 1h) > 30min;
    }
    void run_until_it_rests() {
        for (int turn = 0; is_ticking(); ++turn) {
            ASSERT_LT(turn, 100'000'000) << "it never rests";
            loop_.run_once();
        }
    }
    void run_for(Uptime time) {
        for (const Uptime end = now() + time; now() < end;) loop_.run_once();
    }

    EventLoop loop_;
    Visitor visitor_{loop_};
    DelaySensor sensor_;
    DelayProbe probe_{loop_, sensor_};
};

TEST_F(DelayProbeTest, RestsWhenNothingHasHappened) {
    EXPECT_TRUE(is_ticking());
    run_until_it_rests();
    const uint64_t calls = loop_.calls_total();
    run_for(3 * DelaySensor::period);
    EXPECT_EQ(loop_.calls_total(), calls) << "an idle gate sleeps";
}

// A burst that drains is no overload: before it and behind it nobody waited.
TEST_F(DelayProbeTest, AMomentOfRestIsAMomentWithoutDelay) {
    run_until_it_rests();
    visitor_.then = [] {
        for (const Uptime end = now() + 4 * DelaySensor::period; now() < end;) {
        }
    };
    visitor_.come();
    ASSERT_TRUE(loop_.run_once());
    (void)sensor_.take(now());  // the moment before it
    Uptime delay = 1h;
    while (delay > 30min) {
        loop_.run_once();
        delay = sensor_.take(now() + 1h);
    }
    EXPECT_EQ(delay, Uptime(0));
}

TEST_F(DelayProbeTest, GoesOnWhileSomethingHappens) {
    size_t turns = 0;
    for (const Uptime end = now() + 5 * DelaySensor::period; turns < 100 || now() < end; ++turns) {
        visitor_.come();
        ASSERT_TRUE(loop_.run_once());
        ASSERT_TRUE(is_ticking());
    }
}

// The gate hangs in the very first request after a rest: whoever looks from outside finds it overdue.
TEST_F(DelayProbeTest, TicksAgainBeforeWhateverHappensIsHandled) {
    run_until_it_rests();
    bool was_ticking = false;
    visitor_.then = [&] { was_ticking = is_ticking(); };
    visitor_.come();
    ASSERT_TRUE(loop_.run_once());
    EXPECT_TRUE(was_ticking);
}

TEST_F(DelayProbeTest, TicksAgainBeforeATimersTask) {
    run_until_it_rests();
    bool was_ticking = false, has_run = false;
    EventLoop::Timer timer(loop_);
    timer.set(std::chrono::steady_clock::now(), [&] { was_ticking = is_ticking(), has_run = true; });
    loop_.run_once();
    EXPECT_TRUE(has_run && was_ticking);
}

}  // namespace
}  // namespace doorbuster
