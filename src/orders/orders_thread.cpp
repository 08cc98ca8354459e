#include "orders/orders_thread.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/threads.hpp"

namespace doorbuster {

OrdersThread::OrdersThread(Orders& orders, OrderWorker& worker, SaleDesk& desk, Clock& clock,
                           size_t tasks_max, Failed on_failure)
    : orders_(orders),
      worker_(worker),
      desk_(desk),
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

bool OrdersThread::run_tasks() {
    std::deque<std::function<void()>> taken;
    {
        std::lock_guard lock(mutex_);
        taken.swap(tasks_);
    }
    for (const auto& task : taken) task();
    return !taken.empty();
}

void OrdersThread::run() {
    constexpr milliseconds tick_every{50};
    bool failed = false;
    for (;;) {
        const bool stopping = stopping_.load(std::memory_order_acquire);
        const bool did_tasks = run_tasks();
        const Instant now = clock_.now();
        if (!stopping) desk_.tick(now);

        auto next = OrderWorker::Next::idle;
        if (!failed) {
            const auto stepped = worker_.step(now);
            if (stepped) {
                next = *stepped;
            } else {
                failed = true;  // tasks are still answered until the process ends
                on_failure_(stepped.error());
            }
        }
        if (!failed && orders_.failure()) {
            failed = true;
            on_failure_(*orders_.failure());
        }
        if (did_tasks || next == OrderWorker::Next::more) continue;
        if (stopping && next == OrderWorker::Next::idle) return;
        if (next == OrderWorker::Next::idle && !failed) {
            if (const auto kept = orders_.idle(); !kept) {
                failed = true;
                on_failure_(kept.error());
            }
        }
        const milliseconds wait =
            next == OrderWorker::Next::at_later
                ? std::clamp<milliseconds>(worker_.wait_until() - now, milliseconds(1), tick_every)
                : tick_every;
        wakeup_.sleep(wait);
    }
}

void OrdersThread::stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
    run_tasks();  // those that came between its last look and its end
}

}  // namespace doorbuster
