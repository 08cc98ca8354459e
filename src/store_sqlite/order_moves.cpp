#include "store_sqlite/order_moves.hpp"

#include "store/row_words.hpp"
#include "store_sqlite/columns.hpp"

namespace doorbuster::sqlite {

OrderMoves::OrderMoves(Connection& connection, Journal& journal)
    : connection_(connection),
      journal_(journal),
      update_order_(
          connection,
          "UPDATE orders SET state = ?4, hold = ?5, payment = ?6, falls_to = ?7, reason = ?8, "
          "version = version + 1, updated_at_ms = ?9 WHERE id = ?1 AND version = ?2 AND state = ?3"),
      insert_payment_(connection,
                      "INSERT INTO payments(id, order_id, state, version, amount_minor, currency, "
                      "captured_minor, captured_currency, url, created_at_ms, updated_at_ms, look_at_ms, "
                      "looks) VALUES(?1, ?2, ?3, 1, ?4, ?5, 0, '', '', ?6, ?6, ?7, 0)"),
      update_payment_(
          connection,
          "UPDATE payments SET state = ?3, captured_minor = ?4, captured_currency = ?5, url = ?6, "
          "look_at_ms = ?7, looks = ?8, updated_at_ms = ?9, version = version + 1 "
          "WHERE id = ?1 AND version = ?2"),
      move_units_(connection,
                  "UPDATE items SET units_available = units_available + ?3, units_held = units_held + ?4, "
                  "units_sold = units_sold + ?5, version = version + 1 WHERE sale = ?1 AND id = ?2 "
                  "AND units_available + ?3 >= 0 AND units_held + ?4 >= 0 AND units_sold + ?5 >= 0") {}

Moved OrderMoves::apply(const OrderMove& move, Instant now) {
    connection_.execute("SAVEPOINT one_move");
    const Moved moved = try_to_apply(move, now);
    if (moved != Moved::done) connection_.execute("ROLLBACK TO one_move");
    connection_.execute("RELEASE one_move");
    return moved;
}

Moved OrderMoves::try_to_apply(const OrderMove& move, Instant now) {
    const auto& [before, after, payment, events] = move;
    update_order_.bind(1, static_cast<int64_t>(before.id))
        .bind(2, static_cast<int64_t>(before.version))
        .bind(3, name_of(before.state))
        .bind(4, name_of(after.state))
        .bind(5, name_of(after.hold));
    after.payment ? update_order_.bind(6, static_cast<int64_t>(*after.payment)) : update_order_.bind_null(6);
    update_order_.bind(7, name_of(after.falls_to));
    after.reason.empty() ? update_order_.bind_null(8) : update_order_.bind(8, after.reason);
    if (update_order_.bind(9, to_ms(now)).run() != 1) return Moved::conflict;
    if (payment && !change_payment(*payment, now)) return Moved::conflict;
    if (!move_stock(move, now)) {
        return before.hold == HoldState::open ? Moved::no_unit : Moved::damaged;
    }
    for (const EventKind kind : events) {
        journal_.tell(kind, {.sale = after.sale.view(), .order = after.id}, now);
    }
    return Moved::done;
}

bool OrderMoves::move_stock(const OrderMove& move, Instant now) {
    const auto& [before, after, payment, events] = move;
    if (before.hold == after.hold) return true;
    const std::string_view sale = after.sale.view(), item = after.item.view();
    const int64_t units = after.units;
    const UnitsMoved moved = units_moved(before.hold, after.hold, units);
    const bool changes_row = moved.available != 0 || moved.held != 0 || moved.sold != 0;
    if (changes_row && move_units_.bind(1, sale)
                               .bind(2, item)
                               .bind(3, moved.available)
                               .bind(4, moved.held)
                               .bind(5, moved.sold)
                               .run() != 1) {
        return false;
    }
    const bool is_sold = after.hold == HoldState::sold;
    journal_.stock_moved(is_sold ? StockMoveKind::sold : StockMoveKind::released, sale, item, after.holder,
                         units, now);
    return true;
}

bool OrderMoves::change_payment(const PaymentChange& change, Instant now) {
    const PaymentRecord& after = change.after;
    auto bind_look = [&](Statement& statement, int at) {
        after.look_at ? statement.bind(at, to_ms(*after.look_at)) : statement.bind_null(at);
    };
    if (!change.before) {
        insert_payment_.bind(1, static_cast<int64_t>(after.id))
            .bind(2, static_cast<int64_t>(after.order))
            .bind(3, name_of(after.state))
            .bind(4, after.amount_minor)
            .bind(5, after.currency)
            .bind(6, to_ms(now));
        bind_look(insert_payment_, 7);
        insert_payment_.run();
        return true;
    }
    update_payment_.bind(1, static_cast<int64_t>(after.id))
        .bind(2, static_cast<int64_t>(change.before->version))
        .bind(3, name_of(after.state))
        .bind(4, after.captured_minor)
        .bind(5, after.captured_currency)
        .bind(6, after.url);
    bind_look(update_payment_, 7);
    return update_payment_.bind(8, after.looks).bind(9, to_ms(now)).run() == 1;
}

}  // namespace doorbuster::sqlite
