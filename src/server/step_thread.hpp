// StepThread: calls one step again and again on a thread of its own, each time as soon as the last call
// asked for, or when it is woken.
//
// Thread safety: wake from any thread; start and stop from one.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "base/check.hpp"
#include "base/clock.hpp"
#include "base/threads.hpp"
#include "base/wakeup.hpp"

namespace doorbuster {

class StepThread {
public:
    // Answers how long to wait until the next.
    using Step = std::function<milliseconds()>;

    StepThread(std::string name, Step step) : name_(std::move(name)), step_(std::move(step)) {}
    ~StepThread() { stop(); }

    void start() {
        CHECK(!thread_.joinable());
        thread_ = std::thread([this] {
            set_thread_up(name_, -1);
            while (!is_stopping_.load(std::memory_order_acquire)) {
                if (const milliseconds wait = step_(); wait > milliseconds(0)) wakeup_.sleep(wait);
            }
        });
    }
    void wake() { wakeup_.wake(); }
    void stop() {
        if (!thread_.joinable()) return;
        is_stopping_.store(true, std::memory_order_release);
        wakeup_.wake();
        thread_.join();
    }

private:
    const std::string name_;
    const Step step_;
    Wakeup wakeup_;
    std::atomic<bool> is_stopping_{false};
    std::thread thread_;
};

}  // namespace doorbuster
