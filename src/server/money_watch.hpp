// MoneyWatch: how orders and payments stand, for the metrics page.
//
// Looked at once a second on the thread that writes the orders; a scrape then costs the store
// nothing.
//
// Thread safety: step on the orders thread; describe from any.
#pragma once

#include <mutex>

#include "metrics/money.hpp"
#include "orders/payment_desk.hpp"
#include "orders/tally.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

class MoneyWatch {
public:
    MoneyWatch(OrdersReader& reader, LedgerReader& ledger, const PaymentDesk& desk, const OrderTally& tally)
        : reader_(reader), ledger_(ledger), desk_(desk), tally_(tally) {}

    // False: nothing more to do at once.
    [[nodiscard]] StoreResult<bool> step(Instant now, Uptime uptime);

    // `orders_behind`: acceptances that are no orders yet.
    void describe(MoneyFigures& into, uint64_t orders_behind, Instant now);

private:
    StoreResult<std::optional<Instant>> oldest_in_flight();

    OrdersReader& reader_;
    LedgerReader& ledger_;
    const PaymentDesk& desk_;
    const OrderTally& tally_;
    Uptime next_{};

    std::mutex mutex_;
    Backlog backlog_;                          // guarded by mutex_
    std::optional<Instant> oldest_in_flight_;  // guarded by mutex_; when it was accepted
};

}  // namespace doorbuster
