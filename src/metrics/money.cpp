#include "metrics/money.hpp"

#include <algorithm>

#include "metrics/families.hpp"

namespace doorbuster {

namespace {

using Reconciles = std::vector<MoneyFigures::Reconcile>;

void add_orders(Families& families, const MoneyFigures& money) {
    families.gauge("doorbuster_ledger_lag_seconds", "Age of the oldest acceptance that is no order yet");
    families.add(money.ledger_lag_seconds);
    families.gauge("doorbuster_orders", "Orders, by state");
    for (const auto& orders : money.orders) families.add(orders.count, {{"state", orders.state}});
    families.gauge("doorbuster_dead_letters",
                   "Ledger records that could not be made into orders, still open");
    families.add(money.dead_letters);
}

void add_payments(Families& families, const MoneyFigures& money) {
    families.gauge("doorbuster_oldest_due_order_seconds",
                   "How long the oldest order whose payment window is over has waited for its expiry");
    families.add(money.oldest_due_order_seconds);
    families.gauge("doorbuster_oldest_voiding_seconds",
                   "How long the oldest order has waited for the provider to confirm a void");
    families.add(money.oldest_voiding_seconds);
    families.gauge("doorbuster_payments_to_settle", "Payments that are not final");
    families.add(money.payments_to_settle);
    families.gauge(
        "doorbuster_refund_asks_max",
        "How often the provider was asked for a refund that it has not confirmed, of the worst one");
    families.add(money.refund_asks_max);
    families.counter("doorbuster_payments_total", "Payments since the start, by what became of them");
    families.add(money.payments_paid_total, {{"result", "paid"}});
    families.add(money.payments_refunded_total, {{"result", "refunded"}});
    families.add(money.payments_declined_total, {{"result", "declined"}});
    families.add(money.payments_voided_total, {{"result", "voided"}});
    families.add(money.payments_reinstated_total, {{"result", "reinstated"}});
    families.counter("doorbuster_expired_total", "Orders that expired since the start");
    families.add(money.expired_total);
}

void add_webhooks(Families& families, const MoneyFigures& money) {
    families.gauge("doorbuster_webhook_backlog", "Deliveries to the shop that are not done");
    families.add(money.webhook_backlog);
    families.gauge("doorbuster_webhook_oldest_seconds", "Age of the oldest delivery that is not done");
    families.add(money.webhook_oldest_seconds);
    families.counter("doorbuster_webhook_deliveries_total",
                     "Attempts at delivery since the start; failed: given up after the last one");
    families.add(money.webhooks_delivered_total, {{"result", "delivered"}});
    families.add(money.webhooks_retried_total, {{"result", "retried"}});
    families.add(money.webhooks_failed_total, {{"result", "failed"}});
}

Reconciles bounded(const Reconciles& all) {
    const size_t shown = std::min(all.size(), MoneyFigures::reconcile_rows_max);
    Reconciles rows(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown == all.size()) return rows;
    MoneyFigures::Reconcile rest{.sale = rest_label};
    for (size_t i = shown; i < all.size(); ++i) {
        rest.differences += all[i].differences;
        rest.age_seconds = std::max(rest.age_seconds, all[i].age_seconds);
    }
    rows.push_back(std::move(rest));
    return rows;
}

void add_reconciles(Families& families, const Reconciles& rows) {
    families.gauge("doorbuster_reconcile_differences",
                   "Differences that the sale's last reconciliation found");
    for (const auto& row : rows) families.add(row.differences, {{"sale", row.sale}});
    families.gauge("doorbuster_reconcile_age_seconds", "Time since the sale's last reconciliation");
    for (const auto& row : rows) families.add(row.age_seconds, {{"sale", row.sale}});
}

}  // namespace

void add_money(Families& families, const MoneyFigures& money) {
    add_orders(families, money);
    add_payments(families, money);
    add_webhooks(families, money);
    add_reconciles(families, bounded(money.reconciles));
}

}  // namespace doorbuster
