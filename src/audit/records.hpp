// Records: everything that the stores hold, read at one cut, as the audit's only input.
//
// The cut is the workers' positions, one for each partition of the ledger: all that the orders know is read
// at one moment, and with it how far the workers had come by then. What the ledger holds up to there must be
// in the orders; what it holds behind it is in flight. The ledger is read after the orders, so
// it is never behind the positions, and whatever is appended meanwhile is in flight, too. But what
// it promises is counted only as far as it went before the orders were read: what came later may have taken
// units that the orders, as they were read, still hold. So the audit is right on a live sale, and holds
// nobody up.
//
// Bound: one sale's records in memory, about 2.5 KiB per acceptance while they are compared.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster::audit {

struct Records {
    std::vector<SaleRecord> sales;
    std::vector<LedgerRecord> ledger;  // in order of position: one partition behind the other
    std::vector<PurchaseRecord> purchases;
    std::vector<OrderRecord> orders;
    std::vector<Holding> holdings;
    std::vector<PaymentRecord> payments;
    std::vector<StockMove> stock_moves;  // in the order of their commits
    // Accepted, but never an order: in the order in which that was said.
    std::vector<PurchaseId> cancellations;
    std::vector<DeadLetter> dead_letters;
    std::set<uint64_t> late;  // positions of those that wait for the next SEAL
    LedgerCut position;       // the workers'
    LedgerCut end_before;     // of the ledger, before the orders were read
};

// Of one sale, or of all that are not reconciled.
[[nodiscard]] StoreResult<Records> read_records(LedgerReader&, OrdersReader&,
                                                const std::optional<SaleId>& only = {});

}  // namespace doorbuster::audit
