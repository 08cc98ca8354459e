// MoneyFigures: how orders, payments, notifications and reconciliation stand. What waits is
// told by the age of its oldest, because a count alone does not say whether it moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace doorbuster {

class Families;

struct MoneyFigures {
    struct OrdersInState {
        std::string state;
        uint64_t count = 0;
    };
    // The last run of a sale that is not reconciled for good; no row before its first run.
    struct Reconcile {
        std::string sale;
        uint64_t differences = 0;
        double age_seconds = 0;
    };
    // Beyond it, one row `*`: the sum of the differences, the greatest age.
    static constexpr size_t reconcile_rows_max = 1000;

    // Ages are 0 where nothing waits.
    double ledger_lag_seconds = 0;  // of the oldest acceptance that is no order yet
    std::vector<OrdersInState> orders = {};
    uint64_t dead_letters = 0;  // open: neither retried nor dropped

    double oldest_due_order_seconds = 0;  // since its payment window ended, while nothing was done about it
    double oldest_voiding_seconds = 0;    // since the provider was first asked to void
    uint64_t payments_to_settle = 0;      // not final yet
    uint64_t refund_asks_max = 0;         // of the refund that was asked for most often, still in vain

    // Since the start.
    uint64_t payments_paid_total = 0, payments_refunded_total = 0, payments_declined_total = 0,
             payments_voided_total = 0, payments_reinstated_total = 0;
    uint64_t expired_total = 0;

    // To the shop. Failed: given up after the last retry.
    uint64_t webhook_backlog = 0;
    double webhook_oldest_seconds = 0;
    uint64_t webhooks_delivered_total = 0, webhooks_retried_total = 0, webhooks_failed_total = 0;

    std::vector<Reconcile> reconciles = {};
};

void add_money(Families&, const MoneyFigures&);

}  // namespace doorbuster
