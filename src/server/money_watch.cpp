#include "server/money_watch.hpp"

#include <algorithm>

namespace doorbuster {

namespace {

double seconds_since(const std::optional<Instant>& at, Instant now) {
    return at ? std::max(0.0, std::chrono::duration<double>(now - *at).count()) : 0;
}

}  // namespace

StoreResult<bool> MoneyWatch::step(Instant now, Uptime uptime) {
    if (uptime < next_) return false;
    next_ = uptime + std::chrono::seconds(1);
    const auto backlog = reader_.backlog(desk_.due_by(now));
    if (!backlog) return backlog.error();
    std::lock_guard lock(mutex_);
    backlog_ = *backlog;
    return false;
}

void MoneyWatch::describe(MoneyFigures& into, uint64_t orders_behind, Instant now, Uptime uptime) {
    const OrderCounts counts = tally_.orders();
    for (size_t i = 0; i < counts.size(); ++i) {
        into.orders.push_back({std::string(name_of(static_cast<OrderState>(i))), counts[i]});
    }
    const MoneyTotals totals = tally_.money();
    into.payments_paid_total = totals.paid;
    into.payments_refunded_total = totals.refunded;
    into.payments_declined_total = totals.declined;
    into.payments_voided_total = totals.voided;
    into.payments_reinstated_total = totals.reinstated;
    into.expired_total = totals.expired;

    std::lock_guard lock(mutex_);
    into.dead_letters = backlog_.dead_letters_open;
    into.payments_to_settle = backlog_.payments_to_settle;
    into.oldest_due_order_seconds = seconds_since(backlog_.oldest_due, now);
    into.oldest_voiding_seconds = seconds_since(backlog_.oldest_voiding, now);
    if (orders_behind == 0) {
        behind_since_.reset();
    } else if (!behind_since_) {
        behind_since_ = uptime;
    }
    into.ledger_lag_seconds =
        behind_since_ ? std::chrono::duration<double>(uptime - *behind_since_).count() : 0;
}

}  // namespace doorbuster
