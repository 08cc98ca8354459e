#include "sim/memory_orders.hpp"

#include "base/check.hpp"

namespace doorbuster::sim {

namespace {

StoreError error(StoreErrc code, std::string detail) {
    return {code, "simulated orders", std::move(detail)};
}

// Its place in the sale; none if there is no such item.
std::optional<size_t> find_item(const OrdersState& state, const SaleId& sale, const ItemId& item) {
    const auto found = state.sales.find(sale);
    if (found == state.sales.end()) return std::nullopt;
    const auto& items = found->second.sale.items;
    for (size_t i = 0; i < items.size(); ++i) {
        if (items[i].id == item) return i;
    }
    return std::nullopt;
}

void fill_stock(SaleRecord& record) {
    record.stock.clear();
    for (const Item& item : record.sale.items)
        record.stock.push_back({item.units_total, item.units_total, 0, 0});
}

std::optional<EventKind> event_of_step(SaleState from, SaleState to) {
    if (from == to) return std::nullopt;
    if (to == SaleState::open) return EventKind::sale_opened;
    if (to == SaleState::paused) return EventKind::sale_paused;
    if (to == SaleState::closed) return EventKind::sale_closed;
    if (to == SaleState::reconciled) return EventKind::sale_reconciled;
    return std::nullopt;
}

HoldState hold_of(StockPolicy policy) {
    if (policy == StockPolicy::at_payment) return HoldState::open;
    return policy == StockPolicy::at_order ? HoldState::sold : HoldState::held;
}

// Where the units of an order in this state are counted.
uint32_t& column_of(Stock& stock, HoldState hold) {
    if (hold == HoldState::held) return stock.units_held;
    return hold == HoldState::sold ? stock.units_sold : stock.units_available;
}

// False: they are not there.
bool shift(Stock& stock, HoldState from, HoldState to, uint32_t units) {
    uint32_t &source = column_of(stock, from), &target = column_of(stock, to);
    if (&source == &target) return true;
    if (source < units) return false;
    source -= units;
    target += units;
    return true;
}

}  // namespace

MemoryOrders::MemoryOrders(OrdersState& state, Disk& disk, Hooks hooks)
    : state_(state), reader_(state, disk), disk_(disk), hooks_(std::move(hooks)) {}

StoreResult<void> MemoryOrders::commit(const char* operation, Change& change) {
    const std::vector<OrderId> touched = std::exchange(touched_, {});
    if (failure_) return *failure_;
    auto done = disk_.write(operation, [&] {
        change.keep();
        if (hooks_.committed) hooks_.committed(touched);
    });
    if (done.has_error() && done.error().outcome_unknown) failure_ = done.error();
    return done;
}

void MemoryOrders::tell(Change& change, EventRecord event) {
    event.number = state_.events.size() + 1;
    change.append(state_.events, std::move(event));
}

void MemoryOrders::move_stock(Change& change, StockMove moved) {
    moved.number = state_.stock_moves.size() + 1;
    moved.position = state_.position;
    change.append(state_.stock_moves, std::move(moved));
}

void MemoryOrders::tell_cancelled(Change& change, const LedgerEntry& entry, Instant now) {
    if (entry.replaces) {
        move_stock(change, {.kind = StockMoveKind::released,
                            .sale = entry.sale,
                            .item = entry.item,
                            .purchase = entry.acceptance.purchase,
                            .units = entry.acceptance.units,
                            .at = now});
        return;
    }
    tell(change, {.kind = EventKind::purchase_cancelled,
                  .at = now,
                  .sale = entry.sale,
                  .order = {},
                  .purchase = entry.acceptance.purchase,
                  .payment = {}});
}

StoreResult<SaleRecord> MemoryOrders::create_sale(const Sale& sale, SaleState state, Instant) {
    if (state_.sales.contains(sale.id)) return error(StoreErrc::exists, "there is one");
    Change change;
    SaleRecord record{sale, state, 1, {}};
    fill_stock(record);
    change.row(state_.sales, sale.id) = record;
    if (const auto done = commit("creating the sale", change); !done) return done.error();
    return record;
}

StoreResult<SaleRecord> MemoryOrders::change_sale(const SaleRecord& changed, bool with_items, Instant now) {
    const SaleId& id = changed.sale.id;
    if (!state_.sales.contains(id)) return error(StoreErrc::not_found, "no such sale");
    if (state_.sales.at(id).version != changed.version) return error(StoreErrc::conflict, "another version");
    Change change;
    SaleRecord& record = change.row(state_.sales, id);
    if (const auto told = event_of_step(record.state, changed.state))
        tell(change, {.kind = *told, .at = now, .sale = id, .order = {}, .purchase = {}, .payment = {}});
    const std::vector<Item> items = with_items ? changed.sale.items : record.sale.items;
    record.sale = changed.sale;
    record.sale.items = items;
    record.state = changed.state;
    record.version += 1;
    if (with_items) fill_stock(record);
    const SaleRecord result = record;
    if (const auto done = commit("changing the sale", change); !done) return done.error();
    return result;
}

StoreResult<SaleRecord> MemoryOrders::restock(const SaleId& sale, const ItemId& item, uint32_t units,
                                              uint64_t version, Instant now) {
    if (!state_.sales.contains(sale)) return error(StoreErrc::not_found, "no such sale");
    if (state_.sales.at(sale).version != version) return error(StoreErrc::conflict, "another version");
    const auto at = find_item(state_, sale, item);
    if (!at) return error(StoreErrc::not_found, "no such item");
    Change change;
    SaleRecord& record = change.row(state_.sales, sale);
    Stock& stock = record.stock[*at];
    if (uint64_t{stock.units_total} + units > units_max) return error(StoreErrc::not_allowed, "too many");
    stock.units_total += units;
    stock.units_available += units;
    record.sale.items[*at].units_total += units;
    record.version += 1;
    move_stock(change, {.kind = StockMoveKind::restocked,
                        .sale = sale,
                        .item = item,
                        .purchase = {},
                        .units = units,
                        .at = now});
    const SaleRecord result = record;
    if (const auto done = commit("restocking", change); !done) return done.error();
    return result;
}

StoreResult<std::vector<Placed>> MemoryOrders::place(uint64_t expected_position,
                                                     std::span<const Placement> placements, Instant now) {
    if (state_.position != expected_position) return error(StoreErrc::conflict, "another position");
    std::vector<Placed> outcomes;
    if (placements.empty()) return outcomes;
    Change change;
    touched_.clear();
    for (const Placement& placement : placements) {
        const auto placed = place_one(change, placement, now);
        if (!placed) {
            ++refusals_;
            touched_.clear();
            return placed.error();
        }
        outcomes.push_back(*placed);
    }
    change.set(state_.position, placements.back().record.position);
    if (const auto done = commit("placing orders", change); !done) return done.error();
    return outcomes;
}

StoreResult<Placed> MemoryOrders::place_one(Change& change, const Placement& placement, Instant now) {
    if (!placement.record.entry) return error(StoreErrc::not_allowed, "unreadable");
    const LedgerEntry& entry = *placement.record.entry;
    const Acceptance& acceptance = entry.acceptance;
    const auto at = find_item(state_, entry.sale, entry.item);
    if (!at) return error(StoreErrc::not_allowed, "no such item");
    if (hooks_.refuses && hooks_.refuses(entry)) return error(StoreErrc::not_allowed, "a fault");
    if (state_.purchases.contains(acceptance.purchase)) return Placed::known_before;

    const Item item = state_.sales.at(entry.sale).sale.items[*at];
    PurchaseRow& row = change.row(state_.purchases, acceptance.purchase);
    row = {entry.sale, entry.item, acceptance, PurchaseState::ordered, {}, placement.order};
    auto cancel = [&](const char* reason) {
        row.state = PurchaseState::cancelled;
        row.reason = reason;
        row.order.reset();
        tell_cancelled(change, entry, now);
        return Placed::cancelled;
    };
    auto about_order = [&](EventKind kind, OrderId order) {
        tell(change,
             {.kind = kind, .at = now, .sale = entry.sale, .order = order, .purchase = {}, .payment = {}});
    };
    const uint32_t active = state_.active_units(entry.sale, entry.item, acceptance.buyer);
    if (active + acceptance.units > item.units_per_buyer_max) return cancel("limit");
    std::optional<OrderId> late;  // the order that this acceptance pays for
    if (entry.replaces) {
        const auto replaced = state_.purchases.find(*entry.replaces);
        if (replaced == state_.purchases.end()) return cancel("nothing to continue");
        late = replaced->second.order;
    }
    SaleRecord& sale = change.row(state_.sales, entry.sale);
    const HoldState hold = late ? HoldState::sold : hold_of(sale.sale.stock_policy);
    if (!shift(sale.stock[*at], HoldState::finished, hold, acceptance.units)) return cancel("no unit");
    if (late) {
        OrderRecord& order = change.row(state_.orders, static_cast<int64_t>(*late));
        if (order.state != OrderState::reinstating) return error(StoreErrc::not_allowed, "not reinstating");
        order.state = OrderState::paid;
        order.hold = HoldState::sold;
        order.holder = acceptance.purchase;
        order.reason.clear();
        order.version += 1;
        order.updated_at = now;
        row.order = late;
        touched_.push_back(*late);
        move_stock(change, {.kind = StockMoveKind::sold,
                            .sale = entry.sale,
                            .item = entry.item,
                            .purchase = acceptance.purchase,
                            .units = acceptance.units,
                            .at = now});
        about_order(EventKind::order_reinstated, *late);
        about_order(EventKind::order_paid, *late);
        return Placed::reinstated;
    }
    if (entry.replaces) {  // a dead letter that was tried again
        PurchaseRow& buried = change.row(state_.purchases, *entry.replaces);
        buried.state = PurchaseState::ordered;
        buried.reason.clear();
        buried.order = placement.order;
    }
    change.row(state_.orders, static_cast<int64_t>(placement.order)) = {
        .id = placement.order,
        .purchase = entry.replaces.value_or(acceptance.purchase),
        .sale = entry.sale,
        .item = entry.item,
        .buyer = acceptance.buyer,
        .units = acceptance.units,
        .amount_minor = item.price_minor * acceptance.units,
        .currency = item.currency,
        .policy = sale.sale.stock_policy,
        .state = OrderState::pending_payment,
        .version = 1,
        .created_at = now,
        .pay_by = now + sale.sale.payment_window,
        .updated_at = now,
        .hold = hold,
        .holder = acceptance.purchase,
        .payment = {},
        .falls_to = OrderState::expired,
        .reason = {}};
    touched_.push_back(placement.order);
    about_order(EventKind::order_created, placement.order);
    return Placed::ordered;
}

StoreResult<void> MemoryOrders::bury(uint64_t expected_position, const LedgerRecord& record,
                                     const std::string& reason, Instant now) {
    if (state_.position != expected_position) return error(StoreErrc::conflict, "another position");
    Change change;
    change.set(state_.position, record.position);
    change.row(state_.dead_letters, record.position) = {record.position, reason, record.raw, now,
                                                        LetterState::open};
    if (record.entry && !state_.purchases.contains(record.entry->acceptance.purchase)) {
        const LedgerEntry& entry = *record.entry;
        change.row(state_.purchases, entry.acceptance.purchase) = {.sale = entry.sale,
                                                                   .item = entry.item,
                                                                   .acceptance = entry.acceptance,
                                                                   .state = PurchaseState::cancelled,
                                                                   .reason = std::string(reason_unplaceable),
                                                                   .order = {}};
        tell_cancelled(change, entry, now);
    }
    return commit("burying a record", change);
}

StoreResult<std::vector<Moved>> MemoryOrders::move(std::span<const OrderMove> moves, Instant now) {
    Change change;
    touched_.clear();
    std::vector<Moved> moved;
    for (const OrderMove& one : moves) {
        const size_t mark = change.mark();
        moved.push_back(move_one(change, one, now));
        if (moved.back() == Moved::done) {
            touched_.push_back(one.before.id);
        } else {
            change.undo_to(mark);
        }
    }
    if (const auto done = commit("moving orders", change); !done) return done.error();
    return moved;
}

Moved MemoryOrders::move_one(Change& change, const OrderMove& move, Instant now) {
    const auto& [before, after, payment, events] = move;
    OrderRecord& order = change.row(state_.orders, static_cast<int64_t>(before.id));
    if (order.version != before.version || order.state != before.state) return Moved::conflict;
    const HoldState had = order.hold;
    order.state = after.state;
    order.hold = after.hold;
    order.payment = after.payment;
    order.falls_to = after.falls_to;
    order.reason = after.reason;
    order.version += 1;
    order.updated_at = now;
    CHECK(order.state != OrderState::paid || order.hold == HoldState::sold);  // a constraint of the table
    if (payment && !write_payment(change, *payment, now)) return Moved::conflict;
    if (had != order.hold) {
        SaleRecord& sale = change.row(state_.sales, order.sale);
        const size_t at = *find_item(state_, order.sale, order.item);
        if (!shift(sale.stock[at], had, order.hold, order.units)) return Moved::no_unit;
        const uint32_t limit = sale.sale.items[at].units_per_buyer_max;
        const bool asks_right = had == HoldState::finished;
        if (asks_right && state_.active_units(order.sale, order.item, order.buyer) > limit)
            return Moved::no_right;
        move_stock(change,
                   {.kind = order.hold == HoldState::sold ? StockMoveKind::sold : StockMoveKind::released,
                    .sale = order.sale,
                    .item = order.item,
                    .purchase = order.holder,
                    .units = order.units,
                    .at = now});
    }
    for (const EventKind kind : events) {
        const bool about_payment = kind == EventKind::payment_refunded && payment;
        tell(change, {.kind = kind,
                      .at = now,
                      .sale = order.sale,
                      .order = order.id,
                      .purchase = {},
                      .payment = about_payment ? std::optional(payment->after.id) : std::nullopt});
    }
    return Moved::done;
}

bool MemoryOrders::write_payment(Change& change, const PaymentChange& changed, Instant now) {
    const int64_t id = static_cast<int64_t>(changed.after.id);
    if (!changed.before) {
        CHECK(!state_.payments.contains(id));
        PaymentRecord& row = change.row(state_.payments, id);
        row = changed.after;
        row.version = 1;
        row.created_at = row.updated_at = now;
        return true;
    }
    PaymentRecord& row = change.row(state_.payments, id);
    if (row.version != changed.before->version) return false;
    const uint64_t version = row.version + 1;
    row = changed.after;
    row.version = version;
    row.updated_at = now;
    return true;
}

StoreResult<void> MemoryOrders::change_payment(const PaymentChange& changed, std::optional<EventKind> event,
                                               Instant now) {
    Change change;
    if (!write_payment(change, changed, now)) return error(StoreErrc::conflict, "another version");
    if (event) {
        tell(change, {.kind = *event,
                      .at = now,
                      .sale = state_.orders.at(static_cast<int64_t>(changed.after.order)).sale,
                      .order = changed.after.order,
                      .purchase = {},
                      .payment = changed.after.id});
    }
    return commit("changing a payment", change);
}

StoreResult<bool> MemoryOrders::hint(std::string_view event, PaymentId payment, Instant now,
                                     milliseconds keep) {
    Change change;
    std::vector<std::string> old;
    for (const auto& [id, came_at] : state_.provider_events) {
        if (came_at < now - keep) old.push_back(id);
    }
    for (const std::string& id : old) change.erase(state_.provider_events, id);
    const bool is_new = !state_.provider_events.contains(std::string(event));
    if (is_new) {
        if (!state_.payments.contains(static_cast<int64_t>(payment)))
            return error(StoreErrc::not_found, "no such payment");
        change.row(state_.provider_events, std::string(event)) = now;
        PaymentRecord& row = change.row(state_.payments, static_cast<int64_t>(payment));
        row.look_at = std::min(row.look_at.value_or(now), now);
        row.version += 1;
    }
    if (const auto done = commit("noting the provider's event", change); !done) return done.error();
    return is_new;
}

StoreResult<void> MemoryOrders::tell_sold_out(const SaleId& sale, bool sold_out, Instant now) {
    Change change;
    bool& told = change.row(state_.sold_out_told, sale);
    if (told != sold_out) {
        told = sold_out;
        tell(change, {.kind = sold_out ? EventKind::sale_sold_out : EventKind::sale_available,
                      .at = now,
                      .sale = sale,
                      .order = {},
                      .purchase = {},
                      .payment = {}});
    }
    return commit("telling that a sale is sold out", change);
}

StoreResult<void> MemoryOrders::close_letter(uint64_t position, LetterState state, Instant) {
    if (!state_.dead_letters.contains(position)) return error(StoreErrc::not_found, "no such dead letter");
    if (state_.dead_letters.at(position).state != LetterState::open)
        return error(StoreErrc::conflict, "it is closed");
    Change change;
    change.row(state_.dead_letters, position).state = state;
    return commit("closing a dead letter", change);
}

}  // namespace doorbuster::sim
