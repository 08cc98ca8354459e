#include "server/audit_thread.hpp"

#include <future>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"

namespace doorbuster {

AuditThread::AuditThread(audit::AuditDesk::Readers readers, audit::Settling settling, Clock& clock,
                         Options options, Hooks hooks)
    : clock_(clock),
      options_(options),
      hooks_(std::move(hooks)),
      settling_(std::move(settling)),
      desk_(
          std::move(readers), options.every,
          {.settle = [this](audit::Report& report, const audit::Wish& wish) { return settle(report, wish); },
           .reconciled =
               [this](const SaleId& sale) {
                   // Refused for room: the sale stays closed, and the next run says so again.
                   const bool posted =
                       hooks_.on_orders_thread([this, sale] { hooks_.reconciled(sale, clock_.now()); });
                   if (!posted) log_warn("a sale waits to be reconciled", {{"sale", sale.view()}});
               }}) {}

AuditThread::~AuditThread() {
    CHECK(!thread_.joinable());
}

void AuditThread::start() {
    thread_ = std::thread([this] {
        set_thread_up("audit", -1);
        work();
    });
}

void AuditThread::stop() {
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_release);
    wakeup_.wake();
    thread_.join();
}

bool AuditThread::run(Task task) {
    {
        std::lock_guard lock(mutex_);
        if (tasks_.size() >= options_.tasks_max) return false;
        tasks_.push_back(std::move(task));
    }
    wakeup_.wake();
    return true;
}

void AuditThread::describe(MoneyFigures& into, Instant now) const {
    for (const auto& [sale, differences, at] : desk_.figures()) {
        const double age_seconds = std::chrono::duration<double>(now - at).count();
        into.reconciles.push_back({sale.str(), differences, std::max(0.0, age_seconds)});
    }
}

// Between two steps the orders thread does whatever else it has to do.
StoreResult<void> AuditThread::settle(audit::Report& report, const audit::Wish& wish) {
    audit::Settlement settlement(report, wish, settling_);
    while (!settlement.is_done()) {
        settlement.prepare();
        std::promise<StoreResult<void>> promise;
        auto stepped = promise.get_future();
        if (!on_orders_thread([&] { promise.set_value(settlement.step(clock_.now())); }))
            return StoreError{StoreErrc::unavailable, "reconciling", "the orders thread has no room"};
        if (const auto done = stepped.get(); !done) return done;
    }
    return {};
}

// A settlement that was begun should end: where there is no room it waits for some, for a while.
bool AuditThread::on_orders_thread(const std::function<void()>& task) {
    constexpr int tries_max = 50;
    constexpr milliseconds pause{20};
    for (int tries = 0; tries < tries_max; ++tries) {
        if (hooks_.on_orders_thread(task)) return true;
        std::this_thread::sleep_for(pause);
    }
    return false;
}

void AuditThread::work() {
    constexpr std::chrono::seconds tick_every{1};
    for (;;) {
        const bool stopping = stopping_.load(std::memory_order_acquire);
        std::deque<Task> taken;
        {
            std::lock_guard lock(mutex_);
            taken.swap(tasks_);
        }
        for (const Task& task : taken) task(desk_);
        if (stopping) return;
        if (hooks_.is_on_duty()) {
            if (const auto ticked = desk_.tick(clock_.now(), clock_.uptime()); !ticked)
                log_warn("the audit could not run", {{"error", ticked.error().text()}});
        }
        wakeup_.sleep(tick_every);
    }
}

}  // namespace doorbuster
