// OrdersThread: the one thread that writes orders.db.
//
// It runs the order worker, the clocks of the sale desk and the payment desk and whatever is
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

#include "base/clock.hpp"
#include "base/wakeup.hpp"
#include "orders/sale_desk.hpp"
#include "orders/worker.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class OrdersThread {
public:
    using Failed = std::function<void(const StoreError&)>;

    OrdersThread(Orders& orders, OrderWorker& worker, SaleDesk& desk, Clock& clock, size_t tasks_max,
                 Failed on_failure);
    ~OrdersThread();

    // One more that takes its turn on this thread, between those of the desks; true: it has more to
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
        if (worker_wants_records_.load()) wakeup_.wake();
    }

    // Finishes the posted tasks and every order already promised, then ends the thread. What is
    // not placed after `at_most` stays in the ledger for the next start.
    void stop(milliseconds at_most);

private:
    void run();
    bool run_tasks();

    Orders& orders_;
    OrderWorker& worker_;
    SaleDesk& desk_;
    Clock& clock_;
    const size_t tasks_max_;
    const Failed on_failure_;
    std::vector<Turn> turns_;  // fixed once it runs

    std::mutex mutex_;
    std::deque<std::function<void()>> tasks_, answers_;  // guarded by mutex_
    Wakeup wakeup_;
    std::atomic<bool> worker_wants_records_{true};
    std::atomic<bool> stopping_{false};
    std::atomic<int64_t> stop_by_us_{0};  // uptime
    std::thread thread_;
};

}  // namespace doorbuster
