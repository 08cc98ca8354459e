// AuditStore: the audit's history, and the repairs that it may make.
//
// Nothing that the audit finds is overwritten with a computed figure: what is in flight would be
// forgotten. A repair is a delta or a step of an order, under a key that is used once, in one
// transaction with its row in the log of repairs: doing it again does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sale/order_life.hpp"
#include "store/book_control.hpp"
#include "store/errors.hpp"
#include "store/orders.hpp"

namespace doorbuster {

struct Acknowledge {};  // nothing is changed: somebody has looked at it, and it is known from here on
struct ShiftUnits {     // a delta on the stock row; its three parts add up to nothing
    SaleId sale;
    ItemId item;
    int64_t available = 0, held = 0, sold = 0;
    // The last repair of this item when it was counted. Everything else that happens to the row
    // meanwhile is a delta itself and leaves this one right; another repair does not.
    uint64_t repair_seen = 0;
};
struct PlaceRecord {  // as the worker would have, without moving its position
    LedgerRecord record;
    OrderId order{};
};
struct CancelPurchase {  // explicitly: the order that it names is not there
    SaleId sale;
    ItemId item;
    PurchaseId purchase;
    OrderId order{};
    std::string reason;
};
// An OrderMove, a PaymentChange: conditional on the versions that were read, or on the absence of
// a payment's row.
using Mending = std::variant<Acknowledge, ShiftUnits, PlaceRecord, CancelPurchase, OrderMove, PaymentChange>;

struct Repair {
    std::string key;            // once; a second time nothing is done
    bool acknowledges = false;  // what it leaves in the records is known from here on, under this key
    uint64_t run = 0;           // that found it
    std::string words;          // what it does, for people
    Mending mending;
};

enum class Repaired : uint8_t {
    done,
    done_before,
    changed_meanwhile,  // the records are not those that were counted; nothing was done
};

// What a repair that is done has changed, for those who keep it in memory.
struct RepairOutcome {
    struct Step {
        OrderState from, to;
    };

    Repaired repaired = Repaired::done;
    std::optional<ControlCommand> tell{};  // the books
    bool made_order = false;
    std::optional<Step> step{};           // of an order
    std::optional<PurchaseId> changed{};  // whose view did: by the id that its buyer knows
};

struct RunDifference {
    std::string kind, key, detail, repair, outcome;
};

struct ReconcileRun {
    uint64_t number = 0;  // rises
    SaleId sale;
    Instant at{};
    std::string trigger{};  // "operator", "timer", "close"
    uint64_t position = 0;
    bool agrees = false;
    uint64_t differences = 0, known = 0, repaired = 0;
};

// Reads. Thread safety: an instance belongs to one thread.
class AuditReader {
public:
    virtual ~AuditReader() = default;

    // Newest first; those older than `before` where it is given.
    [[nodiscard]] virtual StoreResult<std::vector<ReconcileRun>> runs(const SaleId&,
                                                                      std::optional<uint64_t> before,
                                                                      size_t count_max) = 0;
    // The whole report, JSON.
    [[nodiscard]] virtual StoreResult<std::optional<std::string>> report(const SaleId&, uint64_t run) = 0;
    [[nodiscard]] virtual StoreResult<std::vector<RunDifference>> differences(uint64_t run) = 0;
    // The keys of what is known.
    [[nodiscard]] virtual StoreResult<std::set<std::string>> acknowledged() = 0;
};

// Writes. Thread safety: an instance belongs to one thread.
class AuditStore {
public:
    virtual ~AuditStore() = default;

    // Begins a run and gives it its number; it is history once it is recorded.
    [[nodiscard]] virtual StoreResult<uint64_t> begin(const SaleId&, Instant now) = 0;
    // The run that was begun under this number, with every difference in it. not_found.
    [[nodiscard]] virtual StoreResult<void> record(const ReconcileRun&, std::span<const RunDifference>,
                                                   const std::string& report) = 0;

    // Carries it out, in one transaction with its row in the log of repairs.
    // not_allowed: it cannot be done; nothing was.
    [[nodiscard]] virtual StoreResult<RepairOutcome> repair(const Repair&, Instant now) = 0;
};

}  // namespace doorbuster
