#include "http/delay_probe.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

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
        while (is_ticking()) loop_.run_once();
    }

    EventLoop loop_;
    Visitor visitor_{loop_};
    DelaySensor sensor_;
    DelayProbe probe_{loop_, sensor_};
};

TEST_F(DelayProbeTest, RestsWhenNothingHasHappened) {
    EXPECT_TRUE(is_ticking());
    run_until_it_rests();
    EXPECT_FALSE(loop_.run_once()) << "an idle gate sleeps";
    EXPECT_EQ(sensor_.take(now() + 1h), Uptime(0)) << "and is not late";
}

TEST_F(DelayProbeTest, GoesOnWhileSomethingHappens) {
    for (const Uptime end = now() + 5 * DelaySensor::period; now() < end;) {
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
    run_until_it_rests();
}

}  // namespace
}  // namespace doorbuster
