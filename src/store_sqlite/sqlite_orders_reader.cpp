#include <fmt/format.h>

#include "store_sqlite/columns.hpp"
#include "store_sqlite/sale_rows.hpp"
#include "store_sqlite/sqlite_orders.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::guarded;
using sqlite::required;
using sqlite::Rows;
using sqlite::Statement;

namespace {

constexpr std::string_view select_orders =
    "SELECT id, purchase, sale, item, buyer, units, amount_minor, currency, state, version, created_at_ms, "
    "pay_by_ms, updated_at_ms FROM orders ";

OrderRecord order_of(const Statement& row) {
    return {.id = OrderId{row.integer(0)},
            .purchase = required(sqlite::purchase_of(row.blob(1)), "purchase id"),
            .sale = required(SaleId::from(row.text(2)), "sale id"),
            .item = required(ItemId::from(row.text(3)), "item id"),
            .buyer = required(BuyerId::from(row.text(4)), "buyer"),
            .units = static_cast<uint32_t>(row.integer(5)),
            .amount_minor = row.integer(6),
            .currency = std::string(row.text(7)),
            .state = required(order_state_of(row.text(8)), "order state"),
            .version = static_cast<uint64_t>(row.integer(9)),
            .created_at = from_ms(row.integer(10)),
            .pay_by = from_ms(row.integer(11)),
            .updated_at = from_ms(row.integer(12))};
}

constexpr std::string_view select_purchases =
    "SELECT p.id, p.sale, p.item, p.buyer, p.units, p.sequence, p.accepted_at_ms, p.state, p.reason, "
    "p.order_id, "
    "o.state FROM purchases p LEFT JOIN orders o ON o.id = p.order_id ";

HoldState hold_of(PurchaseState state, std::optional<OrderState> order) {
    if (state == PurchaseState::cancelled || !order || !holds_units(*order)) return HoldState::finished;
    return *order == OrderState::paid ? HoldState::sold : HoldState::held;
}

PurchaseRecord purchase_of(const Statement& row) {
    const PurchaseState state =
        row.text(7) == "cancelled" ? PurchaseState::cancelled : PurchaseState::ordered;
    return {
        .sale = required(SaleId::from(row.text(1)), "sale id"),
        .item = required(ItemId::from(row.text(2)), "item id"),
        .acceptance = {required(sqlite::purchase_of(row.blob(0)), "purchase id"),
                       required(BuyerId::from(row.text(3)), "buyer"), static_cast<uint32_t>(row.integer(4)),
                       static_cast<uint64_t>(row.integer(5)), from_ms(row.integer(6))},
        .state = state,
        .reason = std::string(row.text(8)),
        .order = row.is_null(9) ? std::nullopt : std::optional(OrderId{row.integer(9)}),
        .hold = hold_of(state, row.is_null(10) ? std::nullopt : order_state_of(row.text(10)))};
}

}  // namespace

SqliteOrdersReader::SqliteOrdersReader(sqlite::Connection& connection)
    : connection_(connection),
      order_(connection, std::string(select_orders) + "WHERE id = ?"),
      purchase_(connection, std::string(select_purchases) + "WHERE p.id = ?"),
      orders_of_(connection,
                 // Sorts all of this buyer's: few, because each was accepted once. Left to itself
                 // SQLite might walk everybody's, newest first, to spare the sorting.
                 std::string(select_orders) +
                     "INDEXED BY orders_by_buyer WHERE buyer = ? AND id < ? ORDER BY id DESC LIMIT ?") {}

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
        Rows rows(orders_of_.bind(1, buyer.view())
                      .bind(2, before ? static_cast<int64_t>(*before) : INT64_MAX)
                      .bind(3, static_cast<int64_t>(count_max)));
        while (rows.next()) orders.push_back(order_of(orders_of_));
        return orders;
    });
}

StoreResult<std::vector<DeadLetter>> SqliteOrdersReader::dead_letters(uint64_t after_position,
                                                                      size_t count_max) {
    return guarded("reading the dead letters", [&] {
        Statement select(connection_,
                         "SELECT position, reason, record, buried_at_ms FROM dead_letters WHERE position > ? "
                         "ORDER BY position LIMIT ?");
        std::vector<DeadLetter> letters;
        Rows rows(
            select.bind(1, static_cast<int64_t>(after_position)).bind(2, static_cast<int64_t>(count_max)));
        while (rows.next()) {
            letters.push_back({static_cast<uint64_t>(rows->integer(0)), std::string(rows->text(1)),
                               std::string(rows->text(2)), from_ms(rows->integer(3))});
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

StoreResult<uint64_t> SqliteOrdersReader::position() {
    return guarded("reading the worker's position", [&] {
        return static_cast<uint64_t>(connection_.read_integer("SELECT position FROM worker"));
    });
}

StoreResult<OrderId> SqliteOrdersReader::last_order() {
    return guarded("reading the last order", [&] {
        return OrderId{connection_.read_integer("SELECT coalesce(max(id), 0) FROM orders")};
    });
}

}  // namespace doorbuster
