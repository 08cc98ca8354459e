// The ledger in ledger.db: one transaction per batch, durable at COMMIT.
//
// An item's sequence numbers rise from record to record: one that does not is refused, with its whole batch.
//
// There is no index on the purchase (see the schema). A reader that is asked for one reads what is new behind
// the position once, and keeps the ids in memory. Bound: `waiting_kept` and twice the
// records behind the position.
#pragma once

#include <memory>
#include <string>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/hash.hpp"
#include "store/ledger.hpp"
#include "store_sqlite/ledger_tail.hpp"
#include "store_sqlite/memory_table.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster {

class SqliteLedgerReader final : public LedgerReader {
public:
    // With the tail of the ledger that is written in this process, what is in it is not read from the file.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteLedgerReader>> open(
        const std::string& path, std::shared_ptr<LedgerTail> tail = nullptr);

    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override;
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId&) override;
    StoreResult<LedgerCut> end() override;

private:
    SqliteLedgerReader(const std::string& path, std::shared_ptr<LedgerTail> tail);
    void read_waiting(uint64_t position);
    uint64_t end_position();

    static constexpr size_t waiting_kept = 1024;

    sqlite::Connection connection_;
    sqlite::Statement after_, ids_after_, end_;
    const std::shared_ptr<LedgerTail> tail_;  // may be none
    // The records in (waiting_from_, waiting_to_], and perhaps some before.
    boost::unordered_flat_map<PurchaseId, uint64_t, SeededHash> waiting_;
    uint64_t waiting_from_ = 0, waiting_to_ = 0;
};

class SqliteLedger final : public Ledger {
public:
    // Creates or migrates the database.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteLedger>> open(const std::string& path);

    StoreResult<void> append(std::span<const LedgerEntry>) override;
    StoreResult<void> idle() override;

    std::shared_ptr<LedgerTail> tail() const { return tail_; }

private:
    // What a batch has of one item. The views are its entries' own.
    struct Numbers {
        std::string_view sale, item;
        uint64_t first, last;
    };

    // The entries that are appended, as a table.
    class Batch final : public sqlite::MemoryTable {
    public:
        void show(std::span<const LedgerEntry> entries) { entries_ = entries; }

        const char* columns() const override {
            return "CREATE TABLE batch(sale, item, purchase, buyer, units, sequence, accepted_at_ms, "
                   "replaces)";
        }
        size_t size() const override { return entries_.size(); }
        void give(sqlite3_context* to, size_t row, int column) const override;

    private:
        std::span<const LedgerEntry> entries_;
    };

    explicit SqliteLedger(const std::string& path);
    void note_number(const LedgerEntry&);

    Batch batch_;
    sqlite::Connection connection_;
    std::unique_ptr<sqlite::Statement> insert_, move_number_;
    std::vector<Numbers> numbers_;  // of the batch in hand, one per item; kept for its memory
    const std::shared_ptr<LedgerTail> tail_ = std::make_shared<LedgerTail>();
    std::optional<StoreError> upkeep_failure_;  // told at the next call
    bool failed_ = false;
};

}  // namespace doorbuster
