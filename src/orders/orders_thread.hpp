// OrdersThread: the one thread of this process that writes sales, orders and payments.
//
// It runs the order worker, where the orders are made here, the turns of the desks and whatever is
// posted to it, in turn. Bounded: at most `tasks_max` posted tasks wait; one more is refused.
// Answers to what this thread asked others are never refused: there are no more of them than
// it asked.
//
// Thread safety: post, post_answer, wake and ledger_grew from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/wakeup.hpp"
#include "orders/worker.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class OrdersThread {
public:
    // True: the store can be used again, and everybody goes on after a pause. False: nothing but tasks is
    // run any more, which are still answered until the process ends.
    using Failed = std::function<bool(const StoreError&)>;

    // Without a worker, orders are made elsewhere.
    OrdersThread(Orders& orders, OrderWorker* worker, Clock& clock, size_t tasks_max, Failed on_failure);
    ~OrdersThread();

    // One that takes its turn on this thread, a few times a second at least; true: it has more to
    // do at once. REQUIRES: before start().
    using Turn = std::function<StoreResult<bool>(Instant now, Uptime uptime)>;
    void also_run(Turn turn) { turns_.push_back(std::move(turn)); }

    void start();

    // False if the room is full: "overloaded".
    [[nodiscard]] bool post(std::function<void()> task);
    void post_answer(std::function<void()> task);
    void wake() { wakeup_.wake(); }
    // The ledger has grown. In a rush that is so a thousand times a second, and a worker whom the rate holds
    // back has no use for it.
    void ledger_grew() {
        ledger_has_grown_.store(true, std::memory_order_relaxed);
        if (worker_wants_records_.load()) wakeup_.wake();
    }

    // Finishes the posted tasks and every order already promised, then ends the thread. What is
    // not placed after `at_most` stays in the ledger for the next start.
    void stop(milliseconds at_most);

private:
    void run();
    bool run_tasks();
    OrderWorker::Next step_worker(Uptime uptime);
    bool run_turns(Uptime uptime);
    void fail(const StoreError& error);

    Orders& orders_;
    OrderWorker* const worker_;
    Clock& clock_;
    const size_t tasks_max_;
    const Failed on_failure_;
    std::vector<Turn> turns_;  // fixed once it runs

    // The thread's.
    bool has_failed_ = false;  // and nobody could mend it
    Uptime rests_until_{};     // after a failure that was mended

    std::mutex mutex_;
    std::deque<std::function<void()>> tasks_, answers_;  // guarded by mutex_
    Wakeup wakeup_;
    std::atomic<bool> worker_wants_records_{true};
    std::atomic<bool> ledger_has_grown_{false};  // since the worker's last step
    std::atomic<bool> stopping_{false};
    std::atomic<int64_t> stop_by_us_{0};  // uptime
    std::thread thread_;
};

}  // namespace doorbuster
