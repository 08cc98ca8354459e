#include "store_sqlite/sqlite_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "sale/sale.hpp"
#include "store_sqlite/columns.hpp"
#include "store_sqlite/schema.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::guarded;
using sqlite::Rows;

namespace {

sqlite::Failure given_before(std::string_view sale, std::string_view item, uint64_t sequence) {
    return {
        StoreErrc::not_allowed,
        fmt::format("sequence number {} of {}/{} is not above the last one that was given (last_sequences)",
                    sequence, sale, item)};
}

constexpr std::string_view select_records =
    "SELECT position, sale, item, purchase, buyer, units, sequence, accepted_at_ms, "
    "replaces FROM ledger ";

LedgerRecord record_of(const sqlite::Statement& row) {
    LedgerRecord record{.position = static_cast<uint64_t>(row.integer(0)), .entry = {}, .raw = {}};
    const auto sale = SaleId::from(row.text(1));
    const auto item = ItemId::from(row.text(2));
    const auto purchase = sqlite::purchase_of(row.blob(3));
    const auto buyer = BuyerId::from(row.text(4));
    const int64_t units = row.integer(5), sequence = row.integer(6);
    const bool continues = !row.is_null(8);
    const auto replaces = continues ? sqlite::purchase_of(row.blob(8)) : std::nullopt;
    if (sale && item && purchase && buyer && units >= 1 && units <= units_per_purchase_max && sequence >= 1 &&
        (replaces || !continues)) {
        record.entry = {*sale,
                        *item,
                        {*purchase, *buyer, static_cast<uint32_t>(units), static_cast<uint64_t>(sequence),
                         from_ms(row.integer(7))},
                        replaces};
    } else {
        record.raw = fmt::format("sale={} item={} buyer={} units={} sequence={}", row.text(1), row.text(2),
                                 row.text(4), units, sequence);
    }
    return record;
}

}  // namespace

SqliteLedgerReader::SqliteLedgerReader(const std::string& path, std::shared_ptr<LedgerTail> tail)
    : connection_(path, Access::read),
      after_(connection_, std::string(select_records) + "WHERE position > ? ORDER BY position LIMIT ?"),
      ids_after_(connection_, "SELECT position, purchase FROM ledger WHERE position > ? ORDER BY position"),
      end_(connection_, "SELECT coalesce(max(position), 0) FROM ledger"),
      tail_(std::move(tail)) {
    connection_.execute("PRAGMA query_only = ON");
}

StoreResult<std::unique_ptr<SqliteLedgerReader>> SqliteLedgerReader::open(const std::string& path,
                                                                          std::shared_ptr<LedgerTail> tail) {
    return guarded("opening " + path, [&] {
        return std::unique_ptr<SqliteLedgerReader>(new SqliteLedgerReader(path, std::move(tail)));
    });
}

StoreResult<std::vector<LedgerRecord>> SqliteLedgerReader::read_after(uint64_t position, size_t count_max) {
    if (tail_) {
        if (auto newest = tail_->read_after(position, count_max)) return *std::move(newest);
    }
    return guarded("reading the ledger", [&] {
        std::vector<LedgerRecord> records;
        const uint64_t end = end_position();
        if (end <= position) return records;
        records.reserve(std::min<size_t>(count_max, end - position));
        Rows rows(after_.bind(1, static_cast<int64_t>(position)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) records.push_back(record_of(after_));
        return records;
    });
}

void SqliteLedgerReader::read_waiting(uint64_t position) {
    if (position < waiting_from_ || position >= waiting_to_) {
        waiting_ = {};
        waiting_to_ = position;
    } else if (waiting_.size() > waiting_kept + 2 * (waiting_to_ - position)) {
        erase_if(waiting_, [&](const auto& one) { return one.second <= position; });
        waiting_.rehash(0);
    }
    waiting_from_ = position;
    for (Rows rows(ids_after_.bind(1, static_cast<int64_t>(waiting_to_))); rows.next();) {
        waiting_to_ = static_cast<uint64_t>(rows->integer(0));
        if (const auto purchase = sqlite::purchase_of(rows->blob(1))) waiting_[*purchase] = waiting_to_;
    }
}

StoreResult<std::optional<LedgerRecord>> SqliteLedgerReader::find_after(uint64_t position,
                                                                        const PurchaseId& purchase) {
    return guarded("reading the ledger", [&]() -> std::optional<LedgerRecord> {
        read_waiting(position);
        const auto found = waiting_.find(purchase);
        if (found == waiting_.end() || found->second <= position) return {};
        Rows rows(after_.bind(1, static_cast<int64_t>(found->second - 1)).bind(2, int64_t{1}));
        return rows.next() ? std::optional(record_of(after_)) : std::nullopt;
    });
}

uint64_t SqliteLedgerReader::end_position() {
    Rows rows(end_);
    return rows.next() ? static_cast<uint64_t>(rows->integer(0)) : 0;
}

StoreResult<LedgerCut> SqliteLedgerReader::end() {
    return guarded("reading the ledger's end", [&] { return LedgerCut(end_position()); });
}

SqliteLedger::SqliteLedger(const std::string& path) : connection_(path, Access::write) {
    sqlite::prepare(connection_, sqlite::ledger_schema);
    batch_.attach(connection_, "batch");
    // OR FAIL: the transaction is given up then, so that SQLite need not keep copies of what a statement
    // changes.
    insert_ = std::make_unique<sqlite::Statement>(
        connection_,
        "INSERT OR FAIL INTO ledger(sale, item, purchase, buyer, units, sequence, accepted_at_ms, replaces) "
        "SELECT sale, item, purchase, buyer, units, sequence, accepted_at_ms, replaces FROM batch");
    move_number_ = std::make_unique<sqlite::Statement>(
        connection_,
        "INSERT INTO last_sequences(sale, item, sequence) VALUES(?1, ?2, ?4) "
        "ON CONFLICT(sale, item) DO UPDATE SET sequence = ?4 WHERE sequence < ?3");
}

StoreResult<std::unique_ptr<SqliteLedger>> SqliteLedger::open(const std::string& path) {
    return guarded("opening " + path, [&] { return std::unique_ptr<SqliteLedger>(new SqliteLedger(path)); });
}

void SqliteLedger::Batch::give(sqlite3_context* to, size_t row, int column) const {
    const LedgerEntry& entry = entries_[row];
    const Acceptance& acceptance = entry.acceptance;
    switch (column) {
        case 0:
            return give_text(to, entry.sale.view());
        case 1:
            return give_text(to, entry.item.view());
        case 2:
            return give_blob(to, acceptance.purchase.bytes);
        case 3:
            return give_text(to, acceptance.buyer.view());
        case 4:
            return give_number(to, acceptance.units);
        case 5:
            return give_number(to, static_cast<int64_t>(acceptance.sequence));
        case 6:
            return give_number(to, to_ms(acceptance.accepted_at));
        case 7:
            if (entry.replaces) give_blob(to, entry.replaces->bytes);  // else NULL
            return;
        default:
            return;
    }
}

void SqliteLedger::note_number(const LedgerEntry& entry) {
    const uint64_t sequence = entry.acceptance.sequence;
    const auto known = std::ranges::find_if(numbers_, [&](const Numbers& one) {
        return one.item == entry.item.view() && one.sale == entry.sale.view();
    });
    if (known == numbers_.end()) {
        numbers_.push_back({entry.sale.view(), entry.item.view(), sequence, sequence});
    } else if (sequence > known->last) {
        known->last = sequence;
    } else {
        throw given_before(known->sale, known->item, sequence);
    }
}

StoreResult<void> SqliteLedger::append(std::span<const LedgerEntry> entries) {
    CHECK(!failed_);
    failed_ = upkeep_failure_.has_value();
    if (failed_) return *upkeep_failure_;
    auto done = guarded("appending to the ledger", [&] {
        sqlite::Transaction transaction(connection_);
        numbers_.clear();
        for (const LedgerEntry& entry : entries) note_number(entry);
        batch_.show(entries);
        insert_->run();
        batch_.show({});
        for (const Numbers& one : numbers_) {
            const int moved = move_number_->bind(1, one.sale)
                                  .bind(2, one.item)
                                  .bind(3, static_cast<int64_t>(one.first))
                                  .bind(4, static_cast<int64_t>(one.last))
                                  .run();
            if (moved != 1) throw given_before(one.sale, one.item, one.first);
        }
        transaction.commit();
    });
    failed_ = done.has_error();
    if (done) tail_->appended(entries, static_cast<uint64_t>(sqlite3_last_insert_rowid(connection_.raw())));
    // The append has landed: a checkpoint that fails now does not undo it.
    if (done && connection_.is_log_full()) (void)idle();
    return done;
}

StoreResult<void> SqliteLedger::idle() {
    // A failed sync may have dropped what it was to write: nothing is tried again after it.
    if (upkeep_failure_) return *upkeep_failure_;
    auto done = guarded("checkpointing the ledger", [&] { connection_.checkpoint(); });
    if (!done) upkeep_failure_ = done.error();
    return done;
}

}  // namespace doorbuster
