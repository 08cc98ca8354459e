// Reconcile: one run of the audit, in the two steps that two threads take.
//
// Counting reads and decides nothing; it may take its time beside a live sale. Settling writes:
// the run's history and, where they are asked for, the repairs.
//
// Steppable: no thread, no clock of its own.
#pragma once

#include <functional>
#include <vector>

#include "audit/report.hpp"
#include "store/audit_store.hpp"
#include "store/book_control.hpp"

namespace doorbuster::audit {

// not_found: no such sale.
[[nodiscard]] StoreResult<Report> count_sale(LedgerReader&, OrdersReader&, AuditReader&, const SaleId&,
                                             Trigger, Instant now);

struct Settling {
    AuditStore& store;
    BookControl& books;
    std::function<OrderId(Instant)> next_order;  // for a record that is placed after all
};

// Gives the run its number, carries out what is proposed if `repairs` says so, tells the books,
// and records the run as history. Runs where the orders are written.
[[nodiscard]] StoreResult<void> settle(Report&, bool repairs, const Settling&, Instant now);

}  // namespace doorbuster::audit
