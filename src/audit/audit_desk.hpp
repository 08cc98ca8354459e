// AuditDesk: when the audit runs by itself, and what it answers when it is asked.
//
// Every `every` it counts each sale that sells or is closed. After the close it counts again as
// soon as every order is settled; a closed sale with nothing in flight, nothing unsettled and no
// difference is reconciled.
//
// Steppable: no thread, no clock of its own. Thread safety: none, but for the figures.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "audit/reconcile.hpp"
#include "audit/replay.hpp"
#include "audit/report.hpp"
#include "base/clock.hpp"
#include "store/audit_store.hpp"

namespace doorbuster::audit {

struct Reconciliation {
    Report report;
    std::optional<Report> after_repair;  // counted once more, where something was to be done

    bool agrees() const { return after_repair ? after_repair->agrees() : report.agrees(); }
};
std::string json_of(const Reconciliation&);

class AuditDesk {
public:
    struct Readers {  // connections of its own
        std::unique_ptr<LedgerReader> ledger;
        std::unique_ptr<OrdersReader> orders;
        std::unique_ptr<AuditReader> history;
    };
    struct Hooks {
        // A Settlement's steps where the orders are written; returns when it is done.
        std::function<StoreResult<void>(Report&, const Wish&)> settle;
        // The sale may step to reconciled.
        std::function<void(const SaleId&)> reconciled;
    };
    struct Figures {  // of each sale's last run
        SaleId sale;
        uint64_t differences = 0;
        Instant at{};
    };

    AuditDesk(Readers readers, std::chrono::seconds every, Hooks hooks);

    // not_found: no such sale. not_allowed: what is to be acknowledged cannot be; nothing was done.
    [[nodiscard]] StoreResult<Reconciliation> reconcile(const SaleId&, Trigger, const Wish&, Instant now);
    [[nodiscard]] StoreResult<Replayed> replay(const SaleId&);
    AuditReader& history() { return *readers_.history; }

    // Runs what is due; at most one sale, so that whoever asks waits for no more. An error is
    // for the log: the next tick tries again.
    [[nodiscard]] StoreResult<void> tick(Instant now, Uptime uptime);

    // Any thread. Sales that are reconciled for good are not among them.
    std::vector<Figures> figures() const;

private:
    struct Seen {
        Uptime at{};               // its last run, or when it was first seen
        bool after_close = false;  // that run was
        bool settled = false;      // and nothing could change by itself any more
    };

    bool is_due(const Seen&, bool is_closed, bool is_settled, Uptime) const;
    void note(const Report&);

    const Readers readers_;
    const std::chrono::seconds every_;
    const Hooks hooks_;
    std::map<SaleId, Seen> seen_;  // one per sale that sells or is closed
    mutable std::mutex mutex_;
    std::map<SaleId, Figures> figures_;  // guarded by mutex_; as seen_
};

}  // namespace doorbuster::audit
