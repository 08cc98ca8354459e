// Rebuilding the books at start: what the orders hold at the worker's position, then
// the ledger records behind it, as facts.
#pragma once

#include "shard/shard.hpp"
#include "store/ledger.hpp"
#include "store/orders.hpp"

namespace doorbuster {

struct Rebuilt {
    uint64_t purchases = 0;        // from the orders
    uint64_t ledger_records = 0;   // accepted, not yet ordered
    uint64_t ledger_position = 0;  // of the last record
};

// REQUIRES: the books of every sale are open (SaleDesk::load), nothing is decided yet.
[[nodiscard]] StoreResult<Rebuilt> rebuild(Shard&, OrdersReader&, LedgerReader&);

}  // namespace doorbuster
