// Sealing: which epochs are over in a partition of the ledger, and what came behind their SEAL.
//
// A record of a sealed epoch takes nothing: its units are in the epoch that was loaded after the cut, and its
// buyer may be winning there with the same key. It waits as a late row. At the next SEAL, or at once where
// the sale is closed, those that have not become a purchase by then are cancelled explicitly.
//
// For one batch, inside a transaction that its caller opens. Only the partition's worker writes these rows.
//
// Thread safety: none.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "store/orders.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster::pg {

using ItemKey = std::pair<std::string_view, std::string_view>;  // sale, item

class Sealing {
public:
    explicit Sealing(uint64_t partition) : partition_(partition) {}

    // Before the reads: an item of the batch; and one that the batch has a SEAL of.
    void expect(const ItemKey& item) { items_[item]; }
    void expect_seal(const ItemKey& item) { items_[item].has_seal = true; }

    void queue_reads(Connection& connection);
    // Behind its own answers.
    size_t take_in(const std::vector<Rows>& answers, size_t first);

    // The last epoch of its item that is over; -1: none is.
    int64_t sealed_up_to(const LedgerEntry& entry) const {
        return items_.at({entry.sale.view(), entry.item.view()}).epoch;
    }
    bool is_sealed(const LedgerEntry& entry) const {
        return static_cast<int64_t>(entry.epoch) <= sealed_up_to(entry);
    }
    // Waits for the next SEAL.
    void add_late(const LedgerRecord& record);
    // Answers what came behind the SEAL before this one and was no purchase when the batch began.
    std::vector<LedgerRecord> pass(const Seal& seal);

    void queue_writes(Connection& connection) const;

private:
    struct ItemSeals {
        int64_t epoch = -1;  // sealed up to here
        bool has_seal = false, has_passed = false;
        std::vector<LedgerRecord> late;  // read where there is a SEAL, or of this batch
    };

    const uint64_t partition_;
    std::map<ItemKey, ItemSeals> items_;
};

}  // namespace doorbuster::pg
