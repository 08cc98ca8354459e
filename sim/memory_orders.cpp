#include "sim/memory_orders.hpp"

namespace doorbuster::sim {

namespace {

StoreError error(StoreErrc code, std::string detail) {
    return {code, "simulated orders", std::move(detail)};
}

// Null if there is no such item.
struct ItemAt {
    Item* item = nullptr;
    Stock* stock = nullptr;
};

ItemAt find_item(OrdersState& state, const SaleId& sale, const ItemId& item) {
    const auto found = state.sales.find(sale);
    if (found == state.sales.end()) return {};
    for (size_t i = 0; i < found->second.sale.items.size(); ++i) {
        if (found->second.sale.items[i].id == item)
            return {&found->second.sale.items[i], &found->second.stock[i]};
    }
    return {};
}

void fill_stock(SaleRecord& record) {
    record.stock.clear();
    for (const Item& item : record.sale.items)
        record.stock.push_back({item.units_total, item.units_total, 0, 0});
}

}  // namespace

StoreResult<std::vector<SaleRecord>> MemoryOrdersReader::sales() {
    std::vector<SaleRecord> all;
    for (const auto& [id, record] : state_.sales) all.push_back(record);
    return all;
}

StoreResult<std::optional<OrderRecord>> MemoryOrdersReader::find_order(OrderId id) {
    const auto found = state_.orders.find(static_cast<int64_t>(id));
    return found == state_.orders.end() ? std::optional<OrderRecord>() : std::optional(found->second);
}

StoreResult<std::optional<PurchaseRecord>> MemoryOrdersReader::find_purchase(const PurchaseId& id) {
    const auto found = state_.purchases.find(id);
    return found == state_.purchases.end() ? std::optional<PurchaseRecord>() : std::optional(found->second);
}

StoreResult<std::vector<OrderRecord>> MemoryOrdersReader::orders_of(const BuyerId& buyer,
                                                                    std::optional<OrderId> before,
                                                                    size_t count_max) {
    std::vector<OrderRecord> some;
    for (auto at = state_.orders.rbegin(); at != state_.orders.rend() && some.size() < count_max; ++at) {
        if (at->second.buyer == buyer && (!before || at->second.id < *before)) some.push_back(at->second);
    }
    return some;
}

StoreResult<std::vector<DeadLetter>> MemoryOrdersReader::dead_letters(uint64_t after_position,
                                                                      size_t count_max) {
    std::vector<DeadLetter> some;
    for (auto at = state_.dead_letters.upper_bound(after_position);
         at != state_.dead_letters.end() && some.size() < count_max; ++at) {
        some.push_back(at->second);
    }
    return some;
}

StoreResult<void> MemoryOrdersReader::each_purchase(const std::function<void(const PurchaseRecord&)>& visit) {
    for (const auto& [id, purchase] : state_.purchases) {
        const auto sale = state_.sales.find(purchase.sale);
        if (sale != state_.sales.end() && sale->second.state != SaleState::reconciled) visit(purchase);
    }
    return {};
}

StoreResult<void> MemoryOrdersReader::each_order(const std::function<void(const OrderRecord&)>& visit) {
    for (const auto& [id, order] : state_.orders) visit(order);
    return {};
}

StoreResult<void> MemoryOrdersReader::each_holding(const std::function<void(const Holding&)>& visit) {
    for (const auto& [key, units] : state_.holdings)
        visit({key.first.first, key.first.second, key.second, units});
    return {};
}

StoreResult<OrderId> MemoryOrdersReader::last_order() {
    return OrderId{state_.orders.empty() ? 0 : state_.orders.rbegin()->first};
}

StoreResult<void> MemoryOrders::commit(const char* operation, OrdersState&& next) {
    auto done = disk_.write(operation, [&] { state_ = std::move(next); });
    if (done.has_error() && done.error().outcome_unknown && !failure_) failure_ = done.error();
    return done;
}

StoreResult<SaleRecord> MemoryOrders::create_sale(const Sale& sale, SaleState state, Instant) {
    if (state_.sales.contains(sale.id)) return error(StoreErrc::exists, "there is one");
    OrdersState next = state_;
    SaleRecord record{sale, state, 1, {}};
    fill_stock(record);
    next.sales[sale.id] = record;
    if (const auto done = commit("creating the sale", std::move(next)); !done) return done.error();
    return record;
}

StoreResult<SaleRecord> MemoryOrders::change_sale(const SaleRecord& changed, bool with_items, Instant) {
    OrdersState next = state_;
    const auto found = next.sales.find(changed.sale.id);
    if (found == next.sales.end()) return error(StoreErrc::not_found, "no such sale");
    SaleRecord& record = found->second;
    if (record.version != changed.version) return error(StoreErrc::conflict, "another version");
    const std::vector<Item> items = with_items ? changed.sale.items : record.sale.items;
    record.sale = changed.sale;
    record.sale.items = items;
    record.state = changed.state;
    record.version += 1;
    if (with_items) fill_stock(record);
    const SaleRecord result = record;
    if (const auto done = commit("changing the sale", std::move(next)); !done) return done.error();
    return result;
}

StoreResult<SaleRecord> MemoryOrders::restock(const SaleId& sale, const ItemId& item, uint32_t units,
                                              uint64_t version, Instant) {
    OrdersState next = state_;
    const auto found = next.sales.find(sale);
    if (found == next.sales.end()) return error(StoreErrc::not_found, "no such sale");
    if (found->second.version != version) return error(StoreErrc::conflict, "another version");
    const ItemAt at = find_item(next, sale, item);
    if (at.item == nullptr) return error(StoreErrc::not_found, "no such item");
    if (uint64_t{at.stock->units_total} + units > units_max) return error(StoreErrc::not_allowed, "too many");
    at.stock->units_total += units;
    at.stock->units_available += units;
    at.item->units_total += units;
    found->second.version += 1;
    const SaleRecord result = found->second;
    if (const auto done = commit("restocking", std::move(next)); !done) return done.error();
    return result;
}

StoreResult<std::vector<Placed>> MemoryOrders::place(uint64_t expected_position,
                                                     std::span<const Placement> placements, Instant now) {
    if (state_.position != expected_position) return error(StoreErrc::conflict, "another position");
    OrdersState next = state_;
    std::vector<Placed> outcomes;
    for (const Placement& placement : placements) {
        if (!placement.record.entry) return error(StoreErrc::not_allowed, "unreadable");
        const LedgerEntry& entry = *placement.record.entry;
        const Acceptance& acceptance = entry.acceptance;
        const ItemAt at = find_item(next, entry.sale, entry.item);
        if (at.item == nullptr) return error(StoreErrc::not_allowed, "no such item");
        if (next.purchases.contains(acceptance.purchase)) {
            outcomes.push_back(Placed::known_before);
            continue;
        }
        PurchaseRecord purchase;
        purchase.sale = entry.sale;
        purchase.item = entry.item;
        purchase.acceptance = acceptance;
        uint32_t& holding = next.holdings[{{entry.sale, entry.item}, acceptance.buyer}];
        const bool within_limit = holding + acceptance.units <= at.item->units_per_buyer_max;
        if (!within_limit || at.stock->units_available < acceptance.units) {
            purchase.state = PurchaseState::cancelled;
            purchase.reason = within_limit ? "no unit" : "limit";
            purchase.hold = HoldState::finished;
            if (holding == 0) next.holdings.erase({{entry.sale, entry.item}, acceptance.buyer});
            outcomes.push_back(Placed::cancelled);
        } else {
            holding += acceptance.units;
            at.stock->units_available -= acceptance.units;
            at.stock->units_held += acceptance.units;
            purchase.order = placement.order;
            const auto window = next.sales.at(entry.sale).sale.payment_window;
            next.orders[static_cast<int64_t>(placement.order)] = {
                .id = placement.order,
                .purchase = acceptance.purchase,
                .sale = entry.sale,
                .item = entry.item,
                .buyer = acceptance.buyer,
                .units = acceptance.units,
                .amount_minor = at.item->price_minor * acceptance.units,
                .currency = at.item->currency,
                .state = OrderState::pending_payment,
                .version = 1,
                .created_at = now,
                .pay_by = now + window,
                .updated_at = now};
            outcomes.push_back(Placed::ordered);
        }
        next.purchases[acceptance.purchase] = purchase;
    }
    if (!placements.empty()) next.position = placements.back().record.position;
    if (const auto done = commit("placing orders", std::move(next)); !done) return done.error();
    return outcomes;
}

StoreResult<void> MemoryOrders::bury(uint64_t expected_position, const LedgerRecord& record,
                                     const std::string& reason, Instant now) {
    if (state_.position != expected_position) return error(StoreErrc::conflict, "another position");
    OrdersState next = state_;
    next.position = record.position;
    next.dead_letters[record.position] = {record.position, reason, record.raw, now};
    if (record.entry) {
        next.purchases.emplace(record.entry->acceptance.purchase,
                               PurchaseRecord{.sale = record.entry->sale,
                                              .item = record.entry->item,
                                              .acceptance = record.entry->acceptance,
                                              .state = PurchaseState::cancelled,
                                              .reason = std::string(reason_unplaceable),
                                              .order = {},
                                              .hold = HoldState::finished});
    }
    return commit("burying a record", std::move(next));
}

StoreResult<OrderRecord> MemoryOrders::cancel(OrderId id, const BuyerId& buyer, Instant now) {
    OrdersState next = state_;
    const auto found = next.orders.find(static_cast<int64_t>(id));
    if (found == next.orders.end() || found->second.buyer != buyer)
        return error(StoreErrc::not_found, "no such order");
    OrderRecord& order = found->second;
    if (order.state == OrderState::cancelled) return order;
    if (order.state != OrderState::pending_payment) return error(StoreErrc::not_allowed, "not in this state");
    order.state = OrderState::cancelled;
    order.version += 1;
    order.updated_at = now;
    const ItemAt at = find_item(next, order.sale, order.item);
    at.stock->units_held -= order.units;
    at.stock->units_available += order.units;
    const auto holding = next.holdings.find({{order.sale, order.item}, buyer});
    holding->second -= order.units;
    if (holding->second == 0) next.holdings.erase(holding);
    PurchaseRecord& purchase = next.purchases.at(order.purchase);
    purchase.state = PurchaseState::cancelled;
    purchase.reason = "cancelled by the buyer";
    purchase.hold = HoldState::finished;
    const OrderRecord result = order;
    if (const auto done = commit("cancelling the order", std::move(next)); !done) return done.error();
    return result;
}

}  // namespace doorbuster::sim
