#include "store_sqlite/sale_rows.hpp"

#include "store_sqlite/columns.hpp"

namespace doorbuster::sqlite {

namespace {

std::vector<std::pair<Item, Stock>> read_items(Statement& select, const SaleId& sale) {
    std::vector<std::pair<Item, Stock>> items;
    Rows rows(select.bind(1, sale.view()));
    while (rows.next()) {
        const Stock stock{static_cast<uint32_t>(rows->integer(6)), static_cast<uint32_t>(rows->integer(7)),
                          static_cast<uint32_t>(rows->integer(8)), static_cast<uint32_t>(rows->integer(9))};
        items.push_back({{.id = required(ItemId::from(rows->text(0)), "item id"),
                          .name = std::string(rows->text(1)),
                          .price_minor = rows->integer(2),
                          .original_price_minor = rows->integer(3),
                          .currency = std::string(rows->text(4)),
                          .units_total = stock.units_total,
                          .units_per_buyer_max = static_cast<uint32_t>(rows->integer(5)),
                          .orders_max = static_cast<uint32_t>(rows->integer(10))},
                         stock});
    }
    return items;
}

}  // namespace

std::vector<SaleRecord> read_sales(Connection& connection, std::optional<SaleId> only) {
    Statement select(
        connection,
        "SELECT id, state, version, title, opens_at_ms, closes_at_ms, warm_before_s, payment_window_s, "
        "human_check, pow_number_max, purchases_per_second_max, buyers_per_address_max, stock_policy, "
        "start_jitter_ms "
        "FROM sales WHERE ?1 IS NULL OR id = ?1 ORDER BY opens_at_ms, id");
    Statement select_items(
        connection,
        "SELECT id, name, price_minor, original_price_minor, currency, units_per_buyer_max, "
        "units_total, units_available, units_held, units_sold, orders_max FROM items WHERE sale = ? "
        "ORDER BY ordinal");
    std::vector<SaleRecord> records;
    if (only) {
        select.bind(1, only->view());
    } else {
        select.bind_null(1);
    }
    Rows rows(select);
    while (rows.next()) {
        SaleRecord record;
        record.sale.id = required(SaleId::from(rows->text(0)), "sale id");
        record.state = required(sale_state_of(rows->text(1)), "sale state");
        record.version = static_cast<uint64_t>(rows->integer(2));
        record.sale.title = rows->text(3);
        record.sale.opens_at = from_ms(rows->integer(4));
        record.sale.closes_at = from_ms(rows->integer(5));
        record.sale.warm_before = std::chrono::seconds(rows->integer(6));
        record.sale.payment_window = std::chrono::seconds(rows->integer(7));
        record.sale.human_check = required(human_check_of(rows->text(8)), "human check");
        record.sale.pow_number_max = static_cast<uint32_t>(rows->integer(9));
        record.sale.purchases_per_second_max = static_cast<uint32_t>(rows->integer(10));
        record.sale.buyers_per_address_max = static_cast<uint32_t>(rows->integer(11));
        record.sale.stock_policy = required(stock_policy_of(rows->text(12)), "stock policy");
        record.sale.start_jitter = std::chrono::milliseconds(rows->integer(13));
        for (auto& [item, stock] : read_items(select_items, record.sale.id)) {
            record.sale.items.push_back(std::move(item));
            record.stock.push_back(stock);
        }
        records.push_back(std::move(record));
    }
    return records;
}

void insert_sale(Connection& connection, const Sale& sale, SaleState state, Instant now) {
    Statement insert(connection,
                     "INSERT INTO sales(id, state, version, title, opens_at_ms, closes_at_ms, warm_before_s, "
                     "stock_policy, payment_window_s, human_check, pow_number_max, purchases_per_second_max, "
                     "buyers_per_address_max, created_at_ms, updated_at_ms, start_jitter_ms) "
                     "VALUES(?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, ?14)");
    insert.bind(1, sale.id.view())
        .bind(2, name_of(state))
        .bind(3, sale.title)
        .bind(4, to_ms(sale.opens_at))
        .bind(5, to_ms(sale.closes_at))
        .bind(6, sale.warm_before.count())
        .bind(7, name_of(sale.stock_policy))
        .bind(8, sale.payment_window.count())
        .bind(9, name_of(sale.human_check))
        .bind(10, sale.pow_number_max)
        .bind(11, sale.purchases_per_second_max)
        .bind(12, sale.buyers_per_address_max)
        .bind(13, to_ms(now))
        .bind(14, sale.start_jitter.count())
        .run();
    insert_items(connection, sale);
}

void insert_items(Connection& connection, const Sale& sale) {
    Statement insert(
        connection,
        "INSERT INTO items(sale, id, ordinal, name, price_minor, original_price_minor, currency, "
        "units_per_buyer_max, units_total, units_available, units_held, units_sold, version, "
        "orders_max) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, 0, 1, ?10)");
    for (size_t i = 0; i < sale.items.size(); ++i) {
        const Item& item = sale.items[i];
        insert.bind(1, sale.id.view())
            .bind(2, item.id.view())
            .bind(3, static_cast<int64_t>(i))
            .bind(4, item.name)
            .bind(5, item.price_minor)
            .bind(6, item.original_price_minor)
            .bind(7, item.currency)
            .bind(8, item.units_per_buyer_max)
            .bind(9, item.units_total)
            .bind(10, item.orders_max)
            .run();
    }
}

bool update_sale(Connection& connection, const SaleRecord& changed, Instant now) {
    Statement update(connection,
                     "UPDATE sales SET state = ?3, version = version + 1, title = ?4, opens_at_ms = ?5, "
                     "closes_at_ms = ?6, warm_before_s = ?7, payment_window_s = ?8, updated_at_ms = ?9, "
                     "human_check = ?10, pow_number_max = ?11, purchases_per_second_max = ?12, "
                     "buyers_per_address_max = ?13, stock_policy = ?14, start_jitter_ms = ?15 "
                     "WHERE id = ?1 AND version = ?2");
    const Sale& sale = changed.sale;
    return update.bind(1, sale.id.view())
               .bind(2, static_cast<int64_t>(changed.version))
               .bind(3, name_of(changed.state))
               .bind(4, sale.title)
               .bind(5, to_ms(sale.opens_at))
               .bind(6, to_ms(sale.closes_at))
               .bind(7, sale.warm_before.count())
               .bind(8, sale.payment_window.count())
               .bind(9, to_ms(now))
               .bind(10, name_of(sale.human_check))
               .bind(11, sale.pow_number_max)
               .bind(12, sale.purchases_per_second_max)
               .bind(13, sale.buyers_per_address_max)
               .bind(14, name_of(sale.stock_policy))
               .bind(15, sale.start_jitter.count())
               .run() == 1;
}

}  // namespace doorbuster::sqlite
