#include "store_sqlite/sqlite_outbox.hpp"

#include <limits>

#include "store_sqlite/columns.hpp"

namespace doorbuster {

using sqlite::guarded;
using sqlite::Rows;
using sqlite::Statement;
using sqlite::Transaction;

namespace {

constexpr int64_t integer_max = std::numeric_limits<int64_t>::max();

int64_t as_integer(uint64_t number) {
    return number > static_cast<uint64_t>(integer_max) ? integer_max : static_cast<int64_t>(number);
}

constexpr std::string_view select_deliveries =
    "SELECT e.number, e.kind, e.at_ms, e.sale, e.order_id, e.purchase, e.payment,"
    " d.state, d.attempts, d.tries, d.next_at_ms, d.updated_at_ms"
    " FROM deliveries d JOIN events e ON e.number = d.event ";

std::string newest_first(std::string_view condition) {
    return std::string(select_deliveries) + "WHERE " + std::string(condition) +
           " ORDER BY d.event DESC LIMIT ?2";
}

Delivery delivery_of(const Statement& row) {
    Delivery delivery;
    EventRecord& event = delivery.event;
    event.number = static_cast<uint64_t>(row.integer(0));
    event.kind = sqlite::required(event_kind_of(row.text(1)), "kind of an event");
    event.at = from_ms(row.integer(2));
    event.sale = SaleId(row.text(3));
    if (!row.is_null(4)) event.order = OrderId{row.integer(4)};
    if (!row.is_null(5)) event.purchase = sqlite::required(sqlite::purchase_of(row.blob(5)), "purchase id");
    if (!row.is_null(6)) event.payment = PaymentId{row.integer(6)};
    delivery.state = sqlite::required(delivery_state_of(row.text(7)), "state of a delivery");
    delivery.attempts = static_cast<uint32_t>(row.integer(8));
    delivery.tries = static_cast<uint32_t>(row.integer(9));
    if (!row.is_null(10)) delivery.next_at = from_ms(row.integer(10));
    delivery.updated_at = from_ms(row.integer(11));
    return delivery;
}

std::vector<Delivery> all_of(Statement& statement) {
    std::vector<Delivery> found;
    Rows rows(statement);
    while (rows.next()) found.push_back(delivery_of(statement));
    return found;
}

std::string with_event(std::string_view rest) {
    return std::string(select_deliveries) + std::string(rest);
}

}  // namespace

SqliteOutbox::SqliteOutbox(sqlite::Connection& connection, std::optional<StoreError>& failure)
    : connection_(connection),
      failure_(failure),
      position_(connection, "SELECT position FROM notifier"),
      last_(connection,
            "SELECT count(*), max(number) FROM (SELECT number FROM events WHERE number > ?1"
            " ORDER BY number LIMIT ?2)"),
      // One that the operator asked for before its turn is there already.
      take_(connection,
            "INSERT INTO deliveries(event, state, attempts, tries, next_at_ms, updated_at_ms)"
            " SELECT number, 'pending', 0, 0, ?3, ?3 FROM events WHERE number > ?1 AND number <= ?2"
            " ORDER BY number ON CONFLICT(event) DO NOTHING"),
      move_(connection, "UPDATE notifier SET position = ?1"),
      due_(connection, with_event("WHERE d.next_at_ms IS NOT NULL AND d.next_at_ms <= ?1"
                                  " ORDER BY d.next_at_ms, d.event LIMIT ?2")),
      change_(connection,
              "UPDATE deliveries SET state = ?2, next_at_ms = ?3, attempts = attempts + 1, tries = tries + 1,"
              " updated_at_ms = ?4 WHERE event = ?1"),
      log_(connection,
           "INSERT INTO delivery_attempts(event, number, at_ms, status, error, took_ms)"
           " SELECT event, attempts, ?2, ?3, ?4, ?5 FROM deliveries WHERE event = ?1"),
      trim_(connection,
            "DELETE FROM delivery_attempts WHERE event = ?1"
            " AND number <= (SELECT attempts FROM deliveries WHERE event = ?1) - ?2"),
      ask_again_(connection,
                 "INSERT INTO deliveries(event, state, attempts, tries, next_at_ms, updated_at_ms)"
                 " SELECT number, 'pending', 0, 0, ?2, ?2 FROM events WHERE number = ?1"
                 " ON CONFLICT(event) DO UPDATE SET state = 'pending', tries = 0, next_at_ms = ?2,"
                 " updated_at_ms = ?2"),
      one_(connection, with_event("WHERE d.event = ?1")),
      newest_(connection, newest_first("d.event < ?1")),
      newest_pending_(connection,
                      newest_first("d.event < ?1 AND d.state = 'pending' AND d.state != 'delivered'")),
      newest_failed_(connection,
                     newest_first("d.event < ?1 AND d.state = 'failed' AND d.state != 'delivered'")),
      newest_delivered_(connection, newest_first("d.event < ?1 AND d.state = 'delivered'")),
      attempts_(connection,
                "SELECT number, at_ms, status, error, took_ms FROM delivery_attempts WHERE event = ?1"
                " ORDER BY number"),
      oldest_(connection,
              "SELECT at_ms FROM events WHERE number = (SELECT min(event) FROM deliveries"
              " WHERE state = 'pending' AND state != 'delivered')"),
      pending_(connection,
               "SELECT count(*) FROM deliveries WHERE state = 'pending' AND state != 'delivered'") {}

StoreResult<uint64_t> SqliteOutbox::position() {
    return guarded("reading the outbox", [&] {
        Rows rows(position_);
        if (!rows.next()) throw sqlite::Failure(StoreErrc::damaged, "the notifier has no position");
        return static_cast<uint64_t>(position_.integer(0));
    });
}

StoreResult<size_t> SqliteOutbox::take_events(size_t count_max, bool deliver, Instant now) {
    // Asked many times a second, and nearly always for nothing.
    if (looked_at_changes_ == connection_.changes_total()) return size_t{0};
    const auto from = position();
    if (!from) return from.error();
    return writing("taking events from the outbox", [&]() -> size_t {
        size_t count = 0;
        int64_t to = 0;
        {
            Rows rows(last_.bind(1, as_integer(*from)).bind(2, as_integer(count_max)));
            if (rows.next()) count = static_cast<size_t>(last_.integer(0)), to = last_.integer(1);
        }
        if (count == 0) {
            looked_at_changes_ = connection_.changes_total();
            return 0;
        }
        Transaction transaction(connection_);
        if (deliver) take_.bind(1, as_integer(*from)).bind(2, to).bind(3, to_ms(now)).run();
        move_.bind(1, to).run();
        transaction.commit();
        return count;
    });
}

StoreResult<std::vector<Delivery>> SqliteOutbox::due(Instant now, size_t count_max) {
    return guarded("reading due deliveries",
                   [&] { return all_of(due_.bind(1, to_ms(now)).bind(2, as_integer(count_max))); });
}

void SqliteOutbox::write_note(const DeliveryNote& note, Instant now) {
    const int64_t event = as_integer(note.event);
    change_.bind(1, event).bind(2, name_of(note.state)).bind(4, to_ms(now));
    if (note.next_at) {
        change_.bind(3, to_ms(*note.next_at));
    } else {
        change_.bind_null(3);
    }
    change_.run();
    log_.bind(1, event)
        .bind(2, to_ms(note.attempt.at))
        .bind(3, int64_t{note.attempt.status})
        .bind(4, note.attempt.error)
        .bind(5, note.attempt.took.count())
        .run();
    trim_.bind(1, event).bind(2, int64_t{attempts_kept_max}).run();
}

StoreResult<void> SqliteOutbox::note(std::span<const DeliveryNote> notes, Instant now) {
    return writing("writing deliveries down", [&] {
        Transaction transaction(connection_);
        for (const DeliveryNote& note : notes) write_note(note, now);
        transaction.commit();
    });
}

StoreResult<Delivery> SqliteOutbox::resend(uint64_t event, Instant now) {
    constexpr std::string_view operation = "sending an event again";
    const auto changed = writing(operation, [&] {
        Transaction transaction(connection_);
        const int rows = ask_again_.bind(1, as_integer(event)).bind(2, to_ms(now)).run();
        transaction.commit();
        return rows;
    });
    if (!changed) return changed.error();
    if (*changed == 0) return StoreError{StoreErrc::not_found, std::string(operation), "no such event"};
    auto found = find_delivery(event);
    if (!found) return found.error();
    return *std::move(*found);
}

StoreResult<std::vector<Delivery>> SqliteOutbox::deliveries(std::optional<DeliveryState> state,
                                                            std::optional<uint64_t> before,
                                                            size_t count_max) {
    return guarded("reading deliveries", [&] {
        Statement* statement = &newest_;
        if (state == DeliveryState::pending) statement = &newest_pending_;
        if (state == DeliveryState::failed) statement = &newest_failed_;
        if (state == DeliveryState::delivered) statement = &newest_delivered_;
        statement->bind(1, before ? as_integer(*before) : integer_max).bind(2, as_integer(count_max));
        return all_of(*statement);
    });
}

StoreResult<std::optional<Delivery>> SqliteOutbox::find_delivery(uint64_t event) {
    return guarded("reading a delivery", [&]() -> std::optional<Delivery> {
        Rows rows(one_.bind(1, as_integer(event)));
        if (!rows.next()) return std::nullopt;
        return delivery_of(one_);
    });
}

StoreResult<std::vector<DeliveryAttempt>> SqliteOutbox::attempts_of(uint64_t event) {
    return guarded("reading the attempts of a delivery", [&] {
        std::vector<DeliveryAttempt> found;
        Rows rows(attempts_.bind(1, as_integer(event)));
        while (rows.next()) {
            found.push_back({.number = static_cast<uint32_t>(attempts_.integer(0)),
                             .at = from_ms(attempts_.integer(1)),
                             .status = static_cast<uint32_t>(attempts_.integer(2)),
                             .error = std::string(attempts_.text(3)),
                             .took = milliseconds(attempts_.integer(4))});
        }
        return found;
    });
}

StoreResult<DeliveryBacklog> SqliteOutbox::backlog() {
    return guarded("counting deliveries", [&] {
        DeliveryBacklog backlog;
        Rows count(pending_);
        if (count.next()) backlog.pending = static_cast<uint64_t>(pending_.integer(0));
        Rows oldest(oldest_);
        if (oldest.next()) backlog.oldest = from_ms(oldest_.integer(0));
        return backlog;
    });
}

}  // namespace doorbuster
