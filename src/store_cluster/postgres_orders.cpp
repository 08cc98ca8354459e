#include "store_cluster/postgres_orders.hpp"

#include <fmt/format.h>

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_moves.hpp"
#include "store_cluster/pg_rows.hpp"
#include "store_cluster/pg_schema.hpp"

namespace doorbuster {

using pg::Failure;
using pg::Journal;
using pg::Params;
using pg::Rows;
using pg::transacted;
using pg::Transaction;

PostgresOrders::PostgresOrders(pg::ConnectionOptions options, pg::WorkerPlace place)
    : connection_(std::move(options)),
      place_(place),
      reader_(connection_, place.partition),
      settings_(connection_, failure_),
      outbox_(connection_, failure_),
      audit_(connection_, failure_, place) {
    pg::prepare(connection_);
}

StoreResult<std::unique_ptr<PostgresOrders>> PostgresOrders::open(pg::ConnectionOptions options,
                                                                  pg::WorkerPlace place) {
    return pg::guarded("opening the orders in PostgreSQL", [&] {
        return std::unique_ptr<PostgresOrders>(new PostgresOrders(std::move(options), place));
    });
}

SaleRecord PostgresOrders::read_sale(const SaleId& id) {
    auto found = pg::read_sales(connection_, id);
    if (found.empty()) throw Failure(StoreErrc::not_found, "there is no sale " + id.str());
    return std::move(found.front());
}

StoreResult<SaleRecord> PostgresOrders::create_sale(const Sale& sale, SaleState state, Instant now) {
    return transacted(failure_, "creating the sale", [&] {
        Transaction transaction(connection_);
        pg::queue_sale(connection_, sale, state, now);
        try {
            connection_.settle();
        } catch (const Failure& failure) {
            if (failure.constraint != "sales_pkey") throw;
            throw Failure(StoreErrc::exists, "there is a sale " + sale.id.str() + " already");
        }
        SaleRecord record = read_sale(sale.id);
        transaction.commit();
        return record;
    });
}

StoreResult<SaleRecord> PostgresOrders::change_sale(const SaleRecord& changed, bool with_items, Instant now) {
    return transacted(failure_, "changing the sale", [&] {
        Transaction transaction(connection_);
        const std::string_view sale = changed.sale.id.view();
        const SaleRecord current = read_sale(changed.sale.id);
        if (!pg::update_sale(connection_, changed, now)) {
            throw Failure(StoreErrc::conflict, fmt::format("the sale has version {} now", current.version));
        }
        Journal journal(place_.partition, now);
        if (const auto told = event_of_step(current.state, changed.state))
            journal.tell(*told, {.sale = sale});
        if (with_items) {
            // An epoch never goes back, so a stock row that was sold from is not made anew.
            const Rows used = connection_.run(
                "SELECT EXISTS (SELECT 1 FROM purchases WHERE sale = $1) "
                "OR EXISTS (SELECT 1 FROM items WHERE sale = $1 AND epoch > 0)",
                Params().add(sale));
            if (used.front().flag(0)) {
                throw Failure(StoreErrc::not_allowed, "units of these items have been sold");
            }
            connection_.queue("DELETE FROM items WHERE sale = $1", Params().add(sale));
            pg::queue_items(connection_, changed.sale);
        }
        journal.queue(connection_);
        SaleRecord record = read_sale(changed.sale.id);
        transaction.commit();
        return record;
    });
}

// Versions only rise.
StoreResult<int64_t> PostgresOrders::sales_mark() {
    return pg::guarded("looking at the sales", [&] {
        return connection_.read_integer("SELECT coalesce(sum(version + 1), 0)::bigint FROM sales");
    });
}

StoreResult<SaleRecord> PostgresOrders::restock(const SaleId& sale, const ItemId& item, uint32_t units,
                                                uint64_t version, Instant now) {
    return transacted(failure_, "restocking", [&] {
        Transaction transaction(connection_);
        SaleRecord current = read_sale(sale);
        const uint64_t version_now = std::exchange(current.version, version);
        if (!pg::update_sale(connection_, current, now)) {
            throw Failure(StoreErrc::conflict, fmt::format("the sale has version {} now", version_now));
        }
        const Rows added = connection_.run(
            "UPDATE items SET units_total = units_total + $3, units_available = units_available + $3, "
            "version = version + 1 WHERE sale = $1 AND id = $2 AND units_total + $3 <= $4",
            Params().add(sale.view()).add(item.view()).add(units).add(units_max));
        if (added.changed() != 1) {
            for (const Item& known : current.sale.items) {
                if (known.id == item) {
                    throw Failure(StoreErrc::not_allowed,
                                  fmt::format("an item has at most {} units in all", units_max));
                }
            }
            throw Failure(StoreErrc::not_found, "there is no item " + item.str() + " in this sale");
        }
        Journal journal(place_.partition, now);
        const Journal::Units back{sale.view(), item.view(), {}, units};
        journal.stock_moved(StockMoveKind::restocked, back);
        if (units > 0) journal.give_back(back);
        journal.queue(connection_);
        SaleRecord record = read_sale(sale);
        transaction.commit();
        return record;
    });
}

StoreResult<std::vector<Placed>> PostgresOrders::place(uint64_t expected_position,
                                                       std::span<const Placement> placements, Instant now) {
    return transacted(failure_, "placing orders", [&](bool locked) {
        std::vector<Placed> outcomes;
        if (placements.empty()) return outcomes;
        Transaction transaction(connection_);
        outcomes = pg::Placing(connection_, place_, placements, now, locked).run_from(expected_position);
        transaction.commit();
        return outcomes;
    });
}

StoreResult<void> PostgresOrders::bury(uint64_t expected_position, const LedgerRecord& record,
                                       const std::string& reason, Instant now) {
    return transacted(failure_, "burying a record", [&] {
        Transaction transaction(connection_);
        pg::move_position(connection_, place_, expected_position, record.position);
        // One that the tables cannot hold has no purchase that anybody could look up.
        const bool is_known = record.entry && pg::is_storable(record.entry->acceptance.buyer.view()) &&
                              pg::is_storable(record.entry->sale.view()) &&
                              pg::is_storable(record.entry->item.view());
        if (is_known) pg::cancel_unplaceable(connection_, place_, record, now);
        connection_.queue(
            "INSERT INTO dead_letters(partition, position, reason, record, buried_at_ms) "
            "VALUES($1, $2, $3, $4, $5)",
            Params()
                .add(place_.partition)
                .add(record.position)
                .add(reason)
                .add_bytes(text_of(record))
                .add(to_ms(now)));
        transaction.commit();
    });
}

StoreResult<std::vector<Moved>> PostgresOrders::move(std::span<const OrderMove> moves, Instant now) {
    return transacted(failure_, "moving orders", [&] {
        std::vector<Moved> moved;
        if (moves.empty()) return moved;
        Transaction transaction(connection_);
        Journal journal(place_.partition, now);
        moved = pg::Moves(connection_, journal, moves, now).run();
        journal.queue(connection_);
        transaction.commit();
        return moved;
    });
}

StoreResult<void> PostgresOrders::change_payment(const PaymentChange& change, std::optional<EventKind> event,
                                                 Instant now) {
    return transacted(failure_, "changing a payment", [&] {
        Transaction transaction(connection_);
        if (!pg::change_payment(connection_, change, now)) {
            throw Failure(StoreErrc::conflict, "the payment has changed meanwhile");
        }
        if (event) {
            const auto order = static_cast<int64_t>(change.after.order);
            const Rows found = connection_.run("SELECT sale FROM orders WHERE id = $1", Params().add(order));
            if (found.empty()) throw Failure(StoreErrc::damaged, "a payment without an order");
            Journal journal(place_.partition, now);
            journal.tell(
                *event,
                {.sale = found.front().text(0), .order = change.after.order, .payment = change.after.id});
            journal.queue(connection_);
        }
        transaction.commit();
    });
}

StoreResult<bool> PostgresOrders::hint(std::string_view event, PaymentId payment, Instant now,
                                       milliseconds keep) {
    return transacted(failure_, "noting the provider's event", [&] {
        Transaction transaction(connection_);
        connection_.queue("DELETE FROM provider_events WHERE came_at_ms < $1",
                          Params().add(to_ms(now - keep)));
        const Rows inserted = connection_.run(
            "INSERT INTO provider_events(id, came_at_ms) VALUES($1, $2) ON CONFLICT DO NOTHING",
            Params().add(event).add(to_ms(now)));
        const bool is_new = inserted.changed() == 1;
        if (is_new) {
            // Also where nothing more was expected: the provider may know better.
            const Rows looked = connection_.run(
                "UPDATE payments SET look_at_ms = least(coalesce(look_at_ms, $2), $2), version = version + 1 "
                "WHERE id = $1",
                Params().add(static_cast<int64_t>(payment)).add(to_ms(now)));
            if (looked.changed() != 1) throw Failure(StoreErrc::not_found, "there is no such payment");
        }
        transaction.commit();
        return is_new;
    });
}

StoreResult<void> PostgresOrders::tell_sold_out(const SaleId& sale, bool sold_out, Instant now) {
    return transacted(failure_, "telling that a sale is sold out", [&] {
        Transaction transaction(connection_);
        const Rows told =
            connection_.run("UPDATE sales SET sold_out_told = $2 WHERE id = $1 AND sold_out_told != $2",
                            Params().add(sale.view()).add_flag(sold_out));
        Journal journal(place_.partition, now);
        if (told.changed() == 1) {
            journal.tell(sold_out ? EventKind::sale_sold_out : EventKind::sale_available,
                         {.sale = sale.view()});
        }
        journal.queue(connection_);
        transaction.commit();
    });
}

StoreResult<void> PostgresOrders::close_letter(uint64_t position, LetterState state, Instant now) {
    return transacted(failure_, "closing a dead letter", [&] {
        const LedgerPlace place = LedgerPlace::of(position);
        Transaction transaction(connection_);
        const Rows closed = connection_.run(
            "UPDATE dead_letters SET state = $3, closed_at_ms = $4 "
            "WHERE partition = $1 AND position = $2 AND state = 'open'",
            Params().add(place.partition).add(place.position).add(name_of(state)).add(to_ms(now)));
        if (closed.changed() != 1) {
            const Rows found =
                connection_.run("SELECT state FROM dead_letters WHERE partition = $1 AND position = $2",
                                Params().add(place.partition).add(place.position));
            if (found.empty()) throw Failure(StoreErrc::not_found, "there is no such dead letter");
            throw Failure(StoreErrc::conflict,
                          fmt::format("the dead letter is {} already", found.front().text(0)));
        }
        transaction.commit();
    });
}

}  // namespace doorbuster
