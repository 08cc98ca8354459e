#include "store/row_words.hpp"
#include "store_cluster/pg_rows.hpp"
#include "store_cluster/postgres_orders.hpp"

namespace doorbuster {

using pg::all_of;
using pg::Connection;
using pg::first_of;
using pg::order_of;
using pg::Params;
using pg::payment_of;
using pg::purchase_of;
using pg::required;
using pg::Row;
using pg::Rows;
using pg::select_orders;
using pg::select_payments;
using pg::select_purchases;

namespace {

// One read of everything, a piece at a time: memory stays bounded however much there is.
struct Scan {
    explicit Scan(const std::string& name, const std::string& select)
        : declare("DECLARE " + name + " NO SCROLL CURSOR FOR " + select),
          fetch("FETCH 4096 FROM " + name),
          close("CLOSE " + name) {}

    template <class Visit>
    void run(Connection& connection, const Params& params, Visit&& visit) const {
        std::optional<pg::Transaction> own;
        if (!connection.in_transaction()) own.emplace(connection, pg::Transaction::Kind::read_one_moment);
        connection.queue(declare, params);
        for (Rows rows = connection.run(fetch); !rows.empty(); rows = connection.run(fetch)) {
            for (size_t i = 0; i < rows.size(); ++i) visit(rows[i]);
        }
        connection.run(close);
    }

    std::string declare, fetch, close;
};

// The states that the partial indexes name.
const std::string where_due =
    "WHERE o.state IN ('pending_payment', 'paying') AND o.pay_by_ms <= $1 "
    "AND (o.pay_by_ms <= $2 OR o.created_at_ms >= $3) ";

// Partition and position are its first columns.
LedgerPlace place_in(const Row& row) {
    return {static_cast<uint64_t>(row.integer(0)), static_cast<uint64_t>(row.integer(1))};
}

Params due_params(const DueBy& by) {
    return Params().add(to_ms(by.now)).add(to_ms(by.trusted)).add(to_ms(by.made_since));
}

}  // namespace

StoreResult<std::vector<SaleRecord>> PostgresOrdersReader::sales() {
    return reading("reading the sales", [](Connection& c) { return pg::read_sales(c); });
}

StoreResult<std::optional<OrderRecord>> PostgresOrdersReader::find_order(OrderId id) {
    static const std::string select = select_orders + "WHERE o.id = $1";
    return reading("reading an order", [&](Connection& c) {
        return first_of(c.run(select, Params().add(static_cast<int64_t>(id))), order_of);
    });
}

StoreResult<std::optional<PurchaseRecord>> PostgresOrdersReader::find_purchase(const PurchaseId& id) {
    static const std::string select = select_purchases + "WHERE p.id = $1";
    return reading("reading a purchase",
                   [&](Connection& c) { return first_of(c.run(select, Params().add(id)), purchase_of); });
}

StoreResult<std::vector<OrderRecord>> PostgresOrdersReader::orders_of(const BuyerId& buyer,
                                                                      std::optional<OrderId> before,
                                                                      size_t count_max) {
    static const std::string select =
        select_orders + "WHERE o.buyer = $1 AND o.id < $2 ORDER BY o.id DESC LIMIT $3";
    return reading("reading a buyer's orders", [&](Connection& c) {
        const int64_t end = before ? static_cast<int64_t>(*before) : INT64_MAX;
        return all_of(c.run(select, Params().add(buyer.view()).add(end).add(count_max)), order_of);
    });
}

StoreResult<std::vector<DeadLetter>> PostgresOrdersReader::dead_letters(uint64_t after_position,
                                                                        size_t count_max) {
    return reading("reading the dead letters", [&](Connection& c) {
        const LedgerPlace after = LedgerPlace::of(after_position);
        const Rows rows = c.run(
            "SELECT partition, position, reason, record, buried_at_ms, state FROM dead_letters "
            "WHERE (partition, position) > ($1::bigint, $2::bigint) ORDER BY partition, position LIMIT $3",
            Params().add(after.partition).add(after.position).add(count_max));
        return all_of(rows, [](const Row& row) {
            return DeadLetter{
                place_in(row).number(), std::string(row.text(2)), std::string(row.bytes(3)), row.instant(4),
                required(find_name<LetterState>(letter_names, row.text(5)), "state of a dead letter")};
        });
    });
}

StoreResult<void> PostgresOrdersReader::each_purchase(
    const std::function<void(const PurchaseRecord&)>& visit) {
    static const Scan scan("every_purchase",
                           select_purchases + "JOIN sales s ON s.id = p.sale WHERE s.state != 'reconciled'");
    return reading("reading the purchases",
                   [&](Connection& c) { scan.run(c, {}, [&](const Row& row) { visit(purchase_of(row)); }); });
}

StoreResult<void> PostgresOrdersReader::each_purchase_of(
    const SaleId& sale, const std::function<void(const PurchaseRecord&)>& visit) {
    static const Scan scan("purchases_of", select_purchases + "WHERE p.sale = $1");
    return reading("reading the purchases", [&](Connection& c) {
        scan.run(c, Params().add(sale.view()), [&](const Row& row) { visit(purchase_of(row)); });
    });
}

StoreResult<void> PostgresOrdersReader::at_one_moment(const std::function<StoreResult<void>()>& body) {
    StoreResult<void> read;
    const auto begun = reading("beginning to read", [&](Connection& c) {
        const pg::Transaction moment(c, pg::Transaction::Kind::read_one_moment);
        c.settle();
        // What the body reads goes through this connection, whichever it would have borrowed.
        struct Restore {
            Connection*& used;
            Connection* before;
            ~Restore() { used = before; }
        } restore{connection_, std::exchange(connection_, &c)};
        read = body();
    });
    return begun ? read : begun;
}

StoreResult<void> PostgresOrdersReader::each_order(const std::function<void(const OrderRecord&)>& visit) {
    static const Scan scan("every_order", select_orders);
    return reading("reading the orders",
                   [&](Connection& c) { scan.run(c, {}, [&](const Row& row) { visit(order_of(row)); }); });
}

StoreResult<void> PostgresOrdersReader::each_holding(const std::function<void(const Holding&)>& visit) {
    static const Scan scan("every_holding", "SELECT sale, item, buyer, units FROM buyer_holdings");
    return reading("reading the buyers' holdings", [&](Connection& c) {
        scan.run(c, {}, [&](const Row& row) {
            visit({required(SaleId::from(row.text(0)), "sale id"),
                   required(ItemId::from(row.text(1)), "item id"),
                   required(BuyerId::from(row.text(2)), "buyer"), static_cast<uint32_t>(row.integer(3))});
        });
    });
}

StoreResult<std::optional<PaymentRecord>> PostgresOrdersReader::find_payment(PaymentId id) {
    static const std::string select = select_payments + "WHERE y.id = $1";
    return reading("reading a payment", [&](Connection& c) {
        return first_of(c.run(select, Params().add(static_cast<int64_t>(id))), payment_of);
    });
}

StoreResult<std::vector<PaymentRecord>> PostgresOrdersReader::payments_of(OrderId order) {
    static const std::string select = select_payments + "WHERE y.order_id = $1 ORDER BY y.id";
    return reading("reading an order's payments", [&](Connection& c) {
        return all_of(c.run(select, Params().add(static_cast<int64_t>(order))), payment_of);
    });
}

StoreResult<void> PostgresOrdersReader::each_payment(const std::function<void(const PaymentRecord&)>& visit) {
    static const Scan scan("every_payment", select_payments);
    return reading("reading the payments",
                   [&](Connection& c) { scan.run(c, {}, [&](const Row& row) { visit(payment_of(row)); }); });
}

StoreResult<void> PostgresOrdersReader::each_stock_move(const std::function<void(const StockMove&)>& visit) {
    static const Scan scan("every_stock_move",
                           "SELECT number, kind, sale, item, purchase, units, at_ms, position, epoch "
                           "FROM stock_moves ORDER BY number");
    return reading("reading the moves of the stock", [&](Connection& c) {
        scan.run(c, {}, [&](const Row& row) {
            visit({.number = static_cast<uint64_t>(row.integer(0)),
                   .kind = required(find_name<StockMoveKind>(stock_move_names, row.text(1)), "stock move"),
                   .sale = required(SaleId::from(row.text(2)), "sale id"),
                   .item = required(ItemId::from(row.text(3)), "item id"),
                   .purchase = row.purchase_or_none(4),
                   .units = row.integer(5),
                   .at = row.instant(6),
                   .position = static_cast<uint64_t>(row.integer(7)),
                   .epoch = static_cast<uint64_t>(row.integer(8))});
        });
    });
}

StoreResult<void> PostgresOrdersReader::each_late(const std::function<void(uint64_t position)>& visit) {
    static const Scan scan("every_late_record", "SELECT partition, position FROM late_records");
    return reading("reading the records that came late", [&](Connection& c) {
        scan.run(c, {}, [&](const Row& row) { visit(place_in(row).number()); });
    });
}

StoreResult<std::vector<OrderRecord>> PostgresOrdersReader::due_orders(const DueBy& by, size_t count_max,
                                                                       size_t passed_over) {
    static const std::string select =
        select_orders + where_due + "ORDER BY o.pay_by_ms, o.id LIMIT $4 OFFSET $5";
    return reading("reading the orders that are due", [&](Connection& c) {
        return all_of(c.run(select, due_params(by).add(count_max).add(passed_over)), order_of);
    });
}

StoreResult<std::vector<PaymentRecord>> PostgresOrdersReader::due_payments(DuePayments which, Instant now,
                                                                           size_t count_max) {
    static const auto due = [](std::string_view state) {
        return fmt::format(
            "{}WHERE y.look_at_ms IS NOT NULL AND {} AND y.look_at_ms <= $1 ORDER BY y.look_at_ms, y.id "
            "LIMIT "
            "$2",
            select_payments, state);
    };
    static const std::string awaited = due("y.state <> 'voided'"), watched = due("y.state = 'voided'");
    const std::string& select = which == DuePayments::awaited ? awaited : watched;
    return reading("reading the payments that are due", [&](Connection& c) {
        return all_of(c.run(select, Params().add(to_ms(now)).add(count_max)), payment_of);
    });
}

StoreResult<std::vector<OrderRecord>> PostgresOrdersReader::orders_in(OrderState state, size_t count_max) {
    static const std::string select = select_orders + "WHERE o.state = $1 ORDER BY o.id LIMIT $2";
    return reading("reading orders", [&](Connection& c) {
        return all_of(c.run(select, Params().add(name_of(state)).add(count_max)), order_of);
    });
}

// By number. Several write, so one may become visible behind a later one: whoever must miss none takes
// them from the outbox, or reads at one moment.
StoreResult<std::vector<EventRecord>> PostgresOrdersReader::events_after(uint64_t number, size_t count_max) {
    return reading("reading the events", [&](Connection& c) {
        const Rows rows = c.run(
            "SELECT number, kind, at_ms, sale, order_id, purchase, payment FROM events "
            "WHERE number > $1 ORDER BY number LIMIT $2",
            Params().add(number).add(count_max));
        return all_of(rows, pg::event_of);
    });
}

StoreResult<OrderCounts> PostgresOrdersReader::count_orders() {
    return reading("counting the orders", [&](Connection& c) {
        OrderCounts counts{};
        const Rows rows = c.run("SELECT state, count(*) FROM orders GROUP BY state");
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto state = required(order_state_of(rows[i].text(0)), "order state");
            counts[static_cast<size_t>(state)] = static_cast<uint64_t>(rows[i].integer(1));
        }
        return counts;
    });
}

StoreResult<Backlog> PostgresOrdersReader::backlog(const DueBy& by) {
    static const std::string select = "SELECT (SELECT min(o.pay_by_ms) FROM orders o " + where_due +
                                      "), (SELECT min(updated_at_ms) FROM orders WHERE state = 'voiding'), "
                                      "(SELECT count(*) FROM payments WHERE look_at_ms IS NOT NULL), "
                                      "(SELECT count(*) FROM dead_letters WHERE state = 'open'), "
                                      "(SELECT coalesce(max(looks), 0)::bigint FROM payments "
                                      "WHERE state = 'refunding')";
    return reading("looking at what waits", [&](Connection& c) {
        const Rows rows = c.run(select, due_params(by));
        const Row row = rows.front();
        return Backlog{.oldest_due = row.instant_or_none(0),
                       .oldest_voiding = row.instant_or_none(1),
                       .payments_to_settle = static_cast<uint64_t>(row.integer(2)),
                       .dead_letters_open = static_cast<uint64_t>(row.integer(3)),
                       .refund_asks_max = static_cast<uint64_t>(row.integer(4))};
    });
}

StoreResult<uint64_t> PostgresOrdersReader::unsettled(const SaleId& sale) {
    return reading("counting what is not settled", [&](Connection& c) {
        return static_cast<uint64_t>(
            c.read_integer("SELECT (SELECT count(*) FROM orders WHERE sale = $1 AND state NOT IN "
                           "('paid', 'expired', 'cancelled', 'refunded')) + "
                           "(SELECT count(*) FROM payments y JOIN orders o ON o.id = y.order_id "
                           "WHERE o.sale = $1 AND y.look_at_ms IS NOT NULL)",
                           Params().add(sale.view())));
    });
}

StoreResult<PaymentId> PostgresOrdersReader::last_payment() {
    return reading("reading the last payment", [](Connection& c) {
        return PaymentId{c.read_integer("SELECT coalesce(max(id), 0) FROM payments")};
    });
}

StoreResult<uint64_t> PostgresOrdersReader::position() {
    return reading("reading the worker's position", [&](Connection& c) {
        return static_cast<uint64_t>(c.read_integer(
            "SELECT position FROM partition_offsets WHERE partition = $1", Params().add(partition_)));
    });
}

StoreResult<LedgerCut> PostgresOrdersReader::cut() {
    return reading("reading the workers' positions", [](Connection& c) {
        // A partition that nobody has read yet has no row.
        std::vector<uint64_t> positions(1, 0);
        const Rows rows = c.run("SELECT partition, position FROM partition_offsets");
        for (size_t i = 0; i < rows.size(); ++i) {
            const LedgerPlace reached = place_in(rows[i]);
            positions.resize(std::max<size_t>(positions.size(), reached.partition + 1), 0);
            positions[reached.partition] = reached.position;
        }
        return LedgerCut(std::move(positions));
    });
}

StoreResult<OrderId> PostgresOrdersReader::last_order() {
    return reading("reading the last order", [](Connection& c) {
        return OrderId{c.read_integer("SELECT coalesce(max(id), 0) FROM orders")};
    });
}

}  // namespace doorbuster
