// Placing: turns a batch of ledger records into orders, inside a transaction that its caller opens.
//
// Each record, in the order of the ledger:
//   1. its id is known, by this take: skipped
//   2. its id is known, by another take: skipped; if its epoch is open, Redis has lost what it had
//      acknowledged, and a rebuild is asked for
//   3. its epoch is sealed: a late row
//   4. its take is known, under another id: a rebuild is asked for, and it goes on with 5
//   5. stock and the buyer's limit suffice: an order. Else an explicit cancellation
// A SEAL closes the epochs up to its own for what comes behind it.
//
// Three steps, whatever the batch's size two round trips: read what the records rest on, decide each
// of them in the order of the ledger, write all of it with one statement per table. The stock row of
// each item is updated only if its version is still the one that was read; as whoever changes stock,
// orders or purchases of an item raises it, nothing that was decided here can have been overtaken.
//
// Thread safety: none.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "store/row_words.hpp"
#include "store_cluster/pg_connection.hpp"
#include "store_cluster/pg_journal.hpp"
#include "store_cluster/pg_sealing.hpp"

namespace doorbuster::pg {

// The partition of the ledger that a worker reads, under its lease's generation.
struct WorkerPlace {
    uint64_t partition = 0, generation = 0;
};

// Moves the position of the worker's partition. Throws conflict if it is not `expected`, or if another
// worker has taken the partition over.
void move_position(Connection& connection, WorkerPlace place, uint64_t expected, uint64_t to);

// The explicit cancellation of a purchase whose record becomes a dead letter; nothing if it was placed
// before.
void cancel_unplaceable(Connection& connection, WorkerPlace place, const LedgerRecord& record, Instant now);

class Placing {
public:
    // `locked`: the stock rows are locked from the start; for those whom contention has sent back.
    Placing(Connection& connection, WorkerPlace place, std::span<const Placement> placements, Instant now,
            bool locked);

    // With the position, from `expected` to the last record's. Throws conflict if it is another or if
    // the generation is; not_allowed if a record cannot be placed; Contention if somebody was faster.
    std::vector<Placed> run_from(uint64_t expected_position);
    // Without it: a repair.
    std::vector<Placed> run();

private:
    struct Take {
        uint64_t epoch = 0, bucket = 0, sequence = 0;
        friend auto operator<=>(const Take&, const Take&) = default;
    };
    static Take take_of(const LedgerEntry& entry) {
        return {entry.epoch, entry.bucket, entry.acceptance.sequence};
    }
    struct ItemBatch {
        int64_t price_minor = 0, units_per_buyer_max = 0, payment_window_s = 0;
        std::string currency;
        StockPolicy policy = StockPolicy::reserve;
        int64_t version = 0, epoch = 0;
        bool is_epoch_open = false;
        bool is_closed = false;  // the sale

        int64_t units_available = 0;             // what is left of them as the batch goes on
        int64_t units_held = 0, units_sold = 0;  // taken by the batch
        bool is_touched = false;
        std::map<std::string_view, int64_t> active_units;  // by buyer
        std::map<Take, PurchaseId> takes;                  // those that the batch's records name
    };
    struct Continued {
        std::optional<OrderId> order;
        std::optional<OrderState> state;
    };

    size_t queue_reads();
    std::vector<Placed> finish(const std::vector<Rows>& answers, size_t first);
    void take_in(const std::vector<Rows>& answers, size_t first);
    Placed decide(const Placement& placement);
    Placed place(const Placement& placement, ItemBatch& item);
    Placed pass(const Seal& seal);
    bool has_ended(const LedgerEntry& entry, const ItemBatch& item) const;
    bool has_lost_writes(const LedgerEntry& entry, const ItemBatch& item) const;
    void ask_for_rebuild(const LedgerEntry& entry, std::string_view reason);
    Placed reinstate(const Placement& placement, ItemBatch& item, Continued& continued);
    Placed cancel(const Placement& placement, std::string_view reason);
    void cancel_late(const LedgerRecord& record);
    bool take_units(ItemBatch& item, int64_t units, HoldState to);
    void add_purchase(const LedgerRecord& record, std::string_view reason, std::optional<OrderId> order);
    void add_order(const Placement& placement, const ItemBatch& item);
    void write();
    void write_purchases();

    Connection& connection_;
    const WorkerPlace place_;
    const std::span<const Placement> placements_;
    const Instant now_;
    const bool locked_;

    std::map<ItemKey, ItemBatch> items_;  // sorted: the order in which rows are locked; views of them
    std::map<PurchaseId, Take> known_;    // in the inbox, or earlier in this batch
    Sealing sealing_;
    std::map<PurchaseId, Continued> continued_;  // what the records replace

    Journal journal_;
    struct {
        Uuids ids;
        Texts sales, items, buyers, states, reasons;
        Integers units, epochs, buckets, sequences, accepted, positions, orders;
    } purchases_;
    struct {
        Texts sales, items, reasons;
        Integers epochs;
    } rebuilds_;
    struct {
        Integers ids, units, amounts, pay_by;
        Uuids purchases, holders;
        Texts sales, items, buyers, currencies, holds;
    } orders_;
    struct {
        Uuids purchases;
        Integers orders;
    } given_;  // buried purchases that get their order after all
    struct {
        Integers ids;
        Uuids holders;
        Texts sales, items;
    } reinstated_;
};

}  // namespace doorbuster::pg
