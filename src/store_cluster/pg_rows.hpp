// Sales, purchases, orders, payments and events as rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/orders.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster::pg {

// Columns and tables, to be followed by WHERE; the order's table is `o`, the purchase's `p`, the
// payment's `y`.
inline const std::string select_orders =
    "SELECT o.id, o.purchase, o.sale, o.item, o.buyer, o.units, o.amount_minor, o.currency, o.state, "
    "o.version, o.created_at_ms, o.pay_by_ms, o.updated_at_ms, o.hold, o.holder, o.payment, o.falls_to, "
    "o.reason, s.stock_policy FROM orders o JOIN sales s ON s.id = o.sale ";
inline const std::string select_purchases =
    "SELECT p.id, p.sale, p.item, p.buyer, p.units, p.sequence, p.accepted_at_ms, p.state, "
    "coalesce(o.reason, p.reason), p.order_id, o.hold, coalesce(o.holder, o.purchase) = p.id, p.epoch "
    "FROM purchases p LEFT JOIN orders o ON o.id = p.order_id AND o.sale = p.sale AND o.item = p.item ";
inline const std::string select_payments =
    "SELECT y.id, y.order_id, y.state, y.version, y.amount_minor, y.currency, y.captured_minor, "
    "y.captured_currency, y.url, y.created_at_ms, y.updated_at_ms, y.look_at_ms, y.looks FROM payments y ";

OrderRecord order_of(const Row& row);
PurchaseRecord purchase_of(const Row& row);
PaymentRecord payment_of(const Row& row);
// number, kind, at_ms, sale, order_id, purchase, payment
EventRecord event_of(const Row& row);

template <class Make>
auto all_of(const Rows& rows, Make&& make) {
    std::vector<decltype(make(rows.front()))> found;
    found.reserve(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) found.push_back(make(rows[i]));
    return found;
}
template <class Make>
auto first_of(const Rows& rows, Make&& make) {
    return rows.empty() ? std::nullopt : std::optional(make(rows.front()));
}

// All sales, or the one named.
std::vector<SaleRecord> read_sales(Connection& connection, std::optional<SaleId> only = {});
void queue_sale(Connection& connection, const Sale& sale, SaleState state, Instant now);
void queue_items(Connection& connection, const Sale& sale);
// Writes everything but the items; false if the version is another. Raises the version.
bool update_sale(Connection& connection, const SaleRecord& changed, Instant now);

}  // namespace doorbuster::pg
