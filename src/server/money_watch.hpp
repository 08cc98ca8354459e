// MoneyWatch: how orders and payments stand, for the metrics page.
//
// Looked at once a second on the thread that writes the orders; a scrape then costs the store
// nothing.
//
// Thread safety: step on the orders thread; describe from any.
#pragma once

#include <functional>
#include <mutex>

#include "metrics/money.hpp"
#include "orders/payment_desk.hpp"
#include "orders/tally.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

// When the first record that a ledger's one worker has not come to was accepted.
[[nodiscard]] StoreResult<std::optional<Instant>> oldest_behind(OrdersReader& reader, LedgerReader& ledger);

class MoneyWatch {
public:
    // When the oldest acceptance that is no order yet was made. Must not wait.
    using OldestInFlight = std::function<StoreResult<std::optional<Instant>>()>;

    MoneyWatch(OrdersReader& reader, OldestInFlight oldest, const PaymentDesk& desk, const OrderTally& tally)
        : reader_(reader), oldest_(std::move(oldest)), desk_(desk), tally_(tally) {}
    // A ledger with one worker, which it is read behind.
    MoneyWatch(OrdersReader& reader, LedgerReader& ledger, const PaymentDesk& desk, const OrderTally& tally);

    // False: nothing more to do at once.
    [[nodiscard]] StoreResult<bool> step(Instant now, Uptime uptime);

    // `orders_behind`: acceptances that are no orders yet.
    void describe(MoneyFigures& into, uint64_t orders_behind, Instant now);

private:
    OrdersReader& reader_;
    const OldestInFlight oldest_;
    const PaymentDesk& desk_;
    const OrderTally& tally_;
    Uptime next_{};

    std::mutex mutex_;
    Backlog backlog_;                          // guarded by mutex_
    std::optional<Instant> oldest_in_flight_;  // guarded by mutex_; when it was accepted
};

}  // namespace doorbuster
