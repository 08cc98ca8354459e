#include "server/money_watch.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace doorbuster {

namespace {

double seconds_since(const std::optional<Instant>& at, Instant now) {
    return at ? std::max(0.0, std::chrono::duration<double>(now - *at).count()) : 0;
}

}  // namespace

// One that cannot be read has no age: the worker buries it when it comes there.
StoreResult<std::optional<Instant>> oldest_behind(OrdersReader& reader, LedgerReader& ledger) {
    const auto position = reader.position();
    if (!position) return position.error();
    const auto next = ledger.read_after(*position, 1);
    if (!next) return next.error();
    if (next->empty() || !next->front().entry) return std::optional<Instant>{};
    return std::optional(next->front().entry->acceptance.accepted_at);
}

MoneyWatch::MoneyWatch(OrdersReader& reader, LedgerReader& ledger, const PaymentDesk& desk,
                       const OrderTally& tally)
    : MoneyWatch(
          reader, [&reader, &ledger] { return oldest_behind(reader, ledger); }, desk, tally) {}

StoreResult<bool> MoneyWatch::step(Instant now, Uptime uptime) {
    if (uptime < next_) return false;
    next_ = uptime + std::chrono::seconds(1);
    const auto backlog = reader_.backlog(desk_.due_by(now));
    if (!backlog) return backlog.error();
    const auto oldest = oldest_();
    // The worker reads the same, and decides what a ledger that cannot be read means.
    if (!oldest) log_warn("the age of the ledger's backlog is not known", {{"error", oldest.error().text()}});
    std::lock_guard lock(mutex_);
    backlog_ = *backlog;
    if (oldest) oldest_in_flight_ = *oldest;
    return false;
}

void MoneyWatch::describe(MoneyFigures& into, uint64_t orders_behind, Instant now) {
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
    into.refund_asks_max = backlog_.refund_asks_max;
    into.oldest_due_order_seconds = seconds_since(backlog_.oldest_due, now);
    into.oldest_voiding_seconds = seconds_since(backlog_.oldest_voiding, now);
    // What was looked at a moment ago may be placed by now.
    into.ledger_lag_seconds = orders_behind == 0 ? 0 : seconds_since(oldest_in_flight_, now);
}

}  // namespace doorbuster
