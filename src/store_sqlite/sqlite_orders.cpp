#include "store_sqlite/sqlite_orders.hpp"

#include <fmt/format.h>

#include <map>

#include "store_sqlite/columns.hpp"
#include "store_sqlite/sale_rows.hpp"
#include "store_sqlite/schema.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::bind;
using sqlite::Failure;
using sqlite::guarded;
using sqlite::Rows;
using sqlite::Statement;
using sqlite::Transaction;

namespace {

constexpr int log_frames_max = 16384;

constexpr std::string_view reason_no_unit = "no unit was left";
constexpr std::string_view reason_limit = "the buyer's limit was reached";
constexpr std::string_view reason_by_buyer = "cancelled by the buyer";

}  // namespace

// What a batch needs to know about an item that it places orders of.
struct SqliteOrders::ItemTerms {
    int64_t price_minor = 0, units_per_buyer_max = 0, payment_window_s = 0;
    std::string currency;

    int64_t units_available = 0;  // before the batch
    int64_t units_asked = 0;      // by all of its records, those that are known before included
    int64_t units_owed = 0;       // of the orders made; leave the stock row once, at the end

    // Then no order of the batch can find the stock short, and one update takes them all.
    bool suffices() const { return units_asked <= units_available; }
};

struct SqliteOrders::Statements {
    explicit Statements(sqlite::Connection& c)
        : move_position(c, "UPDATE worker SET position = ?2 WHERE position = ?1"),
          item_terms(c,
                     "SELECT i.price_minor, i.units_per_buyer_max, s.payment_window_s, i.currency, "
                     "i.units_available FROM items i "
                     "JOIN sales s ON s.id = i.sale WHERE i.sale = ? AND i.id = ?"),
          insert_purchase(
              c,
              "INSERT INTO purchases(id, sale, item, buyer, units, sequence, accepted_at_ms, position, "
              "state, reason, order_id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
              "ON CONFLICT(id) DO NOTHING"),
          cancel_purchase(
              c, "UPDATE purchases SET state = 'cancelled', reason = ?2, order_id = ?3 WHERE id = ?1"),
          take_units(c,
                     "UPDATE items SET units_available = units_available - ?3, units_held = units_held + ?3, "
                     "version = version + 1 WHERE sale = ?1 AND id = ?2 AND units_available >= ?3"),
          return_held(
              c,
              "UPDATE items SET units_available = units_available + ?3, units_held = units_held - ?3, "
              "version = version + 1 WHERE sale = ?1 AND id = ?2 AND units_held >= ?3"),
          // At most as many rows as the buyer's limit has units.
          active_units(c,
                       "SELECT units_active FROM orders "
                       "WHERE buyer = ?1 AND sale = ?2 AND item = ?3 AND units_active > 0"),
          insert_order(
              c,
              "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, "
              "version, created_at_ms, pay_by_ms, updated_at_ms) "
              "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending_payment', 1, ?9, ?10, ?9)"),
          cancel_order(c,
                       "UPDATE orders SET state = 'cancelled', version = version + 1, updated_at_ms = ?3 "
                       "WHERE id = ?1 AND buyer = ?2 AND state = 'pending_payment'") {}

    Statement move_position, item_terms, insert_purchase, cancel_purchase, take_units, return_held,
        active_units, insert_order, cancel_order;
};

SqliteOrders::SqliteOrders(const std::string& path) : connection_(path, Access::write) {
    sqlite::prepare(connection_, sqlite::orders_schema);
    reader_ = std::make_unique<SqliteOrdersReader>(connection_);
    statements_ = std::make_unique<Statements>(connection_);
    settings_ = std::make_unique<SqliteSettings>(connection_, failure_);
}

SqliteOrders::~SqliteOrders() = default;

StoreResult<std::unique_ptr<SqliteOrders>> SqliteOrders::open(const std::string& path) {
    return guarded("opening " + path, [&] { return std::unique_ptr<SqliteOrders>(new SqliteOrders(path)); });
}

void SqliteOrders::commit(Transaction& transaction) {
    transaction.commit();
    // It has landed: a checkpoint that fails now does not undo it, it only ends this process.
    if (connection_.log_frames() <= log_frames_max) return;
    if (const auto kept = idle(); !kept && !failure_) failure_ = kept.error();
}

SaleRecord SqliteOrders::read_sale(const SaleId& id) {
    auto found = sqlite::read_sales(connection_, id);
    if (found.empty()) throw Failure(StoreErrc::not_found, "there is no sale " + id.str());
    return std::move(found.front());
}

StoreResult<SaleRecord> SqliteOrders::create_sale(const Sale& sale, SaleState state, Instant now) {
    return writing("creating the sale", [&] {
        Transaction transaction(connection_);
        if (!sqlite::read_sales(connection_, sale.id).empty()) {
            throw Failure(StoreErrc::exists, "there is a sale " + sale.id.str() + " already");
        }
        sqlite::insert_sale(connection_, sale, state, now);
        SaleRecord record = read_sale(sale.id);
        commit(transaction);
        return record;
    });
}

StoreResult<SaleRecord> SqliteOrders::change_sale(const SaleRecord& changed, bool with_items, Instant now) {
    return writing("changing the sale", [&] {
        Transaction transaction(connection_);
        const SaleRecord current = read_sale(changed.sale.id);
        if (!sqlite::update_sale(connection_, changed, now)) {
            throw Failure(StoreErrc::conflict, fmt::format("the sale has version {} now", current.version));
        }
        if (with_items) {
            Statement remove(connection_, "DELETE FROM items WHERE sale = ?");
            remove.bind(1, changed.sale.id.view()).run();
            sqlite::insert_items(connection_, changed.sale);
        }
        SaleRecord record = read_sale(changed.sale.id);
        commit(transaction);
        return record;
    });
}

StoreResult<SaleRecord> SqliteOrders::restock(const SaleId& sale, const ItemId& item, uint32_t units,
                                              uint64_t version, Instant now) {
    return writing("restocking", [&] {
        Transaction transaction(connection_);
        SaleRecord current = read_sale(sale);
        const uint64_t version_now = std::exchange(current.version, version);
        if (!sqlite::update_sale(connection_, current, now)) {
            throw Failure(StoreErrc::conflict, fmt::format("the sale has version {} now", version_now));
        }
        Statement add(
            connection_,
            "UPDATE items SET units_total = units_total + ?3, units_available = units_available + ?3, "
            "version = version + 1 WHERE sale = ?1 AND id = ?2 AND units_total + ?3 <= ?4");
        if (add.bind(1, sale.view()).bind(2, item.view()).bind(3, units).bind(4, units_max).run() != 1) {
            for (const Item& known : current.sale.items) {
                if (known.id == item) {
                    throw Failure(StoreErrc::not_allowed,
                                  fmt::format("an item has at most {} units in all", units_max));
                }
            }
            throw Failure(StoreErrc::not_found, "there is no item " + item.str() + " in this sale");
        }
        SaleRecord record = read_sale(sale);
        commit(transaction);
        return record;
    });
}

void SqliteOrders::move_position(uint64_t expected, uint64_t to) {
    const int moved = statements_->move_position.bind(1, static_cast<int64_t>(expected))
                          .bind(2, static_cast<int64_t>(to))
                          .run();
    if (moved != 1) throw Failure(StoreErrc::conflict, "the worker's position is not the one expected");
}

SqliteOrders::ItemTerms SqliteOrders::terms_of(const LedgerEntry& entry) {
    Rows rows(statements_->item_terms.bind(1, entry.sale.view()).bind(2, entry.item.view()));
    if (!rows.next()) {
        throw Failure(StoreErrc::not_allowed,
                      fmt::format("there is no item {} in a sale {}", entry.item.view(), entry.sale.view()));
    }
    return {.price_minor = rows->integer(0),
            .units_per_buyer_max = rows->integer(1),
            .payment_window_s = rows->integer(2),
            .currency = std::string(rows->text(3)),
            .units_available = rows->integer(4)};
}

StoreResult<std::vector<Placed>> SqliteOrders::place(uint64_t expected_position,
                                                     std::span<const Placement> placements, Instant now) {
    return writing("placing orders", [&] {
        std::vector<Placed> outcomes;
        if (placements.empty()) return outcomes;
        Transaction transaction(connection_);
        move_position(expected_position, placements.back().record.position);
        // Of this batch; the views are the placements' own.
        std::map<std::pair<std::string_view, std::string_view>, ItemTerms> terms;
        std::vector<ItemTerms*> terms_by_placement;
        terms_by_placement.reserve(placements.size());
        for (const Placement& placement : placements) {
            if (!placement.record.entry) throw Failure(StoreErrc::not_allowed, "the record cannot be read");
            const LedgerEntry& entry = *placement.record.entry;
            const std::pair item(entry.sale.view(), entry.item.view());
            auto known = terms.find(item);
            if (known == terms.end()) known = terms.emplace(item, terms_of(entry)).first;
            known->second.units_asked += entry.acceptance.units;
            terms_by_placement.push_back(&known->second);
        }
        outcomes.reserve(placements.size());
        for (size_t i = 0; i < placements.size(); ++i) {
            outcomes.push_back(place_one(placements[i], *terms_by_placement[i], now));
        }
        for (const auto& [item, owed] : terms) {
            if (owed.units_owed > 0 && !take_units(item.first, item.second, owed.units_owed)) {
                throw Failure(StoreErrc::damaged, "the stock changed inside a transaction");
            }
        }
        commit(transaction);
        return outcomes;
    });
}

bool SqliteOrders::take_units(std::string_view sale, std::string_view item, int64_t units) {
    return statements_->take_units.bind(1, sale).bind(2, item).bind(3, units).run() == 1;
}

Placed SqliteOrders::place_one(const Placement& placement, ItemTerms& terms, Instant now) {
    Statements& s = *statements_;
    const LedgerEntry& entry = *placement.record.entry;
    const Acceptance& acceptance = entry.acceptance;
    const std::string_view sale = entry.sale.view(), item = entry.item.view(),
                           buyer = acceptance.buyer.view();
    const int64_t units = acceptance.units;

    bind(s.insert_purchase, 1, acceptance.purchase)
        .bind(2, sale)
        .bind(3, item)
        .bind(4, buyer)
        .bind(5, units)
        .bind(6, static_cast<int64_t>(acceptance.sequence))
        .bind(7, to_ms(acceptance.accepted_at))
        .bind(8, static_cast<int64_t>(placement.record.position))
        .bind(9, "ordered")
        .bind_null(10)
        .bind(11, static_cast<int64_t>(placement.order));
    if (s.insert_purchase.run() == 0) return Placed::known_before;

    auto cancel = [&](std::string_view reason) {
        bind(s.cancel_purchase, 1, acceptance.purchase).bind(2, reason).bind_null(3).run();
        return Placed::cancelled;
    };
    // Nobody else writes while this transaction lasts: what is counted here still holds below.
    int64_t units_active = units;
    for (Rows rows(s.active_units.bind(1, buyer).bind(2, sale).bind(3, item)); rows.next();)
        units_active += rows->integer(0);
    if (units_active > terms.units_per_buyer_max) return cancel(reason_limit);
    if (terms.suffices()) {
        terms.units_owed += units;
    } else if (!take_units(sale, item, units)) {
        return cancel(reason_no_unit);
    }
    s.insert_order.bind(1, static_cast<int64_t>(placement.order));
    bind(s.insert_order, 2, acceptance.purchase)
        .bind(3, sale)
        .bind(4, item)
        .bind(5, buyer)
        .bind(6, units)
        .bind(7, terms.price_minor * units)
        .bind(8, terms.currency)
        .bind(9, to_ms(now))
        .bind(10, to_ms(now) + terms.payment_window_s * 1000)
        .run();
    return Placed::ordered;
}

StoreResult<void> SqliteOrders::bury(uint64_t expected_position, const LedgerRecord& record,
                                     const std::string& reason, Instant now) {
    return writing("burying a record", [&] {
        Transaction transaction(connection_);
        move_position(expected_position, record.position);
        std::string text = record.raw;
        if (record.entry) {
            const LedgerEntry& entry = *record.entry;
            const Acceptance& acceptance = entry.acceptance;
            text = fmt::format("purchase={} sale={} item={} buyer={} units={} sequence={}",
                               acceptance.purchase.hex(), entry.sale.view(), entry.item.view(),
                               acceptance.buyer.view(), acceptance.units, acceptance.sequence);
            bind(statements_->insert_purchase, 1, acceptance.purchase)
                .bind(2, entry.sale.view())
                .bind(3, entry.item.view())
                .bind(4, acceptance.buyer.view())
                .bind(5, acceptance.units)
                .bind(6, static_cast<int64_t>(acceptance.sequence))
                .bind(7, to_ms(acceptance.accepted_at))
                .bind(8, static_cast<int64_t>(record.position))
                .bind(9, "cancelled")
                .bind(10, reason_unplaceable)
                .bind_null(11)
                .run();
        }
        Statement insert(
            connection_,
            "INSERT INTO dead_letters(position, reason, record, buried_at_ms) VALUES(?, ?, ?, ?)");
        insert.bind(1, static_cast<int64_t>(record.position))
            .bind(2, reason)
            .bind(3, text)
            .bind(4, to_ms(now))
            .run();
        commit(transaction);
    });
}

StoreResult<OrderRecord> SqliteOrders::cancel(OrderId id, const BuyerId& buyer, Instant now) {
    return writing("cancelling the order", [&] {
        Statements& s = *statements_;
        Transaction transaction(connection_);
        const bool stepped = s.cancel_order.bind(1, static_cast<int64_t>(id))
                                 .bind(2, buyer.view())
                                 .bind(3, to_ms(now))
                                 .run() == 1;
        const auto found = reader_->find_order(id);
        if (!found) throw Failure(found.error().code, found.error().detail);
        if (!*found || (*found)->buyer != buyer)
            throw Failure(StoreErrc::not_found, "there is no such order");
        const OrderRecord& order = **found;
        if (!stepped) {
            if (order.state == OrderState::cancelled) return order;  // done before: nothing to do again
            throw Failure(StoreErrc::not_allowed,
                          fmt::format("an order that is {} cannot be cancelled", name_of(order.state)));
        }
        const std::string_view sale = order.sale.view(), item = order.item.view();
        const int64_t units = order.units;
        if (s.return_held.bind(1, sale).bind(2, item).bind(3, units).run() != 1)
            throw Failure(StoreErrc::damaged, "an order holds units that the stock row does not know");
        bind(s.cancel_purchase, 1, order.purchase)
            .bind(2, reason_by_buyer)
            .bind(3, static_cast<int64_t>(id))
            .run();
        commit(transaction);
        return order;
    });
}

StoreResult<void> SqliteOrders::idle() {
    return guarded("checkpointing the orders", [&] { connection_.checkpoint(); });
}

}  // namespace doorbuster
