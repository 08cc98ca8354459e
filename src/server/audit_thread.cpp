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
      desk_(std::move(readers), options.every,
            {.settle = [this](audit::Report& report, bool repairs) { return settle(report, repairs); },
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

StoreResult<void> AuditThread::settle(audit::Report& report, bool repairs) {
    std::promise<StoreResult<void>> promise;
    auto settled = promise.get_future();
    const bool posted = hooks_.on_orders_thread(
        [&] { promise.set_value(audit::settle(report, repairs, settling_, clock_.now())); });
    if (!posted) return StoreError{StoreErrc::unavailable, "reconciling", "the orders thread has no room"};
    return settled.get();
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
        if (const auto ticked = desk_.tick(clock_.now(), clock_.uptime()); !ticked)
            log_warn("the audit could not run", {{"error", ticked.error().text()}});
        wakeup_.sleep(tick_every);
    }
}

}  // namespace doorbuster
