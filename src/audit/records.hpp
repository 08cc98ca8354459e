// Records: everything that the stores hold, read at one cut, as the audit's only input.
//
// The cut is the worker's position: all that the orders know is read at one moment, and with it
// how far the worker had come in the ledger by then. What the ledger holds up to there must be
// in the orders; what it holds behind it is in flight. The ledger is read after the orders, so
// it is never behind the position, and whatever is appended meanwhile is in flight, too. So the
// audit is right on a live sale, and holds nobody up.
//
// Bound: one sale's records in memory, about 2.5 KiB per acceptance while they are compared.
#pragma once

#include <optional>
#include <vector>

#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster::audit {

struct Records {
    std::vector<SaleRecord> sales;
    std::vector<LedgerRecord> ledger;  // in order of position
    std::vector<PurchaseRecord> purchases;
    std::vector<OrderRecord> orders;
    std::vector<Holding> holdings;
    std::vector<PaymentRecord> payments;
    std::vector<StockMove> stock_moves;  // in the order of their commits
    // Accepted, but never an order: in the order in which that was said.
    std::vector<PurchaseId> cancellations;
    std::vector<DeadLetter> dead_letters;
    uint64_t position = 0;  // the worker's
};

// Of one sale, or of all that are not reconciled.
[[nodiscard]] StoreResult<Records> read_records(LedgerReader&, OrdersReader&,
                                                const std::optional<SaleId>& only = {});

}  // namespace doorbuster::audit
