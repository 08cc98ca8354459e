#include "store_cluster/postgres_audit.hpp"

#include "store/repair_outcomes.hpp"
#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_moves.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

using pg::Failure;
using pg::guarded;
using pg::Journal;
using pg::Params;
using pg::Row;
using pg::Rows;
using pg::transacted;
using pg::Transaction;

namespace {

constexpr std::string_view lock_stock = "SELECT version FROM items WHERE sale = $1 AND id = $2 FOR UPDATE";

}  // namespace

StoreResult<std::vector<ReconcileRun>> PostgresAuditReader::runs(const SaleId& sale,
                                                                 std::optional<uint64_t> before,
                                                                 size_t count_max) {
    return guarded("reading the reconciliations", [&] {
        const Rows rows = pool_.take()->run(
            "SELECT number, at_ms, cause, position, agrees, differences, known, repaired FROM reconcile_runs "
            "WHERE sale = $1 AND ($2::bigint IS NULL OR number < $2) AND report IS NOT NULL "
            "ORDER BY number DESC LIMIT $3",
            Params().add(sale.view()).add(before).add(count_max));
        return pg::all_of(rows, [&](const Row& row) {
            return ReconcileRun{.number = static_cast<uint64_t>(row.integer(0)),
                                .sale = sale,
                                .at = row.instant(1),
                                .trigger = std::string(row.text(2)),
                                .position = static_cast<uint64_t>(row.integer(3)),
                                .agrees = row.flag(4),
                                .differences = static_cast<uint64_t>(row.integer(5)),
                                .known = static_cast<uint64_t>(row.integer(6)),
                                .repaired = static_cast<uint64_t>(row.integer(7))};
        });
    });
}

StoreResult<std::optional<std::string>> PostgresAuditReader::report(const SaleId& sale, uint64_t run) {
    return guarded("reading a reconciliation", [&] {
        return pg::first_of(pool_.take()->run("SELECT report FROM reconcile_runs WHERE number = $1 AND "
                                              "sale = $2 AND report IS NOT NULL",
                                              Params().add(run).add(sale.view())),
                            [](const Row& row) { return std::string(row.text(0)); });
    });
}

StoreResult<std::vector<RunDifference>> PostgresAuditReader::differences(uint64_t run) {
    return guarded("reading differences", [&] {
        const Rows rows = pool_.take()->run(
            "SELECT kind, key, detail, repair, outcome FROM reconcile_differences WHERE run = $1 "
            "ORDER BY ordinal",
            Params().add(run));
        return pg::all_of(rows, [](const Row& row) {
            return RunDifference{std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)),
                                 std::string(row.text(3)), std::string(row.text(4))};
        });
    });
}

StoreResult<std::set<std::string>> PostgresAuditReader::acknowledged() {
    return guarded("reading what is known", [&] {
        const Rows rows = pool_.take()->run("SELECT key FROM repairs WHERE acknowledges");
        std::set<std::string> keys;
        for (size_t i = 0; i < rows.size(); ++i) keys.emplace(rows[i].text(0));
        return keys;
    });
}

StoreResult<uint64_t> PostgresAudit::begin(const SaleId& sale, Instant now) {
    return transacted(failure_, "beginning a reconciliation", [&] {
        Transaction transaction(connection_);
        const auto number = static_cast<uint64_t>(connection_.read_integer(
            "INSERT INTO reconcile_runs(sale, at_ms) VALUES($1, $2) RETURNING number",
            Params().add(sale.view()).add(to_ms(now))));
        transaction.commit();
        return number;
    });
}

StoreResult<void> PostgresAudit::record(const ReconcileRun& run, std::span<const RunDifference> differences,
                                        const std::string& report) {
    return transacted(failure_, "recording a reconciliation", [&] {
        Transaction transaction(connection_);
        const Rows updated = connection_.run(
            "UPDATE reconcile_runs SET at_ms = $3, cause = $4, position = $5, agrees = $6, differences = $7, "
            "known = $8, repaired = $9, report = $10 WHERE number = $1 AND sale = $2",
            Params()
                .add(run.number)
                .add(run.sale.view())
                .add(to_ms(run.at))
                .add(run.trigger)
                .add(run.position)
                .add_flag(run.agrees)
                .add(run.differences)
                .add(run.known)
                .add(run.repaired)
                .add(report));
        if (updated.changed() != 1) throw Failure(StoreErrc::not_found, "no such run was begun");
        pg::Texts kinds, keys, details, repairs, outcomes;
        for (const RunDifference& one : differences) {
            kinds.push(one.kind);
            keys.push(one.key);
            details.push(one.detail);
            repairs.push(one.repair);
            outcomes.push(one.outcome);
        }
        connection_.queue(
            "INSERT INTO reconcile_differences(run, ordinal, kind, key, detail, repair, outcome) "
            "SELECT $1, ordinal, kind, key, detail, repair, outcome "
            "FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY "
            "AS t(kind, key, detail, repair, outcome, ordinal)",
            Params().add(run.number).add(kinds).add(keys).add(details).add(repairs).add(outcomes));
        transaction.commit();
    });
}

StoreResult<RepairOutcome> PostgresAudit::repair(const Repair& repair, Instant now) {
    return transacted(failure_, "repairing", [&]() -> RepairOutcome {
        Transaction transaction(connection_);
        const Rows inserted = connection_.run(
            "INSERT INTO repairs(key, run, acknowledges, words, done_at_ms) VALUES($1, $2, $3, $4, $5) "
            "ON CONFLICT(key) DO NOTHING",
            Params()
                .add(repair.key)
                .add(repair.run)
                .add_flag(repair.acknowledges)
                .add(repair.words)
                .add(to_ms(now)));
        if (inserted.changed() == 0) return {.repaired = Repaired::done_before};
        RepairOutcome outcome =
            std::visit([&](const auto& one) { return carry_out(one, now); }, repair.mending);
        if (outcome.repaired == Repaired::done) transaction.commit();
        return outcome;
    });
}

// What a repair found is not in the book, and a live counter is never written over: the epoch has to end.
// REQUIRES: this transaction has the stock row locked, or the epoch could pass meanwhile.
void PostgresAudit::ask_for_rebuild(std::string_view sale, std::string_view item, std::string_view reason) {
    connection_.run(
        "INSERT INTO rebuild_requests(sale, item, epoch, reason) "
        "SELECT sale, id, epoch, $3 FROM items WHERE sale = $1 AND id = $2 ON CONFLICT DO NOTHING",
        Params().add(sale).add(item).add(reason));
}

RepairOutcome PostgresAudit::carry_out(const Acknowledge&, Instant) {
    return {};
}

RepairOutcome PostgresAudit::carry_out(const ShiftUnits& shift, Instant now) {
    const std::string_view sale = shift.sale.view(), item = shift.item.view();
    // Locked first: a repair that waited for another must see that other one's move.
    connection_.run(lock_stock, Params().add(sale).add(item));
    const Rows updated = connection_.run(
        "UPDATE items SET units_available = units_available + $3, units_held = units_held + $4, "
        "units_sold = units_sold + $5, version = version + 1 WHERE sale = $1 AND id = $2 "
        "AND units_available + $3 >= 0 AND units_held + $4 >= 0 AND units_sold + $5 >= 0 "
        "AND NOT EXISTS (SELECT 1 FROM stock_moves WHERE sale = $1 AND item = $2 AND kind = 'repaired' "
        "AND number > $6)",
        Params()
            .add(sale)
            .add(item)
            .add(shift.available)
            .add(shift.held)
            .add(shift.sold)
            .add(shift.repair_seen));
    if (updated.changed() != 1) return changed_meanwhile;
    Journal journal(place_.partition, now);
    journal.stock_moved(StockMoveKind::repaired, {sale, item, {}, shift.available});
    journal.queue(connection_);
    connection_.settle();
    ask_for_rebuild(sale, item, "a repair changed the stock row");
    return {.tell = RecountBook{shift.sale, shift.item}};
}

RepairOutcome PostgresAudit::carry_out(const PlaceRecord& place, Instant now) {
    if (!place.record.entry) throw Failure(StoreErrc::not_allowed, "the record cannot be read");
    const LedgerEntry& entry = *place.record.entry;
    const LedgerPlace at = LedgerPlace::of(place.record.position);
    Placement placement{place.record, place.order};
    placement.record.position = at.position;
    constexpr bool locked = true;
    pg::Placing placing(connection_, {.partition = at.partition}, std::span(&placement, 1), now, locked);
    RepairOutcome outcome = outcome_of(entry, placing.run().front());
    if (outcome.tell && std::holds_alternative<TakeRecord>(*outcome.tell))
        ask_for_rebuild(entry.sale.view(), entry.item.view(), "a repair made an order of a record");
    return outcome;
}

RepairOutcome PostgresAudit::carry_out(const CancelPurchase& cancel, Instant now) {
    const std::string_view sale = cancel.sale.view(), item = cancel.item.view();
    connection_.queue(lock_stock, Params().add(sale).add(item));  // for the release row's epoch
    const Rows updated = connection_.run(
        "UPDATE purchases SET state = 'cancelled', reason = $3, order_id = NULL "
        "WHERE id = $1 AND order_id = $2 AND NOT EXISTS (SELECT 1 FROM orders WHERE id = $2) RETURNING units",
        Params().add(cancel.purchase).add(static_cast<int64_t>(cancel.order)).add(cancel.reason));
    if (updated.empty()) return changed_meanwhile;
    Journal journal(place_.partition, now);
    journal.give_back({sale, item, cancel.purchase, updated.front().integer(0)});
    journal.tell(EventKind::purchase_cancelled, {.sale = sale, .purchase = cancel.purchase});
    journal.queue(connection_);
    connection_.settle();
    return {.tell = ReleasePurchase{cancel.sale, cancel.item, cancel.purchase}, .changed = cancel.purchase};
}

RepairOutcome PostgresAudit::carry_out(const OrderMove& move, Instant now) {
    Journal journal(place_.partition, now);
    if (pg::Moves(connection_, journal, std::span(&move, 1), now).run().front() != Moved::done) {
        return changed_meanwhile;
    }
    journal.queue(connection_);
    connection_.settle();
    return outcome_of(move);
}

RepairOutcome PostgresAudit::carry_out(const PaymentChange& change, Instant now) {
    if (!change.before) {
        const Rows found = connection_.run("SELECT id FROM payments WHERE id = $1",
                                           Params().add(static_cast<int64_t>(change.after.id)));
        if (!found.empty()) return changed_meanwhile;
    }
    return pg::change_payment(connection_, change, now) ? RepairOutcome{} : changed_meanwhile;
}

}  // namespace doorbuster
