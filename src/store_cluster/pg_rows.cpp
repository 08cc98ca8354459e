#include "store_cluster/pg_rows.hpp"

#include "store/row_words.hpp"

namespace doorbuster::pg {

OrderRecord order_of(const Row& row) {
    OrderRecord order{.id = OrderId{row.integer(0)},
                      .purchase = row.purchase(1),
                      .sale = required(SaleId::from(row.text(2)), "sale id"),
                      .item = required(ItemId::from(row.text(3)), "item id"),
                      .buyer = required(BuyerId::from(row.text(4)), "buyer"),
                      .units = static_cast<uint32_t>(row.integer(5)),
                      .amount_minor = row.integer(6),
                      .currency = std::string(row.text(7)),
                      .policy = required(stock_policy_of(row.text(18)), "stock policy"),
                      .state = required(order_state_of(row.text(8)), "order state"),
                      .version = static_cast<uint64_t>(row.integer(9)),
                      .created_at = row.instant(10),
                      .pay_by = row.instant(11),
                      .updated_at = row.instant(12),
                      .hold = required(find_name<HoldState>(hold_names, row.text(13)), "hold"),
                      .holder = {},
                      .payment = row.integer_or_none<PaymentId>(15),
                      .falls_to = OrderState::expired,
                      .reason = std::string(row.text(17))};
    order.holder = row.is_null(14) ? order.purchase : row.purchase(14);
    if (!row.is_null(16)) order.falls_to = required(order_state_of(row.text(16)), "order state");
    return order;
}

PurchaseRecord purchase_of(const Row& row) {
    const bool has_order = !row.is_null(10);
    const HoldState of_order =
        has_order ? required(find_name<HoldState>(hold_names, row.text(10)), "hold") : HoldState::finished;
    const bool is_holder = has_order && row.flag(11);
    const bool is_over = row.text(7) == "cancelled" || of_order == HoldState::finished;
    return {.sale = required(SaleId::from(row.text(1)), "sale id"),
            .item = required(ItemId::from(row.text(2)), "item id"),
            .acceptance = {row.purchase(0), required(BuyerId::from(row.text(3)), "buyer"),
                           static_cast<uint32_t>(row.integer(4)), static_cast<uint64_t>(row.integer(5)),
                           row.instant(6)},
            .state = is_over ? PurchaseState::cancelled : PurchaseState::ordered,
            .reason = std::string(row.text(8)),
            .order = row.integer_or_none<OrderId>(9),
            .hold = is_holder ? of_order : HoldState::finished};
}

PaymentRecord payment_of(const Row& row) {
    return {.id = PaymentId{row.integer(0)},
            .order = OrderId{row.integer(1)},
            .state = required(payment_state_of(row.text(2)), "payment state"),
            .version = static_cast<uint64_t>(row.integer(3)),
            .amount_minor = row.integer(4),
            .currency = std::string(row.text(5)),
            .captured_minor = row.integer(6),
            .captured_currency = std::string(row.text(7)),
            .url = std::string(row.text(8)),
            .created_at = row.instant(9),
            .updated_at = row.instant(10),
            .look_at = row.instant_or_none(11),
            .looks = static_cast<uint32_t>(row.integer(12))};
}

EventRecord event_of(const Row& row) {
    return {.number = static_cast<uint64_t>(row.integer(0)),
            .kind = required(event_kind_of(row.text(1)), "event"),
            .at = row.instant(2),
            .sale = required(SaleId::from(row.text(3)), "sale id"),
            .order = row.integer_or_none<OrderId>(4),
            .purchase = row.purchase_or_none(5),
            .payment = row.integer_or_none<PaymentId>(6)};
}

namespace {

SaleRecord sale_of(const Row& row) {
    SaleRecord record;
    Sale& sale = record.sale;
    sale.id = required(SaleId::from(row.text(0)), "sale id");
    record.state = required(sale_state_of(row.text(1)), "sale state");
    record.version = static_cast<uint64_t>(row.integer(2));
    sale.title = row.text(3);
    sale.opens_at = row.instant(4);
    sale.closes_at = row.instant(5);
    sale.warm_before = std::chrono::seconds(row.integer(6));
    sale.payment_window = std::chrono::seconds(row.integer(7));
    sale.human_check = required(human_check_of(row.text(8)), "human check");
    sale.pow_number_max = static_cast<uint32_t>(row.integer(9));
    sale.purchases_per_second_max = static_cast<uint32_t>(row.integer(10));
    sale.buyers_per_address_max = static_cast<uint32_t>(row.integer(11));
    sale.stock_policy = required(stock_policy_of(row.text(12)), "stock policy");
    sale.start_jitter = milliseconds(row.integer(13));
    return record;
}

void add_item(SaleRecord& record, const Row& row) {
    auto units = [&](int column) { return static_cast<uint32_t>(row.integer(column)); };
    record.stock.push_back({units(7), units(8), units(9), units(10)});
    record.sale.items.push_back({.id = required(ItemId::from(row.text(1)), "item id"),
                                 .name = std::string(row.text(2)),
                                 .price_minor = row.integer(3),
                                 .original_price_minor = row.integer(4),
                                 .currency = std::string(row.text(5)),
                                 .units_total = units(7),
                                 .units_per_buyer_max = units(6),
                                 .orders_max = units(11)});
}

}  // namespace

// One statement, because a sale and its stock must be of one moment.
std::vector<SaleRecord> read_sales(Connection& connection, std::optional<SaleId> only) {
    static constexpr std::string_view select =
        "SELECT s.id, s.state, s.version, s.title, s.opens_at_ms, s.closes_at_ms, s.warm_before_s, "
        "s.payment_window_s, s.human_check, s.pow_number_max, s.purchases_per_second_max, "
        "s.buyers_per_address_max, s.stock_policy, s.start_jitter_ms, "
        "i.sale, i.id, i.name, i.price_minor, i.original_price_minor, i.currency, i.units_per_buyer_max, "
        "i.units_total, i.units_available, i.units_held, i.units_sold, i.orders_max "
        "FROM sales s LEFT JOIN items i ON i.sale = s.id WHERE $1::text IS NULL OR s.id = $1 "
        "ORDER BY s.opens_at_ms, s.id, i.ordinal";
    const Rows rows = connection.run(select, Params().add_or_null(only ? only->view() : ""));
    std::vector<SaleRecord> records;
    for (size_t i = 0; i < rows.size(); ++i) {
        const Row row = rows[i];
        if (records.empty() || records.back().sale.id.view() != row.text(0)) records.push_back(sale_of(row));
        constexpr int first_of_item = 14;
        if (!row.is_null(first_of_item)) add_item(records.back(), row.from(first_of_item));
    }
    return records;
}

void queue_sale(Connection& connection, const Sale& sale, SaleState state, Instant now) {
    connection.queue(
        "INSERT INTO sales(id, state, version, title, opens_at_ms, closes_at_ms, warm_before_s, "
        "stock_policy, "
        "payment_window_s, human_check, pow_number_max, purchases_per_second_max, buyers_per_address_max, "
        "created_at_ms, updated_at_ms, start_jitter_ms) "
        "VALUES($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14)",
        Params()
            .add(sale.id.view())
            .add(name_of(state))
            .add(sale.title)
            .add(to_ms(sale.opens_at))
            .add(to_ms(sale.closes_at))
            .add(sale.warm_before.count())
            .add(name_of(sale.stock_policy))
            .add(sale.payment_window.count())
            .add(name_of(sale.human_check))
            .add(sale.pow_number_max)
            .add(sale.purchases_per_second_max)
            .add(sale.buyers_per_address_max)
            .add(to_ms(now))
            .add(sale.start_jitter.count()));
    queue_items(connection, sale);
}

void queue_items(Connection& connection, const Sale& sale) {
    Texts ids, names, currencies;
    Integers prices, original_prices, limits, units, orders_max;
    for (const Item& item : sale.items) {
        ids.push(item.id.view());
        names.push(item.name);
        currencies.push(item.currency);
        prices.push(item.price_minor);
        original_prices.push(item.original_price_minor);
        limits.push(item.units_per_buyer_max);
        units.push(item.units_total);
        orders_max.push(item.orders_max);
    }
    connection.queue(
        "INSERT INTO items(sale, id, ordinal, name, price_minor, original_price_minor, currency, "
        "units_per_buyer_max, units_total, units_available, units_held, units_sold, version, orders_max) "
        "SELECT $1::text, id, ordinal, name, price, original, currency, max, units, units, 0, 0, 1, slots "
        "FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], "
        "$8::bigint[], $9::bigint[]) WITH ORDINALITY "
        "AS t(id, name, price, original, currency, max, units, slots, ordinal)",
        Params()
            .add(sale.id.view())
            .add(ids)
            .add(names)
            .add(prices)
            .add(original_prices)
            .add(currencies)
            .add(limits)
            .add(units)
            .add(orders_max));
}

bool update_sale(Connection& connection, const SaleRecord& changed, Instant now) {
    static constexpr std::string_view update =
        "UPDATE sales SET state = $3, version = version + 1, title = $4, opens_at_ms = $5, "
        "closes_at_ms = $6, warm_before_s = $7, payment_window_s = $8, updated_at_ms = $9, human_check = "
        "$10, "
        "pow_number_max = $11, purchases_per_second_max = $12, buyers_per_address_max = $13, "
        "stock_policy = $14, start_jitter_ms = $15 WHERE id = $1 AND version = $2";
    const Sale& sale = changed.sale;
    return connection
               .run(update, Params()
                                .add(sale.id.view())
                                .add(changed.version)
                                .add(name_of(changed.state))
                                .add(sale.title)
                                .add(to_ms(sale.opens_at))
                                .add(to_ms(sale.closes_at))
                                .add(sale.warm_before.count())
                                .add(sale.payment_window.count())
                                .add(to_ms(now))
                                .add(name_of(sale.human_check))
                                .add(sale.pow_number_max)
                                .add(sale.purchases_per_second_max)
                                .add(sale.buyers_per_address_max)
                                .add(name_of(sale.stock_policy))
                                .add(sale.start_jitter.count()))
               .changed() == 1;
}

}  // namespace doorbuster::pg
