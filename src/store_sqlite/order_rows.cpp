#include "store_sqlite/order_rows.hpp"

#include "store/row_words.hpp"
#include "store_sqlite/columns.hpp"

namespace doorbuster::sqlite {

namespace {

std::optional<Instant> instant_or_none(const Statement& row, int column) {
    return row.is_null(column) ? std::nullopt : std::optional(from_ms(row.integer(column)));
}

}  // namespace

const std::string_view select_orders =
    "SELECT o.id, o.purchase, o.sale, o.item, o.buyer, o.units, o.amount_minor, o.currency, o.state, "
    "o.version, o.created_at_ms, o.pay_by_ms, o.updated_at_ms, o.hold, o.holder, o.payment, o.falls_to, "
    "o.reason, s.stock_policy FROM orders o JOIN sales s ON s.id = o.sale ";

OrderRecord order_of(const Statement& row) {
    OrderRecord order{.id = OrderId{row.integer(0)},
                      .purchase = required(purchase_of(row.blob(1)), "purchase id"),
                      .sale = required(SaleId::from(row.text(2)), "sale id"),
                      .item = required(ItemId::from(row.text(3)), "item id"),
                      .buyer = required(BuyerId::from(row.text(4)), "buyer"),
                      .units = static_cast<uint32_t>(row.integer(5)),
                      .amount_minor = row.integer(6),
                      .currency = std::string(row.text(7)),
                      .policy = required(stock_policy_of(row.text(18)), "stock policy"),
                      .state = required(order_state_of(row.text(8)), "order state"),
                      .version = static_cast<uint64_t>(row.integer(9)),
                      .created_at = from_ms(row.integer(10)),
                      .pay_by = from_ms(row.integer(11)),
                      .updated_at = from_ms(row.integer(12)),
                      .hold = hold_of(row.text(13)),
                      .holder = {},
                      .payment = {},
                      .falls_to = OrderState::expired,
                      .reason = std::string(row.text(17))};
    order.holder = row.is_null(14) ? order.purchase : required(purchase_of(row.blob(14)), "holder");
    if (!row.is_null(15)) order.payment = PaymentId{row.integer(15)};
    if (!row.is_null(16)) order.falls_to = required(order_state_of(row.text(16)), "order state");
    return order;
}

const std::string_view select_payments =
    "SELECT id, order_id, state, version, amount_minor, currency, captured_minor, captured_currency, url, "
    "created_at_ms, updated_at_ms, look_at_ms, looks FROM payments ";

PaymentRecord payment_of(const Statement& row) {
    return {.id = PaymentId{row.integer(0)},
            .order = OrderId{row.integer(1)},
            .state = required(payment_state_of(row.text(2)), "payment state"),
            .version = static_cast<uint64_t>(row.integer(3)),
            .amount_minor = row.integer(4),
            .currency = std::string(row.text(5)),
            .captured_minor = row.integer(6),
            .captured_currency = std::string(row.text(7)),
            .url = std::string(row.text(8)),
            .created_at = from_ms(row.integer(9)),
            .updated_at = from_ms(row.integer(10)),
            .look_at = instant_or_none(row, 11),
            .looks = static_cast<uint32_t>(row.integer(12))};
}

std::string_view name_of_hold(HoldState state) {
    return name_of(state);
}
HoldState hold_of(std::string_view name) {
    return required(find_name<HoldState>(hold_names, name), "hold");
}
std::string_view name_of_letter(LetterState state) {
    return name_of(state);
}
LetterState letter_state_of(std::string_view name) {
    return required(find_name<LetterState>(letter_names, name), "state of a dead letter");
}
StockMoveKind stock_move_kind_of(std::string_view name) {
    return required(find_name<StockMoveKind>(stock_move_names, name), "stock move");
}

Journal::Journal(Connection& connection)
    : event_(connection,
             "INSERT INTO events(kind, at_ms, sale, order_id, purchase, payment) VALUES(?, ?, ?, ?, ?, ?)"),
      stock_move_(connection,
                  "INSERT INTO stock_moves(kind, sale, item, purchase, units, at_ms, position) "
                  "VALUES(?, ?, ?, ?, ?, ?, (SELECT position FROM worker))") {}

void Journal::tell(EventKind kind, const Subject& subject, Instant now) {
    event_.bind(1, name_of(kind)).bind(2, to_ms(now)).bind(3, subject.sale);
    subject.order ? event_.bind(4, static_cast<int64_t>(*subject.order)) : event_.bind_null(4);
    subject.purchase ? bind(event_, 5, *subject.purchase) : event_.bind_null(5);
    subject.payment ? event_.bind(6, static_cast<int64_t>(*subject.payment)) : event_.bind_null(6);
    event_.run();
}

void Journal::stock_moved(StockMoveKind kind, std::string_view sale, std::string_view item,
                          const std::optional<PurchaseId>& purchase, int64_t units, Instant now) {
    stock_move_.bind(1, name_of(kind)).bind(2, sale).bind(3, item);
    purchase ? bind(stock_move_, 4, *purchase) : stock_move_.bind_null(4);
    stock_move_.bind(5, units).bind(6, to_ms(now)).run();
}

}  // namespace doorbuster::sqlite
