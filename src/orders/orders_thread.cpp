#include "orders/orders_thread.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/threads.hpp"

namespace doorbuster {

OrdersThread::OrdersThread(Orders& orders, OrderWorker* worker, Clock& clock, size_t tasks_max,
                           Failed on_failure)
    : orders_(orders),
      worker_(worker),
      clock_(clock),
      tasks_max_(tasks_max),
      on_failure_(std::move(on_failure)) {}

OrdersThread::~OrdersThread() {
    CHECK(!thread_.joinable());
}

void OrdersThread::start() {
    thread_ = std::thread([this] {
        set_thread_up("orders", -1);
        run();
    });
}

bool OrdersThread::post(std::function<void()> task) {
    {
        std::lock_guard lock(mutex_);
        if (tasks_.size() >= tasks_max_) return false;
        tasks_.push_back(std::move(task));
    }
    wakeup_.wake();
    return true;
}

void OrdersThread::post_answer(std::function<void()> task) {
    {
        std::lock_guard lock(mutex_);
        answers_.push_back(std::move(task));
    }
    wakeup_.wake();
}

bool OrdersThread::run_tasks() {
    std::deque<std::function<void()>> answers, tasks;
    {
        std::lock_guard lock(mutex_);
        answers.swap(answers_);
        tasks.swap(tasks_);
    }
    for (const auto& answer : answers) answer();
    for (const auto& task : tasks) task();
    return !answers.empty() || !tasks.empty();
}

void OrdersThread::fail(const StoreError& error) {
    constexpr std::chrono::seconds rest{1};
    has_failed_ = !on_failure_(error);
    rests_until_ = clock_.uptime() + rest;
}

OrderWorker::Next OrdersThread::step_worker(Uptime uptime) {
    if (worker_ == nullptr) return OrderWorker::Next::idle;
    worker_wants_records_.store(true);  // before it looks: what comes then wakes this thread
    if (ledger_has_grown_.exchange(false, std::memory_order_relaxed)) worker_->ledger_grew(uptime);
    const auto stepped = worker_->step(clock_.now(), uptime);
    if (stepped) return *stepped;
    fail(stepped.error());
    return OrderWorker::Next::idle;
}

bool OrdersThread::run_turns(Uptime uptime) {
    bool has_more = false;
    for (const Turn& turn : turns_) {
        const auto taken = turn(clock_.now(), uptime);
        if (!taken) {
            fail(taken.error());
            return false;
        }
        has_more |= *taken;
    }
    return has_more;
}

void OrdersThread::run() {
    constexpr milliseconds tick_every{50};  // a desk's turn is late by so much at most
    constexpr int quiet_ticks_before_upkeep = 20;
    int quiet_ticks = 0;
    for (;;) {
        const bool stopping = stopping_.load(std::memory_order_acquire);
        const bool did_tasks = run_tasks();
        const Uptime uptime = clock_.uptime();
        if (stopping && worker_ != nullptr) worker_->hurry();
        const auto may_work = [&] { return !has_failed_ && uptime >= rests_until_; };
        const bool has_more_turns = !stopping && may_work() && run_turns(uptime);
        const auto next = may_work() ? step_worker(uptime) : OrderWorker::Next::idle;
        if (may_work() && orders_.failure()) fail(*orders_.failure());

        const bool may_stop = next == OrderWorker::Next::idle || uptime.count() >= stop_by_us_.load();
        if (stopping && !did_tasks && may_stop) return;
        if (did_tasks || has_more_turns || next == OrderWorker::Next::more) {
            quiet_ticks = 0;
            continue;
        }
        milliseconds wait = tick_every;
        if (next == OrderWorker::Next::at_later) {
            worker_wants_records_.store(false);
            const auto left = std::chrono::ceil<milliseconds>(worker_->wait_until() - uptime);
            wait = std::clamp(left, milliseconds(1), tick_every);
        }
        // A worker that gathers is not quiet: its log is copied once for many batches.
        if (wakeup_.sleep(wait) || next == OrderWorker::Next::at_later) {
            quiet_ticks = 0;
        } else if (may_work() && ++quiet_ticks == quiet_ticks_before_upkeep) {
            if (const auto kept = orders_.idle(); !kept) fail(kept.error());
        }
    }
}

void OrdersThread::stop(milliseconds at_most) {
    if (!thread_.joinable()) return;
    stop_by_us_.store((clock_.uptime() + at_most).count());
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
    run_tasks();  // those that came between its last look and its end
}

}  // namespace doorbuster
