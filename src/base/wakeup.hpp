// Wakeup: lets one thread sleep until another has something for it.
//
// wake() costs one exchange when the sleeper is awake, and a lock and a
// system call only when it really sleeps. A wake before the sleep is not lost.
//
// Thread safety: wake from any thread; sleep_until from one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace doorbuster {

class Wakeup {
public:
    void wake() {
        if (state_.exchange(woken, std::memory_order_acq_rel) != asleep) return;
        std::lock_guard lock(mutex_);
        condition_.notify_one();
    }

    // Returns true at a wake, at once if one came since the last return; false after `at_most`.
    bool sleep(std::chrono::steady_clock::duration at_most) {
        std::unique_lock lock(mutex_);
        int expected = awake;
        if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel)) {
            condition_.wait_for(lock, at_most,
                                [&] { return state_.load(std::memory_order_acquire) != asleep; });
        }
        // An exchange: a wake that comes at this very moment is answered, not overwritten.
        return state_.exchange(awake, std::memory_order_acq_rel) == woken;
    }

private:
    static constexpr int awake = 0, asleep = 1, woken = 2;
    std::atomic<int> state_{awake};
    std::mutex mutex_;
    std::condition_variable condition_;
};

}  // namespace doorbuster
