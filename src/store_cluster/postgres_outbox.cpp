#include "store_cluster/postgres_outbox.hpp"

#include <limits>

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

using pg::guarded;
using pg::Params;
using pg::Row;
using pg::Rows;
using pg::transacted;
using pg::Transaction;

namespace {

constexpr int64_t integer_max = std::numeric_limits<int64_t>::max();

const std::string select_deliveries =
    "SELECT e.number, e.kind, e.at_ms, e.sale, e.order_id, e.purchase, e.payment,"
    " d.state, d.attempts, d.tries, d.next_at_ms, d.updated_at_ms"
    " FROM deliveries d JOIN events e ON e.number = d.event ";

const std::string select_one = select_deliveries + "WHERE d.event = $1";

std::string newest_first(std::string_view condition) {
    return select_deliveries + "WHERE d.event < $1" + std::string(condition) +
           " ORDER BY d.event DESC LIMIT $2";
}

// As the partial index says it.
const std::string newest_of_all = newest_first(""),
                  newest_pending = newest_first(" AND d.state = 'pending' AND d.state != 'delivered'"),
                  newest_failed = newest_first(" AND d.state = 'failed' AND d.state != 'delivered'"),
                  newest_delivered = newest_first(" AND d.state = 'delivered'");

const std::string& newest(std::optional<DeliveryState> state) {
    if (!state) return newest_of_all;
    if (*state == DeliveryState::pending) return newest_pending;
    return *state == DeliveryState::failed ? newest_failed : newest_delivered;
}

Delivery delivery_of(const Row& row) {
    return {.event = pg::event_of(row),
            .state = pg::required(delivery_state_of(row.text(7)), "state of a delivery"),
            .attempts = static_cast<uint32_t>(row.integer(8)),
            .tries = static_cast<uint32_t>(row.integer(9)),
            .next_at = row.instant_or_none(10),
            .updated_at = row.instant(11)};
}

}  // namespace

StoreResult<uint64_t> PostgresOutbox::position() {
    return guarded("reading the outbox", [&] {
        return static_cast<uint64_t>(connection_.read_integer("SELECT position FROM notifier"));
    });
}

StoreResult<size_t> PostgresOutbox::take_events(size_t count_max, bool deliver, Instant now) {
    return transacted(failure_, "taking events from the outbox", [&]() -> size_t {
        // Nearly always: no write for nothing.
        if (connection_.run("SELECT number FROM events WHERE NOT is_taken LIMIT 1").empty()) return 0;
        Transaction transaction(connection_);
        connection_.queue("SELECT position FROM notifier FOR UPDATE");  // one takes at a time
        const Rows taken = connection_.run(
            "UPDATE events SET is_taken = true WHERE number IN "
            "(SELECT number FROM events WHERE NOT is_taken ORDER BY number LIMIT $1) RETURNING number",
            Params().add(count_max));
        pg::Integers numbers;
        for (size_t i = 0; i < taken.size(); ++i) numbers.push(taken[i].integer(0));
        if (deliver) {
            // One that the operator asked for before its turn is there already.
            connection_.queue(
                "INSERT INTO deliveries(event, state, attempts, tries, next_at_ms, updated_at_ms) "
                "SELECT number, 'pending', 0, 0, $2, $2 FROM unnest($1::bigint[]) AS t(number) "
                "ON CONFLICT(event) DO NOTHING",
                Params().add(numbers).add(to_ms(now)));
        }
        connection_.queue(
            "UPDATE notifier SET position = greatest(position, (SELECT max(number) FROM unnest($1::bigint[]) "
            "AS t(number)))",
            Params().add(numbers));
        transaction.commit();
        return taken.size();
    });
}

StoreResult<std::vector<Delivery>> PostgresOutbox::due(Instant now, size_t count_max) {
    static const std::string select = select_deliveries +
                                      "WHERE d.next_at_ms IS NOT NULL AND d.next_at_ms <= $1"
                                      " ORDER BY d.next_at_ms, d.event LIMIT $2";
    return guarded("reading due deliveries", [&] {
        return pg::all_of(connection_.run(select, Params().add(to_ms(now)).add(count_max)), delivery_of);
    });
}

void PostgresOutbox::queue_note(const DeliveryNote& note, Instant now) {
    connection_.queue(
        // What was delivered stays so: another process may have sent it, too, and hear a worse answer later.
        "UPDATE deliveries SET state = CASE state WHEN 'delivered' THEN state ELSE $2 END, "
        "next_at_ms = CASE state WHEN 'delivered' THEN next_at_ms ELSE $3 END, "
        "attempts = attempts + 1, tries = tries + 1, updated_at_ms = $4 WHERE event = $1",
        Params()
            .add(note.event)
            .add(name_of(note.state))
            .add(note.next_at ? std::optional(to_ms(*note.next_at)) : std::nullopt)
            .add(to_ms(now)));
    connection_.queue(
        "INSERT INTO delivery_attempts(event, number, at_ms, status, error, took_ms) "
        "SELECT event, attempts, $2, $3, $4, $5 FROM deliveries WHERE event = $1",
        Params()
            .add(note.event)
            .add(to_ms(note.attempt.at))
            .add(note.attempt.status)
            .add(note.attempt.error)
            .add(note.attempt.took.count()));
    connection_.queue(
        "DELETE FROM delivery_attempts WHERE event = $1 "
        "AND number <= (SELECT attempts FROM deliveries WHERE event = $1) - $2",
        Params().add(note.event).add(attempts_kept_max));
}

StoreResult<void> PostgresOutbox::note(std::span<const DeliveryNote> notes, Instant now) {
    return transacted(failure_, "writing deliveries down", [&] {
        Transaction transaction(connection_);
        for (const DeliveryNote& note : notes) queue_note(note, now);
        transaction.commit();
    });
}

StoreResult<Delivery> PostgresOutbox::resend(uint64_t event, Instant now) {
    return transacted(failure_, "sending an event again", [&] {
        Transaction transaction(connection_);
        connection_.queue(
            "INSERT INTO deliveries(event, state, attempts, tries, next_at_ms, updated_at_ms) "
            "SELECT number, 'pending', 0, 0, $2, $2 FROM events WHERE number = $1 "
            "ON CONFLICT(event) DO UPDATE SET state = 'pending', tries = 0, next_at_ms = $2, "
            "updated_at_ms = $2",
            Params().add(event).add(to_ms(now)));
        auto found = pg::first_of(connection_.run(select_one, Params().add(event)), delivery_of);
        if (!found) throw pg::Failure(StoreErrc::not_found, "no such event");
        transaction.commit();
        return *found;
    });
}

StoreResult<std::vector<Delivery>> PostgresOutbox::deliveries(std::optional<DeliveryState> state,
                                                              std::optional<uint64_t> before,
                                                              size_t count_max) {
    return guarded("reading deliveries", [&] {
        const int64_t end = before ? static_cast<int64_t>(*before) : integer_max;
        return pg::all_of(connection_.run(newest(state), Params().add(end).add(count_max)), delivery_of);
    });
}

StoreResult<std::optional<Delivery>> PostgresOutbox::find_delivery(uint64_t event) {
    return guarded("reading a delivery", [&] {
        return pg::first_of(connection_.run(select_one, Params().add(event)), delivery_of);
    });
}

StoreResult<std::vector<DeliveryAttempt>> PostgresOutbox::attempts_of(uint64_t event) {
    return guarded("reading the attempts of a delivery", [&] {
        const Rows rows = connection_.run(
            "SELECT number, at_ms, status, error, took_ms FROM delivery_attempts WHERE event = $1 "
            "ORDER BY number",
            Params().add(event));
        return pg::all_of(rows, [](const Row& row) {
            return DeliveryAttempt{.number = static_cast<uint32_t>(row.integer(0)),
                                   .at = row.instant(1),
                                   .status = static_cast<uint32_t>(row.integer(2)),
                                   .error = std::string(row.text(3)),
                                   .took = milliseconds(row.integer(4))};
        });
    });
}

StoreResult<DeliveryBacklog> PostgresOutbox::backlog() {
    return guarded("counting deliveries", [&] {
        const Rows rows = connection_.run(
            "SELECT count(*), (SELECT at_ms FROM events WHERE number = min(d.event)) FROM deliveries d "
            "WHERE d.state = 'pending' AND d.state != 'delivered'");
        return DeliveryBacklog{.pending = static_cast<uint64_t>(rows.front().integer(0)),
                               .oldest = rows.front().instant_or_none(1)};
    });
}

}  // namespace doorbuster
