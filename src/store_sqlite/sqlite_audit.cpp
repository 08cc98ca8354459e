#include "store_sqlite/sqlite_audit.hpp"

#include "store/repair_outcomes.hpp"
#include "store_sqlite/columns.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::bind;
using sqlite::Failure;
using sqlite::guarded;
using sqlite::required;
using sqlite::Rows;
using sqlite::Statement;
using sqlite::Transaction;

SqliteAuditReader::SqliteAuditReader(const std::string& path) : connection_(path, Access::read) {
    connection_.execute("PRAGMA query_only = ON");
}

StoreResult<std::unique_ptr<SqliteAuditReader>> SqliteAuditReader::open(const std::string& path) {
    return guarded("opening " + path,
                   [&] { return std::unique_ptr<SqliteAuditReader>(new SqliteAuditReader(path)); });
}

StoreResult<std::vector<ReconcileRun>> SqliteAuditReader::runs(const SaleId& sale,
                                                               std::optional<uint64_t> before,
                                                               size_t count_max) {
    return guarded("reading the reconciliations", [&] {
        Statement select(connection_,
                         "SELECT number, at_ms, cause, position, agrees, differences, known, repaired "
                         "FROM reconcile_runs WHERE sale = ?1 AND (?2 IS NULL OR number < ?2) "
                         "AND report IS NOT NULL ORDER BY number DESC LIMIT ?3");
        select.bind(1, sale.view()).bind(3, static_cast<int64_t>(count_max));
        before ? select.bind(2, static_cast<int64_t>(*before)) : select.bind_null(2);
        std::vector<ReconcileRun> runs;
        Rows rows(select);
        while (rows.next()) {
            runs.push_back({.number = static_cast<uint64_t>(rows->integer(0)),
                            .sale = sale,
                            .at = from_ms(rows->integer(1)),
                            .trigger = std::string(rows->text(2)),
                            .position = static_cast<uint64_t>(rows->integer(3)),
                            .agrees = rows->integer(4) != 0,
                            .differences = static_cast<uint64_t>(rows->integer(5)),
                            .known = static_cast<uint64_t>(rows->integer(6)),
                            .repaired = static_cast<uint64_t>(rows->integer(7))});
        }
        return runs;
    });
}

StoreResult<std::optional<std::string>> SqliteAuditReader::report(const SaleId& sale, uint64_t run) {
    return guarded("reading a reconciliation", [&]() -> std::optional<std::string> {
        Statement select(
            connection_,
            "SELECT report FROM reconcile_runs WHERE number = ? AND sale = ? AND report IS NOT NULL");
        Rows rows(select.bind(1, static_cast<int64_t>(run)).bind(2, sale.view()));
        if (!rows.next()) return std::nullopt;
        return std::string(rows->text(0));
    });
}

StoreResult<std::vector<RunDifference>> SqliteAuditReader::differences(uint64_t run) {
    return guarded("reading differences", [&] {
        Statement select(connection_,
                         "SELECT kind, key, detail, repair, outcome FROM reconcile_differences "
                         "WHERE run = ? ORDER BY ordinal");
        std::vector<RunDifference> found;
        Rows rows(select.bind(1, static_cast<int64_t>(run)));
        while (rows.next()) {
            found.push_back({std::string(rows->text(0)), std::string(rows->text(1)),
                             std::string(rows->text(2)), std::string(rows->text(3)),
                             std::string(rows->text(4))});
        }
        return found;
    });
}

StoreResult<std::set<std::string>> SqliteAuditReader::acknowledged() {
    return guarded("reading what is known", [&] {
        Statement select(connection_, "SELECT key FROM repairs WHERE acknowledges == 1");
        std::set<std::string> keys;
        Rows rows(select);
        while (rows.next()) keys.emplace(rows->text(0));
        return keys;
    });
}

SqliteAudit::SqliteAudit(sqlite::Connection& connection, std::optional<StoreError>& failure, Place place)
    : connection_(connection),
      failure_(failure),
      place_(std::move(place)),
      journal_(connection),
      moves_(connection, journal_) {}

StoreResult<uint64_t> SqliteAudit::begin(const SaleId& sale, Instant now) {
    return writing("beginning a reconciliation", [&] {
        Transaction transaction(connection_);
        Statement insert(connection_,
                         "INSERT INTO reconcile_runs(sale, at_ms, cause, position, agrees, differences, "
                         "known, repaired) VALUES(?, ?, '', 0, 0, 0, 0, 0)");
        insert.bind(1, sale.view()).bind(2, to_ms(now)).run();
        const auto number = static_cast<uint64_t>(connection_.read_integer("SELECT last_insert_rowid()"));
        transaction.commit();
        return number;
    });
}

StoreResult<void> SqliteAudit::record(const ReconcileRun& run, std::span<const RunDifference> differences,
                                      const std::string& report) {
    return writing("recording a reconciliation", [&] {
        Transaction transaction(connection_);
        Statement update(connection_,
                         "UPDATE reconcile_runs SET at_ms = ?3, cause = ?4, position = ?5, agrees = ?6, "
                         "differences = ?7, known = ?8, repaired = ?9, report = ?10 "
                         "WHERE number = ?1 AND sale = ?2");
        const int updated = update.bind(1, static_cast<int64_t>(run.number))
                                .bind(2, run.sale.view())
                                .bind(3, to_ms(run.at))
                                .bind(4, run.trigger)
                                .bind(5, static_cast<int64_t>(run.position))
                                .bind(6, run.agrees ? 1 : 0)
                                .bind(7, static_cast<int64_t>(run.differences))
                                .bind(8, static_cast<int64_t>(run.known))
                                .bind(9, static_cast<int64_t>(run.repaired))
                                .bind(10, report)
                                .run();
        if (updated != 1) throw Failure(StoreErrc::not_found, "no such run was begun");
        Statement insert(
            connection_,
            "INSERT INTO reconcile_differences(run, ordinal, kind, key, detail, repair, outcome) "
            "VALUES(?, ?, ?, ?, ?, ?, ?)");
        for (size_t i = 0; i < differences.size(); ++i) {
            const RunDifference& one = differences[i];
            insert.bind(1, static_cast<int64_t>(run.number))
                .bind(2, static_cast<int64_t>(i))
                .bind(3, one.kind)
                .bind(4, one.key)
                .bind(5, one.detail)
                .bind(6, one.repair)
                .bind(7, one.outcome)
                .run();
        }
        transaction.commit();
    });
}

StoreResult<RepairOutcome> SqliteAudit::repair(const Repair& repair, Instant now) {
    return writing("repairing", [&]() -> RepairOutcome {
        Transaction transaction(connection_);
        Statement insert(connection_,
                         "INSERT INTO repairs(key, run, acknowledges, words, done_at_ms) "
                         "VALUES(?, ?, ?, ?, ?) ON CONFLICT(key) DO NOTHING");
        const int inserted = insert.bind(1, repair.key)
                                 .bind(2, static_cast<int64_t>(repair.run))
                                 .bind(3, repair.acknowledges ? 1 : 0)
                                 .bind(4, repair.words)
                                 .bind(5, to_ms(now))
                                 .run();
        if (inserted == 0) return {.repaired = Repaired::done_before};
        RepairOutcome outcome =
            std::visit([&](const auto& one) { return carry_out(one, now); }, repair.mending);
        if (outcome.repaired == Repaired::done) transaction.commit();
        return outcome;
    });
}

RepairOutcome SqliteAudit::carry_out(const Acknowledge&, Instant) {
    return {};
}

RepairOutcome SqliteAudit::carry_out(const ShiftUnits& shift, Instant now) {
    Statement update(connection_,
                     "UPDATE items SET units_available = units_available + ?3, units_held = units_held + ?4, "
                     "units_sold = units_sold + ?5, version = version + 1 WHERE sale = ?1 AND id = ?2 "
                     "AND units_available + ?3 >= 0 AND units_held + ?4 >= 0 AND units_sold + ?5 >= 0 "
                     "AND NOT EXISTS (SELECT 1 FROM stock_moves WHERE sale = ?1 AND item = ?2 "
                     "AND kind = 'repaired' AND number > ?6)");
    const int updated = update.bind(1, shift.sale.view())
                            .bind(2, shift.item.view())
                            .bind(3, shift.available)
                            .bind(4, shift.held)
                            .bind(5, shift.sold)
                            .bind(6, static_cast<int64_t>(shift.repair_seen))
                            .run();
    if (updated != 1) return changed_meanwhile;
    journal_.stock_moved(StockMoveKind::repaired, shift.sale.view(), shift.item.view(), {}, shift.available,
                         now);
    return {.tell = RecountBook{shift.sale, shift.item}};
}

RepairOutcome SqliteAudit::carry_out(const PlaceRecord& place, Instant now) {
    if (!place.record.entry) throw Failure(StoreErrc::not_allowed, "the record cannot be read");
    const LedgerEntry& entry = *place.record.entry;
    return outcome_of(entry, place_({place.record, place.order}, now));
}

RepairOutcome SqliteAudit::carry_out(const CancelPurchase& cancel, Instant now) {
    Statement update(connection_,
                     "UPDATE purchases SET state = 'cancelled', reason = ?3, order_id = NULL "
                     "WHERE id = ?1 AND order_id = ?2 AND NOT EXISTS (SELECT 1 FROM orders WHERE id = ?2)");
    bind(update, 1, cancel.purchase).bind(2, static_cast<int64_t>(cancel.order)).bind(3, cancel.reason);
    if (update.run() != 1) return changed_meanwhile;
    journal_.tell(EventKind::purchase_cancelled, {.sale = cancel.sale.view(), .purchase = cancel.purchase},
                  now);
    return {.tell = ReleasePurchase{cancel.sale, cancel.item, cancel.purchase}, .changed = cancel.purchase};
}

RepairOutcome SqliteAudit::carry_out(const OrderMove& move, Instant now) {
    if (moves_.apply(move, now) != Moved::done) return changed_meanwhile;
    return outcome_of(move);
}

RepairOutcome SqliteAudit::carry_out(const PaymentChange& change, Instant now) {
    if (!change.before) {
        Statement find(connection_, "SELECT 1 FROM payments WHERE id = ?");
        if (Rows rows(find.bind(1, static_cast<int64_t>(change.after.id))); rows.next())
            return changed_meanwhile;
    }
    return moves_.change_payment(change, now) ? RepairOutcome{} : changed_meanwhile;
}

}  // namespace doorbuster
