#include <fmt/format.h>

#include "store_sqlite/batch_table.hpp"
#include "store_sqlite/columns.hpp"
#include "store_sqlite/order_rows.hpp"
#include "store_sqlite/sale_rows.hpp"
#include "store_sqlite/sqlite_orders.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::guarded;
using sqlite::order_of;
using sqlite::payment_of;
using sqlite::required;
using sqlite::Rows;
using sqlite::select_orders;
using sqlite::select_payments;
using sqlite::Statement;

namespace {

constexpr std::string_view select_purchases =
    "SELECT p.id, p.sale, p.item, p.buyer, p.units, p.sequence, p.accepted_at_ms, p.state, "
    "coalesce(o.reason, p.reason), p.order_id, o.hold, coalesce(o.holder, o.purchase) == p.id "
    "FROM purchases p LEFT JOIN orders o ON o.id = p.order_id ";

PurchaseRecord purchase_of(const Statement& row) {
    const bool has_order = !row.is_null(10);
    const HoldState of_order = has_order ? sqlite::hold_of(row.text(10)) : HoldState::finished;
    const bool is_holder = has_order && row.integer(11) != 0;
    const bool is_over = row.text(7) == "cancelled" || of_order == HoldState::finished;
    return {
        .sale = required(SaleId::from(row.text(1)), "sale id"),
        .item = required(ItemId::from(row.text(2)), "item id"),
        .acceptance = {required(sqlite::purchase_of(row.blob(0)), "purchase id"),
                       required(BuyerId::from(row.text(3)), "buyer"), static_cast<uint32_t>(row.integer(4)),
                       static_cast<uint64_t>(row.integer(5)), from_ms(row.integer(6))},
        .state = is_over ? PurchaseState::cancelled : PurchaseState::ordered,
        .reason = std::string(row.text(8)),
        .order = row.is_null(9) ? std::nullopt : std::optional(OrderId{row.integer(9)}),
        .hold = is_holder ? of_order : HoldState::finished};
}

// The states that the partial indexes name.
constexpr std::string_view where_due =
    "WHERE o.state IN ('pending_payment', 'paying') AND o.pay_by_ms <= ?1 "
    "AND (o.pay_by_ms <= ?2 OR o.created_at_ms >= ?3) ";

Statement& bind_due(Statement& statement, const DueBy& by) {
    return statement.bind(1, to_ms(by.now)).bind(2, to_ms(by.trusted)).bind(3, to_ms(by.made_since));
}

}  // namespace

SqliteOrdersReader::SqliteOrdersReader(sqlite::Connection& connection)
    : connection_(connection),
      order_(connection, std::string(select_orders) + "WHERE o.id = ?"),
      purchase_(connection, std::string(select_purchases) + "WHERE p.id = ?"),
      orders_of_(connection,
                 // The index has them in this order.
                 std::string(select_orders) +
                     "WHERE o.buyer_key = ?1 AND o.buyer = ?2 AND o.id < ?3 ORDER BY o.id DESC LIMIT ?4"),
      payment_(connection, std::string(select_payments) + "WHERE id = ?"),
      payments_of_(connection, std::string(select_payments) + "WHERE order_id = ? ORDER BY id"),
      due_orders_(connection, std::string(select_orders) + std::string(where_due) +
                                  "ORDER BY o.pay_by_ms LIMIT ?4 OFFSET ?5"),
      due_payments_(connection, std::string(select_payments) +
                                    "WHERE look_at_ms IS NOT NULL AND state != 'voided' AND look_at_ms <= ? "
                                    "ORDER BY look_at_ms LIMIT ?"),
      watched_payments_(connection, std::string(select_payments) +
                                        "WHERE look_at_ms IS NOT NULL AND state == 'voided' AND "
                                        "look_at_ms <= ? ORDER BY look_at_ms LIMIT ?"),
      position_(connection, "SELECT position FROM worker") {}

SqliteOrdersReader::SqliteOrdersReader(std::unique_ptr<sqlite::Connection> own) : SqliteOrdersReader(*own) {
    own_ = std::move(own);
    own_->execute("PRAGMA query_only = ON");
}

StoreResult<std::unique_ptr<SqliteOrdersReader>> SqliteOrdersReader::open(const std::string& path) {
    return guarded("opening " + path, [&] {
        auto connection = std::make_unique<sqlite::Connection>(path, Access::read);
        return std::unique_ptr<SqliteOrdersReader>(new SqliteOrdersReader(std::move(connection)));
    });
}

StoreResult<std::vector<SaleRecord>> SqliteOrdersReader::sales() {
    return guarded("reading the sales", [&] { return sqlite::read_sales(connection_); });
}

StoreResult<std::optional<OrderRecord>> SqliteOrdersReader::find_order(OrderId id) {
    return guarded("reading an order", [&] {
        Rows rows(order_.bind(1, static_cast<int64_t>(id)));
        return rows.next() ? std::optional(order_of(order_)) : std::nullopt;
    });
}

StoreResult<std::optional<PurchaseRecord>> SqliteOrdersReader::find_purchase(const PurchaseId& id) {
    return guarded("reading a purchase", [&] {
        Rows rows(sqlite::bind(purchase_, 1, id));
        return rows.next() ? std::optional(purchase_of(purchase_)) : std::nullopt;
    });
}

StoreResult<std::vector<OrderRecord>> SqliteOrdersReader::orders_of(const BuyerId& buyer,
                                                                    std::optional<OrderId> before,
                                                                    size_t count_max) {
    return guarded("reading a buyer's orders", [&] {
        std::vector<OrderRecord> orders;
        Rows rows(orders_of_.bind(1, sqlite::buyer_key(buyer.view()))
                      .bind(2, buyer.view())
                      .bind(3, before ? static_cast<int64_t>(*before) : INT64_MAX)
                      .bind(4, static_cast<int64_t>(count_max)));
        while (rows.next()) orders.push_back(order_of(orders_of_));
        return orders;
    });
}

StoreResult<std::vector<DeadLetter>> SqliteOrdersReader::dead_letters(uint64_t after_position,
                                                                      size_t count_max) {
    return guarded("reading the dead letters", [&] {
        Statement select(
            connection_,
            "SELECT position, reason, record, buried_at_ms, state FROM dead_letters WHERE position > ? "
            "ORDER BY position LIMIT ?");
        std::vector<DeadLetter> letters;
        Rows rows(
            select.bind(1, static_cast<int64_t>(after_position)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) {
            letters.push_back({static_cast<uint64_t>(rows->integer(0)), std::string(rows->text(1)),
                               std::string(rows->text(2)), from_ms(rows->integer(3)),
                               sqlite::letter_state_of(rows->text(4))});
        }
        return letters;
    });
}

StoreResult<void> SqliteOrdersReader::each_purchase(const std::function<void(const PurchaseRecord&)>& visit) {
    return guarded("reading the purchases", [&] {
        Statement select(connection_, std::string(select_purchases) +
                                          "JOIN sales s ON s.id = p.sale WHERE s.state != 'reconciled'");
        Rows rows(select);
        while (rows.next()) visit(purchase_of(select));
    });
}

StoreResult<void> SqliteOrdersReader::each_purchase_of(
    const SaleId& sale, const std::function<void(const PurchaseRecord&)>& visit) {
    return guarded("reading the purchases", [&] {
        Statement select(connection_, std::string(select_purchases) + "WHERE p.sale = ?");
        Rows rows(select.bind(1, sale.view()));
        while (rows.next()) visit(purchase_of(select));
    });
}

StoreResult<void> SqliteOrdersReader::at_one_moment(const std::function<StoreResult<void>()>& body) {
    StoreResult<void> read;
    const auto begun = guarded("beginning to read", [&] {
        connection_.execute("BEGIN");
        // Whatever comes: a reader that stayed in its transaction would keep the write-ahead log.
        struct End {
            sqlite::Connection& connection;
            ~End() { sqlite3_exec(connection.raw(), "ROLLBACK", nullptr, nullptr, nullptr); }
        } end{connection_};
        read = body();
    });
    return begun ? read : begun;
}

StoreResult<void> SqliteOrdersReader::each_order(const std::function<void(const OrderRecord&)>& visit) {
    return guarded("reading the orders", [&] {
        Statement select(connection_, select_orders);
        Rows rows(select);
        while (rows.next()) visit(order_of(select));
    });
}

StoreResult<void> SqliteOrdersReader::each_holding(const std::function<void(const Holding&)>& visit) {
    return guarded("reading the buyers' holdings", [&] {
        Statement select(connection_, "SELECT sale, item, buyer, units FROM buyer_holdings");
        Rows rows(select);
        while (rows.next()) {
            visit({required(SaleId::from(rows->text(0)), "sale id"),
                   required(ItemId::from(rows->text(1)), "item id"),
                   required(BuyerId::from(rows->text(2)), "buyer"), static_cast<uint32_t>(rows->integer(3))});
        }
    });
}

StoreResult<std::optional<PaymentRecord>> SqliteOrdersReader::find_payment(PaymentId id) {
    return guarded("reading a payment", [&] {
        Rows rows(payment_.bind(1, static_cast<int64_t>(id)));
        return rows.next() ? std::optional(payment_of(payment_)) : std::nullopt;
    });
}

StoreResult<std::vector<PaymentRecord>> SqliteOrdersReader::payments_of(OrderId order) {
    return guarded("reading an order's payments", [&] {
        std::vector<PaymentRecord> payments;
        Rows rows(payments_of_.bind(1, static_cast<int64_t>(order)));
        while (rows.next()) payments.push_back(payment_of(payments_of_));
        return payments;
    });
}

StoreResult<void> SqliteOrdersReader::each_payment(const std::function<void(const PaymentRecord&)>& visit) {
    return guarded("reading the payments", [&] {
        Statement select(connection_, select_payments);
        Rows rows(select);
        while (rows.next()) visit(payment_of(select));
    });
}

StoreResult<void> SqliteOrdersReader::each_stock_move(const std::function<void(const StockMove&)>& visit) {
    return guarded("reading the moves of the stock", [&] {
        Statement select(connection_,
                         "SELECT number, kind, sale, item, purchase, units, at_ms, position FROM stock_moves "
                         "ORDER BY number");
        Rows rows(select);
        while (rows.next()) {
            visit({.number = static_cast<uint64_t>(rows->integer(0)),
                   .kind = sqlite::stock_move_kind_of(rows->text(1)),
                   .sale = required(SaleId::from(rows->text(2)), "sale id"),
                   .item = required(ItemId::from(rows->text(3)), "item id"),
                   .purchase = rows->is_null(4) ? std::nullopt : sqlite::purchase_of(rows->blob(4)),
                   .units = rows->integer(5),
                   .at = from_ms(rows->integer(6)),
                   .position = static_cast<uint64_t>(rows->integer(7))});
        }
    });
}

StoreResult<std::vector<OrderRecord>> SqliteOrdersReader::due_orders(const DueBy& by, size_t count_max,
                                                                     size_t passed_over) {
    return guarded("reading the orders that are due", [&] {
        std::vector<OrderRecord> orders;
        Rows rows(bind_due(due_orders_, by)
                      .bind(4, static_cast<int64_t>(count_max))
                      .bind(5, static_cast<int64_t>(passed_over)));
        while (rows.next()) orders.push_back(order_of(due_orders_));
        return orders;
    });
}

StoreResult<std::vector<PaymentRecord>> SqliteOrdersReader::due_payments(DuePayments which, Instant now,
                                                                         size_t count_max) {
    return guarded("reading the payments that are due", [&] {
        std::vector<PaymentRecord> payments;
        Statement& select = which == DuePayments::awaited ? due_payments_ : watched_payments_;
        Rows rows(select.bind(1, to_ms(now)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) payments.push_back(payment_of(select));
        return payments;
    });
}

StoreResult<std::vector<OrderRecord>> SqliteOrdersReader::orders_in(OrderState state, size_t count_max) {
    return guarded("reading orders", [&] {
        Statement select(connection_, std::string(select_orders) + "WHERE o.state = ? ORDER BY o.id LIMIT ?");
        std::vector<OrderRecord> orders;
        Rows rows(select.bind(1, name_of(state)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) orders.push_back(order_of(select));
        return orders;
    });
}

StoreResult<std::vector<EventRecord>> SqliteOrdersReader::events_after(uint64_t number, size_t count_max) {
    return guarded("reading the events", [&] {
        Statement select(connection_,
                         "SELECT number, kind, at_ms, sale, order_id, purchase, payment FROM events "
                         "WHERE number > ? ORDER BY number LIMIT ?");
        std::vector<EventRecord> events;
        Rows rows(select.bind(1, static_cast<int64_t>(number)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) {
            events.push_back(
                {.number = static_cast<uint64_t>(rows->integer(0)),
                 .kind = required(event_kind_of(rows->text(1)), "event"),
                 .at = from_ms(rows->integer(2)),
                 .sale = required(SaleId::from(rows->text(3)), "sale id"),
                 .order = rows->is_null(4) ? std::nullopt : std::optional(OrderId{rows->integer(4)}),
                 .purchase = rows->is_null(5) ? std::nullopt : sqlite::purchase_of(rows->blob(5)),
                 .payment = rows->is_null(6) ? std::nullopt : std::optional(PaymentId{rows->integer(6)})});
        }
        return events;
    });
}

StoreResult<OrderCounts> SqliteOrdersReader::count_orders() {
    return guarded("counting the orders", [&] {
        OrderCounts counts{};
        Statement select(connection_, "SELECT state, count(*) FROM orders GROUP BY state");
        Rows rows(select);
        while (rows.next()) {
            counts[static_cast<size_t>(required(order_state_of(rows->text(0)), "order state"))] =
                static_cast<uint64_t>(rows->integer(1));
        }
        return counts;
    });
}

StoreResult<Backlog> SqliteOrdersReader::backlog(const DueBy& by) {
    return guarded("looking at what waits", [&] {
        Backlog backlog;
        auto earliest = [&](Statement& select) -> std::optional<Instant> {
            Rows rows(select);
            if (!rows.next() || rows->is_null(0)) return std::nullopt;
            return from_ms(rows->integer(0));
        };
        Statement due(connection_, "SELECT min(o.pay_by_ms) FROM orders o " + std::string(where_due));
        backlog.oldest_due = earliest(bind_due(due, by));
        Statement voiding(connection_, "SELECT min(updated_at_ms) FROM orders WHERE state = 'voiding'");
        backlog.oldest_voiding = earliest(voiding);
        backlog.payments_to_settle = static_cast<uint64_t>(
            connection_.read_integer("SELECT (SELECT count(*) FROM payments WHERE look_at_ms IS NOT NULL AND "
                                     "state != 'voided') + (SELECT count(*) FROM payments WHERE look_at_ms "
                                     "IS NOT NULL AND state == 'voided')"));
        backlog.refund_asks_max = static_cast<uint64_t>(connection_.read_integer(
            "SELECT coalesce(max(looks), 0) FROM payments WHERE state == 'refunding'"));
        backlog.dead_letters_open = static_cast<uint64_t>(
            connection_.read_integer("SELECT count(*) FROM dead_letters WHERE state = 'open'"));
        return backlog;
    });
}

StoreResult<uint64_t> SqliteOrdersReader::unsettled(const SaleId& sale) {
    return guarded("counting what is not settled", [&] {
        Statement select(connection_,
                         "SELECT (SELECT count(*) FROM orders WHERE sale = ?1 AND state NOT IN "
                         "('paid', 'expired', 'cancelled', 'refunded')) + "
                         "(SELECT count(*) FROM payments p JOIN orders o ON o.id = p.order_id "
                         "WHERE o.sale = ?1 AND p.look_at_ms IS NOT NULL)");
        Rows rows(select.bind(1, sale.view()));
        return rows.next() ? static_cast<uint64_t>(rows->integer(0)) : 0;
    });
}

StoreResult<PaymentId> SqliteOrdersReader::last_payment() {
    return guarded("reading the last payment", [&] {
        return PaymentId{connection_.read_integer("SELECT coalesce(max(id), 0) FROM payments")};
    });
}

StoreResult<uint64_t> SqliteOrdersReader::position() {
    return guarded("reading the worker's position", [&] {
        Rows rows(position_);
        return rows.next() ? static_cast<uint64_t>(rows->integer(0)) : 0;
    });
}

StoreResult<OrderId> SqliteOrdersReader::last_order() {
    return guarded("reading the last order", [&] {
        return OrderId{connection_.read_integer("SELECT coalesce(max(id), 0) FROM orders")};
    });
}

}  // namespace doorbuster
