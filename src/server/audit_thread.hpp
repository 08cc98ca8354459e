// AuditThread: the one thread that recounts.
//
// It reads over connections of its own, beside a live sale; what it writes goes through the
// orders thread. Bounded: at most `tasks_max` tasks wait; one more is refused.
//
// Thread safety: run and describe from any thread.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "audit/audit_desk.hpp"
#include "audit/reconcile.hpp"
#include "base/clock.hpp"
#include "base/wakeup.hpp"
#include "metrics/money.hpp"

namespace doorbuster {

class AuditThread {
public:
    struct Options {
        std::chrono::seconds every{300};
        size_t tasks_max = 16;
    };
    struct Hooks {
        // Whether it is this process that recounts by the clock.
        std::function<bool()> is_on_duty;
        // False if it has no room.
        std::function<bool(std::function<void()>)> on_orders_thread;
        // On the orders thread.
        std::function<void(const SaleId&, Instant now)> reconciled;
    };
    using Task = std::function<void(audit::AuditDesk&)>;

    // What `settling` names is used on the orders thread only.
    AuditThread(audit::AuditDesk::Readers readers, audit::Settling settling, Clock& clock, Options options,
                Hooks hooks);
    ~AuditThread();

    void start();
    // Ends the thread; what waits is run first. REQUIRES: the orders thread still runs.
    void stop();

    // False if `tasks_max` wait already.
    [[nodiscard]] bool run(Task task);

    void describe(MoneyFigures& into, Instant now) const;

private:
    void work();
    StoreResult<void> settle(audit::Report& report, const audit::Wish& wish);
    bool on_orders_thread(const std::function<void()>& task);

    Clock& clock_;
    const Options options_;
    const Hooks hooks_;
    const audit::Settling settling_;
    audit::AuditDesk desk_;

    std::mutex mutex_;
    std::deque<Task> tasks_;  // guarded by mutex_
    Wakeup wakeup_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace doorbuster
