// DelayProbe: how long work waits for one gate thread.
//
// How late it is called tells how long everything that is ready here waits: its event stands in line behind
// the sockets that were ready before it, as every request does. (A timer of the loop is looked at in every
// turn, and would tell nothing of those that wait for the next ones.)
//
// Thread safety: none; what it finds is read through the sensor.
#pragma once

#include <sys/timerfd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/check.hpp"
#include "base/descriptor.hpp"
#include "funnel/overload.hpp"
#include "http/event_loop.hpp"

namespace doorbuster {

class DelayProbe final : public EventLoop::Watcher {
public:
    DelayProbe(EventLoop& loop, DelaySensor& sensor) : loop_(loop), sensor_(sensor) {}

    // From when somebody asks for it: a hundred times a second is much for an idle gate.
    void begin() {
        if (timer_.is_open()) return;
        timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
        if (!timer_.is_open() || !loop_.watch(timer_, *this)) {
            throw std::system_error(errno, std::generic_category(), "the timer of a gate's delay");
        }
        due_ = uptime();
        ready({});
    }

    void ready(EventLoop::Readiness) override {
        const Uptime now = uptime();
        if (now < due_) return;  // of an earlier setting
        sensor_.ticked(due_, now);
        due_ = now + DelaySensor::period;
        const auto seconds = std::chrono::floor<std::chrono::seconds>(due_);
        itimerspec when{};
        when.it_value = {.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(due_ - seconds).count()};
        CHECK(::timerfd_settime(timer_.number(), TFD_TIMER_ABSTIME, &when, nullptr) == 0);
    }

private:
    static Uptime uptime() {
        return std::chrono::duration_cast<Uptime>(std::chrono::steady_clock::now().time_since_epoch());
    }

    EventLoop& loop_;
    DelaySensor& sensor_;
    Descriptor timer_;
    Uptime due_{};
};

}  // namespace doorbuster
