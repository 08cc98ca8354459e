// Backend: where sales live. Whoever serves works with the ports it hands out; which ones stand behind
// them only the wiring knows.
//
// Thread safety: purchases() and books() as their ports say; orders(), ledger(), ids(), look_at_others() and
// mend() on the orders thread; figures, describe and is_on_duty from any; the rest from the main thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audit/audit_desk.hpp"
#include "base/clock.hpp"
#include "base/snowflake.hpp"
#include "config/config.hpp"
#include "funnel/strikes.hpp"
#include "metrics/page.hpp"
#include "orders/lookups.hpp"
#include "orders/tally.hpp"
#include "orders/worker.hpp"
#include "store/audit_store.hpp"
#include "store/book_control.hpp"
#include "store/books_rebuild.hpp"
#include "store/orders.hpp"
#include "store/outbox.hpp"
#include "store/purchase_desk.hpp"
#include "store/settings.hpp"
#include "store/shared_marks.hpp"
#include "store/warm_up.hpp"

namespace doorbuster {

class Backend {
public:
    struct Hooks {
        std::function<void()> ledger_grew;  // for the worker that worker() names
        std::function<void(std::span<const PurchaseId>)> changed;
        std::function<void(const std::string& reason)> failed;  // the process must end
    };
    virtual ~Backend() = default;

    // What rows are dated with, and what is due goes by: where several processes share them, one clock.
    virtual Clock& clock() = 0;
    virtual Orders& orders() = 0;
    virtual Settings& settings() = 0;
    virtual Outbox& outbox() = 0;
    virtual AuditStore& audit() = 0;
    virtual LedgerReader& ledger() = 0;
    // When the oldest acceptance that is no order yet was made; it does not wait.
    virtual StoreResult<std::optional<Instant>> oldest_in_flight() = 0;
    virtual Snowflake& ids() = 0;
    virtual PurchaseDesk& purchases() = 0;
    virtual BookControl& books() = 0;
    // The one that the orders thread runs; none: orders are made elsewhere.
    virtual OrderWorker* worker() = 0;
    virtual OrderTally& tally() = 0;

    [[nodiscard]] virtual StoreResult<std::vector<Lookups::Readers>> lookup_readers(size_t threads) = 0;
    [[nodiscard]] virtual StoreResult<audit::AuditDesk::Readers> audit_readers() = 0;

    // What a sale has to wait for before it is ready; empty: nothing.
    virtual WarmUp warm_up() { return {}; }
    // How the operator has books rebuilt, on the orders thread; none: they are this process' own.
    virtual BooksRebuild* rebuilds() { return nullptr; }

    // Where several processes serve: a check counts once among them all; none: there is but this one.
    virtual SharedMarks* marks() { return nullptr; }
    // Strikes that are given at one of them count at all. REQUIRES: before start; they outlive this's
    // threads.
    virtual void share(Strikes&) {}

    virtual bool answers_buyers() const { return true; }
    // Whether other processes change the same sales and orders.
    virtual bool is_shared() const { return false; }
    // What they did since this was asked last: changed purchases are told, and it answers whether a sale has
    // changed.
    [[nodiscard]] virtual StoreResult<bool> look_at_others() { return false; }
    // Whether it is this process that watches the clock and the money.
    virtual bool is_on_duty() const { return true; }
    // After an error of the orders' store: true if it can be used again.
    [[nodiscard]] virtual bool mend(const StoreError& error) = 0;

    virtual void set_sinks(std::vector<ReplySink*> sinks) = 0;
    // The books as the records have them. REQUIRES: the desk has opened them.
    [[nodiscard]] virtual StoreResult<void> rebuild() = 0;
    virtual void start() = 0;
    // Every purchase that was submitted is answered.
    virtual void stop_selling() = 0;
    // REQUIRES: the orders thread has ended.
    [[nodiscard]] virtual StoreResult<void> stop() = 0;

    virtual OrderFigures order_figures() const = 0;
    virtual void describe(MetricsSnapshot& snapshot) const = 0;
};

// The greatest that the records hold: orders and payments are numbered by one generator.
[[nodiscard]] StoreResult<int64_t> last_id_of(OrdersReader& reader);

// What happened, and what to do about it.
using OpenedBackend = Result<std::unique_ptr<Backend>, std::string>;
[[nodiscard]] OpenedBackend open_backend(const Config& config, Clock& clock, Backend::Hooks hooks);

}  // namespace doorbuster
