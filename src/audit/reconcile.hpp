// Reconcile: one run of the audit, in the two steps that two threads take.
//
// Counting reads and decides nothing; it may take its time beside a live sale. Settling writes:
// the run's history and, where they are asked for, the repairs.
//
// Steppable: no thread, no clock of its own.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "audit/report.hpp"
#include "store/audit_store.hpp"
#include "store/book_control.hpp"

namespace doorbuster::audit {

// What the operator wants done about what is found.
struct Wish {
    bool repair = false;  // carry out the deltas that are proposed
    // Keys of differences that somebody has looked at: known from here on. Nothing else is ever
    // acknowledged, least of all by a repair.
    std::set<std::string> acknowledge{};

    bool is_any() const { return repair || !acknowledge.empty(); }
};

// not_found: no such sale.
[[nodiscard]] StoreResult<Report> count_sale(LedgerReader&, OrdersReader&, AuditReader&, const SaleId&,
                                             Trigger, Instant now);

struct Settling {
    AuditStore& store;
    BookControl& books;
    std::function<OrderId(Instant)> next_order;  // for a record that is placed after all
    // After the commit of each repair that did something. May be empty.
    std::function<void(const RepairOutcome&)> repaired{};
};

// Settlement: gives the run its number, carries out what is wished, tells the books, and records
// the run as history; a piece at a time, so that orders and payments are not kept waiting.
//
// Thread safety: one thread at a time; step() where the orders are written.
class Settlement {
public:
    static constexpr size_t findings_per_step = 50;

    // REQUIRES: all of them outlive this.
    Settlement(Report& report, const Wish& wish, const Settling& settling)
        : report_(report), wish_(wish), settling_(settling) {}

    // What the next step needs and no store: not on the thread that writes the orders.
    void prepare();
    // not_allowed, from the first step: a key that is wished for is none of this run's differences,
    // or one that may not be acknowledged. Nothing was done.
    [[nodiscard]] StoreResult<void> step(Instant now);
    bool is_done() const { return is_recorded_; }

private:
    StoreResult<void> begin(Instant now);
    StoreResult<void> check_wish() const;
    void settle_one(Finding& finding, Instant now) const;
    bool is_settled() const { return report_.run != 0 && next_ == report_.findings.size(); }

    Report& report_;
    const Wish& wish_;
    const Settling& settling_;
    size_t next_ = 0;  // finding
    bool is_recorded_ = false;
    std::vector<RunDifference> differences_;  // both once all are settled
    std::string json_;
};

// The whole of it at once.
[[nodiscard]] StoreResult<void> settle(Report&, const Wish&, const Settling&, Instant now);

}  // namespace doorbuster::audit
