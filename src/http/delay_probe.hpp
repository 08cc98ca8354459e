// DelayProbe: how long work waits for one gate thread.
//
// How late it is called tells how long everything that is ready here waits: its event stands in line behind
// the sockets that were ready before it, as every request does. (A timer of the loop is looked at in every
// turn, and would tell nothing of those that wait for the next ones.)
//
// A gate to which nothing has happened since the last time keeps nobody waiting: then no timer runs, until
// something happens. So an idle gate sleeps.
//
// Thread safety: none; what it finds is read through the sensor.
#pragma once

#include <sys/timerfd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "base/check.hpp"
#include "base/descriptor.hpp"
#include "funnel/overload.hpp"
#include "http/event_loop.hpp"

namespace doorbuster {

class DelayProbe final : public EventLoop::Watcher {
public:
    DelayProbe(EventLoop& loop, DelaySensor& sensor) : loop_(loop), sensor_(sensor) {}

    // From when somebody asks for it.
    void begin() {
        if (timer_.is_open()) return;
        timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
        if (!timer_.is_open() || !loop_.watch(timer_, *this)) {
            throw std::system_error(errno, std::generic_category(), "the timer of a gate's delay");
        }
        expect(uptime());
    }

    void ready(EventLoop::Readiness) override {
        const Uptime now = uptime();
        if (!due_) {  // it rested until now, and something happens
            sensor_.ticked(now, now);
            return expect(now);
        }
        if (now < *due_) return;  // of an earlier setting
        sensor_.ticked(*due_, now);
        if (loop_.calls_total() - calls_before_ > 1) return expect(now);  // one of them is the timer's own
        due_.reset();
        sensor_.rests();
        loop_.at_next_call(*this);
    }

private:
    static Uptime uptime() {
        return std::chrono::duration_cast<Uptime>(std::chrono::steady_clock::now().time_since_epoch());
    }

    void expect(Uptime now) {
        calls_before_ = loop_.calls_total();
        due_ = now + DelaySensor::period;
        sensor_.expects(*due_);
        const auto seconds = std::chrono::floor<std::chrono::seconds>(*due_);
        itimerspec when{};
        when.it_value = {.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(*due_ - seconds).count()};
        CHECK(::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr) == 0);
    }

    EventLoop& loop_;
    DelaySensor& sensor_;
    Descriptor timer_;
    std::optional<Uptime> due_;  // none: it rests
    uint64_t calls_before_ = 0;  // of the loop, when the timer was set
};

}  // namespace doorbuster
