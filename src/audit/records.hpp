// Records: everything that the stores hold, read at one cut, as the audit's only input.
#pragma once

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
    std::vector<DeadLetter> dead_letters;
    uint64_t position = 0;  // the worker's
};

// REQUIRES: nobody writes meanwhile, or the difference is what was in flight.
[[nodiscard]] StoreResult<Records> read_records(LedgerReader&, OrdersReader&);

}  // namespace doorbuster::audit
