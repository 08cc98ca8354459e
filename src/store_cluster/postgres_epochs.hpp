// PostgresEpochs: from which Redis an item's units are sold, and who may sell them.
//
// The stock row says it: an epoch, whether it is open, and while it is, the pin of the Redis. Epochs only
// rise. Whoever acts on Redis (gates, sweeper, relay) holds a lease: the primary's word that the epoch was
// open when it was asked. Nobody takes a lease away; a rebuild closes the epoch and then waits for as long
// as a lease lasts.
//
// A rebuild is a chain of conditional steps, each on the epoch that the one before it set, so that of two
// coordinators one goes on and the other finds its step refused:
//
//   close   e, open or not -> e+1, rebuilding   nobody is given a lease any more
//   cut     e+1 -> e+2, rebuilding              what Redis is to be loaded with, as of one moment
//   open    e+2 -> e+2, open, with the new pin
//
// Every step raises the stock row's version: a worker that had read the row before looks again.
//
// Thread safety: none, like the connection that each call is given.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/orders.hpp"
#include "store_cluster/pg_connection.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster {

struct ItemEpoch {
    SaleId sale;
    ItemId item;
    uint64_t epoch = 0;
    std::optional<std::string> pin{};  // none: it is being rebuilt
    // Nothing of it can be on its way: it was never loaded, or its sale is over and all was placed.
    bool is_at_rest = false;
};

// Counted from before the request went out: whatever was closed since was closed after that.
class EpochLease {
public:
    EpochLease() = default;
    EpochLease(pg::LeaseTime time, std::vector<ItemEpoch> items) : time_(time), items_(std::move(items)) {}

    bool holds(pg::BootTime now = pg::boot_time()) const { return time_.holds(now); }
    pg::BootTime ends_at() const { return time_.ends_at(); }
    // Items of every sale that is not reconciled. What is being rebuilt is here, too: it has no pin.
    const std::vector<ItemEpoch>& items() const { return items_; }
    const ItemEpoch* find(const SaleId& sale, const ItemId& item) const {
        const auto found = std::ranges::find_if(
            items_, [&](const ItemEpoch& one) { return one.sale == sale && one.item == item; });
        return found == items_.end() ? nullptr : &*found;
    }

private:
    pg::LeaseTime time_;
    std::vector<ItemEpoch> items_;
};

// An item as its coordinator sees it.
struct WatchedItem {
    ItemEpoch now;
    SaleState state = SaleState::draft;  // of the sale
    uint64_t sale_version = 0;
    std::string asked_for{};  // why this very epoch has to end, if somebody said so
    bool has_late = false;    // records behind a SEAL that wait for the next one
};

// Everything that a Redis bucket is loaded with, as PostgreSQL has it at one moment.
struct EpochCut {
    uint64_t epoch = 0;
    SaleRecord sale;
    Stock stock;
    struct Known {
        PurchaseRecord purchase;
        uint64_t epoch;  // with its sequence: the take
    };
    std::vector<Known> purchases;  // of the item, finished ones too
};

class PostgresEpochs {
public:
    explicit PostgresEpochs(pg::Connection& connection) : connection_(connection) {}

    // `holder` is for people: host and process. It writes: a primary that another one has replaced, and
    // does not know it yet, can still read, but its synchronous commit never returns.
    [[nodiscard]] StoreResult<EpochLease> lease(const std::string& holder, milliseconds lasts);

    // Whether a book was loaded for the first time that the lease does not know of. No other can have been
    // opened behind its back: a rebuild waits for every lease. Throws what pg::guarded makes a StoreError of.
    static bool has_new_books(pg::Connection& connection, const EpochLease& lease);

    // Nothing where the item's epoch is another by now; else the epoch that the next step is asked with.
    [[nodiscard]] StoreResult<std::optional<uint64_t>> close(const SaleId&, const ItemId&, uint64_t epoch);
    [[nodiscard]] StoreResult<std::optional<EpochCut>> cut(const SaleId&, const ItemId&, uint64_t epoch);
    [[nodiscard]] StoreResult<bool> open(const SaleId&, const ItemId&, uint64_t epoch,
                                         const std::string& pin);

    // Items of every sale that is not reconciled.
    [[nodiscard]] StoreResult<std::vector<WatchedItem>> watch();
    // The operator's word: the epoch that the item has now, and that is answered, is to end. not_found.
    [[nodiscard]] StoreResult<ItemEpoch> ask_for_rebuild(const SaleId&, const ItemId&,
                                                         const std::string& reason);
    [[nodiscard]] StoreResult<std::vector<ItemEpoch>> items_of(const SaleId&);
    // Whoever acts on it doubts its book: this very epoch is to end, if it has not yet.
    [[nodiscard]] StoreResult<void> doubt(const ItemEpoch&, const std::string& reason);
    // The sale, with what Redis is to hear of it. not_found.
    [[nodiscard]] StoreResult<SaleRecord> sale(const SaleId&);

    // Whether the workers of all these partitions have passed the SEAL that closes `epoch`.
    [[nodiscard]] StoreResult<bool> is_sealed(const SaleId&, const ItemId&, uint64_t epoch,
                                              std::span<const int64_t> partitions);

private:
    pg::Connection& connection_;
};

}  // namespace doorbuster
