#include "store_sqlite/sqlite_orders.hpp"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>

#include <map>

#include "base/hash.hpp"
#include "store/row_words.hpp"
#include "store_sqlite/columns.hpp"
#include "store_sqlite/order_moves.hpp"
#include "store_sqlite/sale_rows.hpp"
#include "store_sqlite/schema.hpp"

namespace doorbuster {

using sqlite::Access;
using sqlite::BatchTable;
using sqlite::bind;
using sqlite::Failure;
using sqlite::guarded;
using sqlite::Rows;
using sqlite::Statement;
using sqlite::Transaction;

// What a batch needs to know about an item that it places orders of.
struct SqliteOrders::ItemTerms {
    int64_t price_minor = 0, units_per_buyer_max = 0, payment_window_s = 0;
    std::string currency;
    StockPolicy policy = StockPolicy::reserve;
    BatchTable::Terms in_batch{};  // the same, for the orders that are made together

    int64_t units_available = 0;  // before the batch
    int64_t units_asked = 0;      // by all of its records, those that are known before included
    int64_t units_owed = 0;       // of the orders made; leave the stock row once, at the end

    // Then no order of the batch can find the stock short, and one update takes them all.
    bool suffices() const { return units_asked <= units_available; }
    HoldState hold() const { return first_hold(policy); }
};

struct BuyerOfItemHash {
    using is_avalanching = void;
    size_t operator()(const std::pair<const void*, std::string_view>& one) const {
        return seeded_hash(one.second, reinterpret_cast<uintptr_t>(one.first) ^ process_hash_seed());
    }
};

struct SqliteOrders::Statements {
    explicit Statements(sqlite::Connection& c)
        : move_position(c, "UPDATE worker SET position = ?2 WHERE position = ?1"),
          item_terms(c,
                     "SELECT i.price_minor, i.units_per_buyer_max, s.payment_window_s, i.currency, "
                     "i.units_available, s.stock_policy FROM items i "
                     "JOIN sales s ON s.id = i.sale WHERE i.sale = ? AND i.id = ?"),
          insert_purchase(
              c,
              "INSERT INTO purchases(id, sale, item, buyer, units, sequence, accepted_at_ms, position, "
              "state, reason, order_id) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
              "ON CONFLICT(id) DO NOTHING"),
          cancel_purchase(
              c, "UPDATE purchases SET state = 'cancelled', reason = ?2, order_id = NULL WHERE id = ?1"),
          give_order(c, "UPDATE purchases SET state = 'ordered', reason = NULL, order_id = ?2 WHERE id = ?1"),
          find_replaced(c, "SELECT order_id FROM purchases WHERE id = ?"),
          take_held(c,
                    "UPDATE items SET units_available = units_available - ?3, units_held = units_held + ?3, "
                    "version = version + 1 WHERE sale = ?1 AND id = ?2 AND units_available >= ?3"),
          take_sold(c,
                    "UPDATE items SET units_available = units_available - ?3, units_sold = units_sold + ?3, "
                    "version = version + 1 WHERE sale = ?1 AND id = ?2 AND units_available >= ?3"),
          // Reads every order that the buyer ever had of this shop, ended ones too.
          active_units(
              c,
              "SELECT units_active FROM orders "
              "WHERE buyer_key = ?4 AND buyer = ?1 AND sale = ?2 AND item = ?3 AND units_active > 0"),
          insert_order(
              c,
              "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, "
              "version, created_at_ms, pay_by_ms, updated_at_ms, hold, holder, buyer_key) "
              "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending_payment', 1, ?9, ?10, ?9, ?11, ?12, ?13)"),
          // A late payment has found its unit.
          reinstate_order(
              c,
              "UPDATE orders SET state = 'paid', hold = 'sold', holder = ?2, reason = NULL, "
              "version = version + 1, updated_at_ms = ?3 WHERE id = ?1 AND state = 'reinstating'"),
          // The same as above, for a whole batch. CROSS: the batch is the one that is walked through.
          active_in_batch(c,
                          "SELECT b.rowid, o.units_active FROM batch b CROSS JOIN orders o "
                          "ON o.buyer_key = b.buyer_key AND o.buyer = b.buyer AND o.sale = b.sale "
                          "AND o.item = b.item AND o.units_active > 0"),
          insert_purchases(
              c,
              "INSERT OR FAIL INTO purchases(id, sale, item, buyer, units, sequence, accepted_at_ms, "
              "position, "
              "state, order_id) SELECT purchase, sale, item, buyer, units, sequence, accepted_at_ms, "
              "position, 'ordered', order_id FROM batch"),
          insert_orders(
              c,
              "INSERT OR FAIL INTO orders(id, purchase, sale, item, buyer, buyer_key, units, amount_minor, "
              "currency, state, version, created_at_ms, pay_by_ms, updated_at_ms, hold) SELECT order_id, "
              "purchase, "
              "sale, "
              "item, buyer, buyer_key, units, amount_minor, currency, 'pending_payment', 1, ?1, "
              "?1 + payment_window_ms, ?1, hold FROM batch"),
          insert_events(c,
                        "INSERT OR FAIL INTO events(kind, at_ms, sale, order_id) SELECT ?2, ?1, sale, "
                        "order_id FROM batch"),
          journal(c),
          moves(c, journal) {}

    Statement move_position, item_terms, insert_purchase, cancel_purchase, give_order, find_replaced,
        take_held, take_sold, active_units, insert_order, reinstate_order, active_in_batch, insert_purchases,
        insert_orders, insert_events;
    sqlite::Journal journal;
    sqlite::OrderMoves moves;
};

SqliteOrders::SqliteOrders(const std::string& path) : connection_(path, Access::write) {
    sqlite::prepare(connection_, sqlite::orders_schema);
    batch_.attach(connection_, "batch");
    reader_ = std::make_unique<SqliteOrdersReader>(connection_);
    statements_ = std::make_unique<Statements>(connection_);
    settings_ = std::make_unique<SqliteSettings>(connection_, failure_);
    outbox_ = std::make_unique<SqliteOutbox>(connection_, failure_);
    // Whoever wrote: the log stays bounded. What has landed is not undone by a checkpoint that fails; that
    // only ends this process.
    connection_.set_after_commit([this] {
        if (!connection_.is_log_full()) return;
        if (const auto kept = idle(); !kept && !failure_) failure_ = kept.error();
    });
    audit_ = std::make_unique<SqliteAudit>(
        connection_, failure_,
        [this](const Placement& placement, Instant now) { return place_alone(placement, now); });
}

SqliteOrders::~SqliteOrders() = default;

StoreResult<std::unique_ptr<SqliteOrders>> SqliteOrders::open(const std::string& path) {
    return guarded("opening " + path, [&] { return std::unique_ptr<SqliteOrders>(new SqliteOrders(path)); });
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
        transaction.commit();
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
        if (const auto told = event_of_step(current.state, changed.state)) {
            statements_->journal.tell(*told, {.sale = changed.sale.id.view()}, now);
        }
        if (with_items) {
            Statement remove(connection_, "DELETE FROM items WHERE sale = ?");
            remove.bind(1, changed.sale.id.view()).run();
            sqlite::insert_items(connection_, changed.sale);
        }
        SaleRecord record = read_sale(changed.sale.id);
        transaction.commit();
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
        statements_->journal.stock_moved(StockMoveKind::restocked, sale.view(), item.view(), {}, units, now);
        SaleRecord record = read_sale(sale);
        transaction.commit();
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
            .policy = sqlite::required(stock_policy_of(rows->text(5)), "stock policy"),
            .units_available = rows->integer(4)};
}

StoreResult<std::vector<Placed>> SqliteOrders::place(uint64_t expected_position,
                                                     std::span<const Placement> placements, Instant now) {
    return writing("placing orders", [&] {
        if (placements.empty()) return std::vector<Placed>();
        auto placed = place_batch(expected_position, placements, Way::together, now);
        if (!placed) placed = place_batch(expected_position, placements, Way::one_by_one, now);
        return *std::move(placed);
    });
}

// One transaction. Nothing: together they cannot be placed, and nothing has changed.
std::optional<std::vector<Placed>> SqliteOrders::place_batch(uint64_t expected_position,
                                                             std::span<const Placement> placements, Way way,
                                                             Instant now) {
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
    std::vector<Placed> outcomes;
    if (way == Way::together) {
        if (!place_together(placements, terms_by_placement, now)) return std::nullopt;
        outcomes.assign(placements.size(), Placed::ordered);
    } else {
        outcomes.reserve(placements.size());
        for (size_t i = 0; i < placements.size(); ++i) {
            outcomes.push_back(place_one(placements[i], *terms_by_placement[i], now));
        }
    }
    for (const auto& [item, owed] : terms) {
        if (owed.units_owed > 0 && !take_units(item.first, item.second, owed.units_owed, owed.hold())) {
            throw Failure(StoreErrc::damaged, "the stock changed inside a transaction");
        }
    }
    transaction.commit();
    return outcomes;
}

// Where every one of them becomes an order, as nearly always, three statements make them all. False: it is
// not so, and the transaction is to be given up: a statement that fails leaves what it has inserted (OR
// FAIL), so that SQLite need not copy every page before it changes.
bool SqliteOrders::place_together(std::span<const Placement> placements, std::span<ItemTerms* const> terms,
                                  Instant now) {
    Statements& s = *statements_;
    std::vector<const BatchTable::Terms*> of_batch;
    of_batch.reserve(placements.size());
    boost::unordered_flat_map<std::pair<const ItemTerms*, std::string_view>, int64_t, BuyerOfItemHash>
        units_of;
    units_of.reserve(placements.size());
    for (size_t i = 0; i < placements.size(); ++i) {
        const LedgerEntry& entry = *placements[i].record.entry;
        ItemTerms& item = *terms[i];
        if (entry.replaces || !item.suffices()) return false;
        const int64_t units = units_of[{&item, entry.acceptance.buyer.view()}] += entry.acceptance.units;
        if (units > item.units_per_buyer_max) return false;
        item.in_batch = {item.price_minor, item.payment_window_s * 1000, item.currency, name_of(item.hold())};
        of_batch.push_back(&item.in_batch);
    }

    batch_.show(placements, of_batch);
    struct Hide {
        BatchTable& batch;
        ~Hide() { batch.hide(); }
    } hide{batch_};
    // A buyer who is twice in the batch is asked for twice. That counts too much, never too little.
    for (Rows rows(s.active_in_batch); rows.next();) {
        const auto at = static_cast<size_t>(rows->integer(0));
        int64_t& units = units_of[{terms[at], placements[at].record.entry->acceptance.buyer.view()}];
        units += rows->integer(1);
        if (units > terms[at]->units_per_buyer_max) return false;
    }
    if (!s.insert_purchases.try_to_run()) return false;  // one of them is known before
    s.insert_orders.bind(1, to_ms(now)).run();
    s.insert_events.bind(1, to_ms(now)).bind(2, name_of(EventKind::order_created)).run();
    for (size_t i = 0; i < placements.size(); ++i) {
        terms[i]->units_owed += placements[i].record.entry->acceptance.units;
    }
    return true;
}

Placed SqliteOrders::place_alone(const Placement& placement, Instant now) {
    const LedgerEntry& entry = *placement.record.entry;
    ItemTerms terms = terms_of(entry);
    terms.units_asked = entry.acceptance.units;
    const Placed placed = place_one(placement, terms, now);
    if (terms.units_owed > 0 &&
        !take_units(entry.sale.view(), entry.item.view(), terms.units_owed, terms.hold())) {
        throw Failure(StoreErrc::damaged, "the stock changed inside a transaction");
    }
    return placed;
}

bool SqliteOrders::take_units(std::string_view sale, std::string_view item, int64_t units, HoldState to) {
    if (to == HoldState::open) return true;  // it takes none until it is paid
    Statement& take = to == HoldState::sold ? statements_->take_sold : statements_->take_held;
    return take.bind(1, sale).bind(2, item).bind(3, units).run() == 1;
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
        bind(s.cancel_purchase, 1, acceptance.purchase).bind(2, reason).run();
        tell_cancelled(entry, now);
        return Placed::cancelled;
    };
    // Nobody else writes while this transaction lasts: what is counted here still holds below.
    int64_t units_active = units;
    const int64_t buyer_key = sqlite::buyer_key(buyer);
    for (Rows rows(s.active_units.bind(1, buyer).bind(2, sale).bind(3, item).bind(4, buyer_key));
         rows.next();)
        units_active += rows->integer(0);
    if (units_active > terms.units_per_buyer_max) return cancel(reason_limit);
    std::optional<OrderId> late;  // the order that this acceptance pays for, too late but not in vain
    if (entry.replaces) {
        Rows rows(bind(s.find_replaced, 1, *entry.replaces));
        if (!rows.next()) return cancel(reason_not_continued);
        if (!rows->is_null(0)) late = OrderId{rows->integer(0)};
    }
    if (late) {
        bind(s.reinstate_order.bind(1, static_cast<int64_t>(*late)), 2, acceptance.purchase)
            .bind(3, to_ms(now));
        if (!take_units(sale, item, units, HoldState::sold)) return cancel(reason_no_unit);
        if (s.reinstate_order.run() != 1)
            throw Failure(StoreErrc::not_allowed, "the order is not reinstating");
        bind(s.give_order, 1, acceptance.purchase).bind(2, static_cast<int64_t>(*late)).run();
        s.journal.stock_moved(StockMoveKind::sold, sale, item, acceptance.purchase, units, now);
        s.journal.tell(EventKind::order_reinstated, {.sale = sale, .order = late}, now);
        s.journal.tell(EventKind::order_paid, {.sale = sale, .order = late}, now);
        return Placed::reinstated;
    }
    if (terms.suffices()) {
        terms.units_owed += units;
    } else if (!take_units(sale, item, units, terms.hold())) {
        return cancel(reason_no_unit);
    }
    // A dead letter that was tried again: the buried purchase gets its order after all.
    if (entry.replaces)
        bind(s.give_order, 1, *entry.replaces).bind(2, static_cast<int64_t>(placement.order)).run();
    s.insert_order.bind(1, static_cast<int64_t>(placement.order));
    const PurchaseId& purchase = entry.replaces ? *entry.replaces : acceptance.purchase;  // bound, not copied
    bind(s.insert_order, 2, purchase)
        .bind(3, sale)
        .bind(4, item)
        .bind(5, buyer)
        .bind(6, units)
        .bind(7, terms.price_minor * units)
        .bind(8, terms.currency)
        .bind(9, to_ms(now))
        .bind(10, to_ms(now) + terms.payment_window_s * 1000)
        .bind(11, name_of(terms.hold()))
        .bind(13, buyer_key);
    entry.replaces ? bind(s.insert_order, 12, acceptance.purchase) : s.insert_order.bind_null(12);
    s.insert_order.run();
    s.journal.tell(EventKind::order_created, {.sale = sale, .order = placement.order}, now);
    return Placed::ordered;
}

// A fresh id is nobody's outside: what becomes of the purchase that it continues is told by that one's
// own events. Only the unit that the book gave it is on record.
void SqliteOrders::tell_cancelled(const LedgerEntry& entry, Instant now) {
    const Acceptance& acceptance = entry.acceptance;
    sqlite::Journal& journal = statements_->journal;
    if (entry.replaces) {
        journal.stock_moved(StockMoveKind::released, entry.sale.view(), entry.item.view(),
                            acceptance.purchase, acceptance.units, now);
    } else {
        journal.tell(EventKind::purchase_cancelled,
                     {.sale = entry.sale.view(), .purchase = acceptance.purchase}, now);
    }
}

StoreResult<void> SqliteOrders::bury(uint64_t expected_position, const LedgerRecord& record,
                                     const std::string& reason, Instant now) {
    return writing("burying a record", [&] {
        Transaction transaction(connection_);
        move_position(expected_position, record.position);
        if (record.entry) {
            const LedgerEntry& entry = *record.entry;
            const Acceptance& acceptance = entry.acceptance;
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
            tell_cancelled(entry, now);
        }
        const std::string record_text = text_of(record);  // bound, not copied
        Statement insert(
            connection_,
            "INSERT INTO dead_letters(position, reason, record, buried_at_ms) VALUES(?, ?, ?, ?)");
        insert.bind(1, static_cast<int64_t>(record.position))
            .bind(2, reason)
            .bind(3, record_text)
            .bind(4, to_ms(now))
            .run();
        transaction.commit();
    });
}

StoreResult<std::vector<Moved>> SqliteOrders::move(std::span<const OrderMove> moves, Instant now) {
    return writing("moving orders", [&] {
        Transaction transaction(connection_);
        std::vector<Moved> moved;
        moved.reserve(moves.size());
        for (const OrderMove& move : moves) moved.push_back(statements_->moves.apply(move, now));
        transaction.commit();
        return moved;
    });
}

StoreResult<void> SqliteOrders::change_payment(const PaymentChange& change, std::optional<EventKind> event,
                                               Instant now) {
    return writing("changing a payment", [&] {
        Transaction transaction(connection_);
        if (!statements_->moves.change_payment(change, now))
            throw Failure(StoreErrc::conflict, "the payment has changed meanwhile");
        if (event) {
            Statement sale_of(connection_, "SELECT sale FROM orders WHERE id = ?");
            Rows rows(sale_of.bind(1, static_cast<int64_t>(change.after.order)));
            if (!rows.next()) throw Failure(StoreErrc::damaged, "a payment without an order");
            statements_->journal.tell(
                *event, {.sale = rows->text(0), .order = change.after.order, .payment = change.after.id},
                now);
        }
        transaction.commit();
    });
}

StoreResult<bool> SqliteOrders::hint(std::string_view event, PaymentId payment, Instant now,
                                     milliseconds keep) {
    return writing("noting the provider's event", [&] {
        Transaction transaction(connection_);
        Statement forget(connection_, "DELETE FROM provider_events WHERE came_at_ms < ?");
        forget.bind(1, to_ms(now - keep)).run();
        Statement insert(connection_,
                         "INSERT INTO provider_events(id, came_at_ms) VALUES(?, ?) ON CONFLICT DO NOTHING");
        const bool is_new = insert.bind(1, event).bind(2, to_ms(now)).run() == 1;
        if (is_new) {
            // Also where nothing more was expected: the provider may know better.
            Statement look(connection_,
                           "UPDATE payments SET look_at_ms = min(coalesce(look_at_ms, ?2), ?2), "
                           "version = version + 1 WHERE id = ?1");
            if (look.bind(1, static_cast<int64_t>(payment)).bind(2, to_ms(now)).run() != 1)
                throw Failure(StoreErrc::not_found, "there is no such payment");
        }
        transaction.commit();
        return is_new;
    });
}

StoreResult<void> SqliteOrders::tell_sold_out(const SaleId& sale, bool sold_out, Instant now) {
    return writing("telling that a sale is sold out", [&] {
        Transaction transaction(connection_);
        Statement told(connection_,
                       "UPDATE sales SET sold_out_told = ?2 WHERE id = ?1 AND sold_out_told != ?2");
        if (told.bind(1, sale.view()).bind(2, sold_out ? 1 : 0).run() == 1) {
            statements_->journal.tell(sold_out ? EventKind::sale_sold_out : EventKind::sale_available,
                                      {.sale = sale.view()}, now);
        }
        transaction.commit();
    });
}

StoreResult<void> SqliteOrders::close_letter(uint64_t position, LetterState state, Instant now) {
    return writing("closing a dead letter", [&] {
        Transaction transaction(connection_);
        Statement close(
            connection_,
            "UPDATE dead_letters SET state = ?2, closed_at_ms = ?3 WHERE position = ?1 AND state = 'open'");
        if (close.bind(1, static_cast<int64_t>(position)).bind(2, name_of(state)).bind(3, to_ms(now)).run() !=
            1) {
            Statement find(connection_, "SELECT state FROM dead_letters WHERE position = ?");
            Rows rows(find.bind(1, static_cast<int64_t>(position)));
            if (!rows.next()) throw Failure(StoreErrc::not_found, "there is no such dead letter");
            throw Failure(StoreErrc::conflict, fmt::format("the dead letter is {} already", rows->text(0)));
        }
        transaction.commit();
    });
}

StoreResult<void> SqliteOrders::idle() {
    return guarded("checkpointing the orders", [&] { connection_.checkpoint(); });
}

}  // namespace doorbuster
