#include "store_cluster/pg_moves.hpp"

namespace doorbuster::pg {

namespace {

struct ChangedPayment {
    uint64_t version_read, version;
    const PaymentRecord* after;
};

void queue_changed_payments(Connection& connection, std::span<const ChangedPayment> payments, Instant now) {
    Integers ids, versions_read, versions_now, captured, look_at, looks;
    Texts states, currencies, urls;
    for (const ChangedPayment& payment : payments) {
        const PaymentRecord& after = *payment.after;
        ids.push(static_cast<int64_t>(after.id));
        versions_read.push(payment.version_read);
        versions_now.push(payment.version);
        states.push(name_of(after.state));
        captured.push(after.captured_minor);
        currencies.push(after.captured_currency);
        urls.push(after.url);
        look_at.push(after.look_at ? std::optional(to_ms(*after.look_at)) : std::nullopt);
        looks.push(after.looks);
    }
    connection.queue(
        "UPDATE payments y SET state = t.state, captured_minor = t.captured, captured_currency = t.currency, "
        "url = t.url, look_at_ms = t.look_at, looks = t.looks, updated_at_ms = $1, version = t.version_now "
        "FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], "
        "$8::text[], $9::bigint[], $10::bigint[]) "
        "AS t(id, version_read, version_now, state, captured, currency, url, look_at, looks) "
        "WHERE y.id = t.id AND y.version = t.version_read",
        Params()
            .add(to_ms(now))
            .add(ids)
            .add(versions_read)
            .add(versions_now)
            .add(states)
            .add(captured)
            .add(currencies)
            .add(urls)
            .add(look_at)
            .add(looks));
}

}  // namespace

void queue_new_payments(Connection& connection, std::span<const PaymentRecord* const> payments, Instant now) {
    Integers ids, orders, amounts, look_at;
    Texts states, currencies;
    for (const PaymentRecord* payment : payments) {
        ids.push(static_cast<int64_t>(payment->id));
        orders.push(static_cast<int64_t>(payment->order));
        states.push(name_of(payment->state));
        amounts.push(payment->amount_minor);
        currencies.push(payment->currency);
        look_at.push(payment->look_at ? std::optional(to_ms(*payment->look_at)) : std::nullopt);
    }
    connection.queue(
        "INSERT INTO payments(id, order_id, state, version, amount_minor, currency, captured_minor, "
        "captured_currency, url, created_at_ms, updated_at_ms, look_at_ms, looks) "
        "SELECT id, order_id, state, 1, amount, currency, 0, '', '', $1, $1, look_at, 0 "
        "FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::bigint[]) "
        "AS t(id, order_id, state, amount, currency, look_at)",
        Params().add(to_ms(now)).add(ids).add(orders).add(states).add(amounts).add(currencies).add(look_at));
}

bool change_payment(Connection& connection, const PaymentChange& change, Instant now) {
    const PaymentRecord* after = &change.after;
    if (!change.before) {
        queue_new_payments(connection, std::span(&after, 1), now);
        connection.settle();
        return true;
    }
    const ChangedPayment one{change.before->version, change.before->version + 1, after};
    queue_changed_payments(connection, std::span(&one, 1), now);
    return connection.settle().back().changed() == 1;
}

Moves::Moves(Connection& connection, Journal& journal, std::span<const OrderMove> moves, Instant now)
    : connection_(connection), journal_(journal), moves_(moves), now_(now) {}

std::vector<Moved> Moves::run() {
    read();
    std::vector<Moved> outcomes;
    outcomes.reserve(moves_.size());
    for (const OrderMove& move : moves_) outcomes.push_back(judge(move));
    write();
    return outcomes;
}

void Moves::read() {
    Integers ids, payment_ids;
    Texts sales, items, stock_sales, stock_items;
    for (const OrderMove& move : moves_) {
        ids.push(static_cast<int64_t>(move.before.id));
        sales.push(move.before.sale.view());
        items.push(move.before.item.view());
        if (move.payment && move.payment->before) {
            payment_ids.push(static_cast<int64_t>(move.payment->before->id));
        }
        if (move.before.hold != move.after.hold) stock_[{move.after.sale.view(), move.after.item.view()}];
    }
    for (const auto& [key, stock] : stock_) {
        stock_sales.push(key.first);
        stock_items.push(key.second);
    }
    const size_t orders = connection_.queue(
        "SELECT o.id, o.version, o.state FROM unnest($1::bigint[], $2::text[], $3::text[]) "
        "AS t(id, sale, item) JOIN orders o ON o.id = t.id AND o.sale = t.sale AND o.item = t.item "
        "ORDER BY o.id FOR UPDATE OF o",
        Params().add(ids).add(sales).add(items));
    const size_t payments = connection_.queue(
        "SELECT id, version FROM payments WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE",
        Params().add(payment_ids));
    const size_t stock = connection_.queue(
        "SELECT i.sale, i.id, i.units_available, i.units_held, i.units_sold "
        "FROM unnest($1::text[], $2::text[]) AS t(sale, item) "
        "JOIN items i ON i.sale = t.sale AND i.id = t.item ORDER BY i.sale, i.id FOR UPDATE OF i",
        Params().add(stock_sales).add(stock_items));
    const auto answers = connection_.settle();
    for (size_t i = 0; i < answers[orders].size(); ++i) {
        const Row row = answers[orders][i];
        const auto version = static_cast<uint64_t>(row.integer(1));
        orders_[OrderId{row.integer(0)}] = {version, version, std::string(row.text(2)), nullptr};
    }
    for (size_t i = 0; i < answers[payments].size(); ++i) {
        const Row row = answers[payments][i];
        const auto version = static_cast<uint64_t>(row.integer(1));
        payments_[PaymentId{row.integer(0)}] = {version, version, nullptr};
    }
    for (size_t i = 0; i < answers[stock].size(); ++i) {
        const Row row = answers[stock][i];
        const int64_t available = row.integer(2), held = row.integer(3), sold = row.integer(4);
        stock_.at({row.text(0), row.text(1)}) = {available, held, sold, available, held, sold, false};
    }
}

Moved Moves::judge(const OrderMove& move) {
    const auto& [before, after, payment, events] = move;
    const auto order = orders_.find(before.id);
    if (order == orders_.end() || order->second.version != before.version ||
        order->second.state != name_of(before.state)) {
        return Moved::conflict;
    }
    auto paid = payments_.end();
    if (payment && payment->before) {
        paid = payments_.find(payment->before->id);
        if (paid == payments_.end() || paid->second.version != payment->before->version) {
            return Moved::conflict;
        }
    }
    if (!move_stock(move)) return before.hold == HoldState::open ? Moved::no_unit : Moved::damaged;

    ++order->second.version;
    order->second.state = name_of(after.state);
    order->second.after = &after;
    if (paid != payments_.end()) {
        ++paid->second.version;
        paid->second.after = &payment->after;
    } else if (payment) {
        new_payments_.push_back(&payment->after);
    }
    for (const EventKind kind : events) journal_.tell(kind, {.sale = after.sale.view(), .order = after.id});
    return Moved::done;
}

bool Moves::move_stock(const OrderMove& move) {
    const OrderRecord& after = move.after;
    if (move.before.hold == after.hold) return true;
    StockNow& stock = stock_.at({after.sale.view(), after.item.view()});
    const UnitsMoved moved = units_moved(move.before.hold, after.hold, after.units);
    const bool suffices = stock.available + moved.available >= 0 && stock.held + moved.held >= 0 &&
                          stock.sold + moved.sold >= 0;
    if (!suffices) return false;
    stock.available += moved.available;
    stock.held += moved.held;
    stock.sold += moved.sold;
    stock.is_touched = true;
    const Journal::Units units{after.sale.view(), after.item.view(), after.holder, after.units};
    const bool is_sold = after.hold == HoldState::sold;
    journal_.stock_moved(is_sold ? StockMoveKind::sold : StockMoveKind::released, units);
    if (!is_sold) journal_.give_back(units);
    if (is_sold && move.before.hold == HoldState::open) journal_.give_slot_back(units);
    return true;
}

void Moves::write() {
    Integers ids, versions_read, versions_now, payment_of_order;
    Texts sales, items, states, holds, falls_to, reasons;
    for (const auto& [id, order] : orders_) {
        if (order.after == nullptr) continue;
        const OrderRecord& after = *order.after;
        ids.push(static_cast<int64_t>(id));
        sales.push(after.sale.view());
        items.push(after.item.view());
        versions_read.push(order.version_read);
        versions_now.push(order.version);
        states.push(name_of(after.state));
        holds.push(name_of(after.hold));
        payment_of_order.push(after.payment);
        falls_to.push(name_of(after.falls_to));
        reasons.push_or_null(after.reason);
    }
    if (ids.size() == 0) return;
    const size_t moved = connection_.queue(
        "UPDATE orders o SET state = t.state, hold = t.hold, payment = t.payment, falls_to = t.falls_to, "
        "reason = t.reason, version = t.version_now, updated_at_ms = $1 "
        "FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], "
        "$8::text[], "
        "$9::bigint[], $10::text[], $11::text[]) "
        "AS t(id, sale, item, version_read, version_now, state, hold, payment, falls_to, reason) "
        "WHERE o.id = t.id AND o.sale = t.sale AND o.item = t.item AND o.version = t.version_read",
        Params()
            .add(to_ms(now_))
            .add(ids)
            .add(sales)
            .add(items)
            .add(versions_read)
            .add(versions_now)
            .add(states)
            .add(holds)
            .add(payment_of_order)
            .add(falls_to)
            .add(reasons));
    if (!new_payments_.empty()) queue_new_payments(connection_, new_payments_, now_);
    std::vector<ChangedPayment> changed;
    for (const auto& [id, payment] : payments_) {
        if (payment.after != nullptr)
            changed.push_back({payment.version_read, payment.version, payment.after});
    }
    if (!changed.empty()) queue_changed_payments(connection_, changed, now_);
    for (const auto& [key, stock] : stock_) {
        if (!stock.is_touched) continue;
        // The row is locked: the difference is a delta on what it still has.
        connection_.queue(
            "UPDATE items SET units_available = units_available + $3, units_held = units_held + $4, "
            "units_sold = units_sold + $5, version = version + 1 WHERE sale = $1 AND id = $2",
            Params()
                .add(key.first)
                .add(key.second)
                .add(stock.available - stock.available_read)
                .add(stock.held - stock.held_read)
                .add(stock.sold - stock.sold_read));
    }
    if (connection_.settle()[moved].changed() != ids.size()) {
        throw Failure(StoreErrc::damaged, "an order changed under its lock");
    }
}

}  // namespace doorbuster::pg
