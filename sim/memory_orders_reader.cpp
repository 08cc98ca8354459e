#include <algorithm>

#include "sim/memory_orders.hpp"

namespace doorbuster::sim {

namespace {

template <class Map>
auto find_in(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::optional<typename Map::mapped_type>() : std::optional(found->second);
}

bool is_open(OrderState state) {
    return state == OrderState::pending_payment || state == OrderState::paying;
}

}  // namespace

std::optional<PurchaseRecord> OrdersState::purchase(const PurchaseId& id) const {
    const auto found = purchases.find(id);
    if (found == purchases.end()) return std::nullopt;
    const PurchaseRow& row = found->second;
    PurchaseRecord record{row.sale,   row.item,  row.acceptance,     row.state,
                          row.reason, row.order, HoldState::finished};
    if (!row.order) return record;
    const OrderRecord& order = orders.at(static_cast<int64_t>(*row.order));
    if (!order.reason.empty()) record.reason = order.reason;
    if (order.hold == HoldState::finished) record.state = PurchaseState::cancelled;
    if (order.holder == id) record.hold = order.hold;
    return record;
}

uint32_t OrdersState::active_units(const SaleId& sale, const ItemId& item, const BuyerId& buyer) const {
    uint32_t units = 0;
    for (const auto& [id, order] : orders) {
        if (order.hold != HoldState::finished && order.buyer == buyer && order.item == item &&
            order.sale == sale) {
            units += order.units;
        }
    }
    return units;
}

StoreResult<std::vector<SaleRecord>> MemoryOrdersReader::sales() {
    std::vector<SaleRecord> all;
    for (const auto& [id, record] : state_.sales) all.push_back(record);
    return read(all);
}

StoreResult<std::optional<OrderRecord>> MemoryOrdersReader::find_order(OrderId id) {
    return read(find_in(state_.orders, static_cast<int64_t>(id)));
}

StoreResult<std::optional<PurchaseRecord>> MemoryOrdersReader::find_purchase(const PurchaseId& id) {
    return read(state_.purchase(id));
}

StoreResult<std::vector<OrderRecord>> MemoryOrdersReader::orders_of(const BuyerId& buyer,
                                                                    std::optional<OrderId> before,
                                                                    size_t count_max) {
    std::vector<OrderRecord> some;
    for (auto at = state_.orders.rbegin(); at != state_.orders.rend() && some.size() < count_max; ++at) {
        if (at->second.buyer == buyer && (!before || at->second.id < *before)) some.push_back(at->second);
    }
    return read(some);
}

StoreResult<std::vector<DeadLetter>> MemoryOrdersReader::dead_letters(uint64_t after_position,
                                                                      size_t count_max) {
    std::vector<DeadLetter> some;
    for (auto at = state_.dead_letters.upper_bound(after_position);
         at != state_.dead_letters.end() && some.size() < count_max; ++at) {
        some.push_back(at->second);
    }
    return read(some);
}

StoreResult<void> MemoryOrdersReader::each_purchase(const std::function<void(const PurchaseRecord&)>& visit) {
    std::vector<PurchaseId> wanted;
    for (const auto& [id, row] : state_.purchases) {
        const auto sale = state_.sales.find(row.sale);
        const bool is_over = sale != state_.sales.end() && sale->second.state == SaleState::reconciled;
        if (sale != state_.sales.end() && !is_over) wanted.push_back(id);
    }
    return scan(wanted, [&](const PurchaseId& id) { visit(*state_.purchase(id)); });
}

StoreResult<void> MemoryOrdersReader::each_order(const std::function<void(const OrderRecord&)>& visit) {
    return scan(state_.orders, [&](const auto& row) { visit(row.second); });
}

StoreResult<void> MemoryOrdersReader::each_holding(const std::function<void(const Holding&)>& visit) {
    std::map<std::pair<std::pair<SaleId, ItemId>, BuyerId>, uint32_t> holdings;
    for (const auto& [id, order] : state_.orders) {
        if (order.hold != HoldState::finished)
            holdings[{{order.sale, order.item}, order.buyer}] += order.units;
    }
    return scan(holdings, [&](const auto& row) {
        const auto& [key, units] = row;
        visit({key.first.first, key.first.second, key.second, units});
    });
}

StoreResult<std::optional<PaymentRecord>> MemoryOrdersReader::find_payment(PaymentId id) {
    return read(find_in(state_.payments, static_cast<int64_t>(id)));
}

StoreResult<std::vector<PaymentRecord>> MemoryOrdersReader::payments_of(OrderId order) {
    std::vector<PaymentRecord> some;
    for (const auto& [id, payment] : state_.payments) {
        if (payment.order == order) some.push_back(payment);
    }
    return read(some);
}

StoreResult<void> MemoryOrdersReader::each_payment(const std::function<void(const PaymentRecord&)>& visit) {
    return scan(state_.payments, [&](const auto& row) { visit(row.second); });
}

StoreResult<void> MemoryOrdersReader::each_stock_move(const std::function<void(const StockMove&)>& visit) {
    return scan(state_.stock_moves, visit);
}

StoreResult<std::vector<OrderRecord>> MemoryOrdersReader::due_orders(const DueBy& by, size_t count_max,
                                                                     size_t passed_over) {
    std::vector<OrderRecord> due;
    for (const auto& [id, order] : state_.orders) {
        if (is_open(order.state) && by.is_over(order)) due.push_back(order);
    }
    std::stable_sort(due.begin(), due.end(),
                     [](const OrderRecord& a, const OrderRecord& b) { return a.pay_by < b.pay_by; });
    due.erase(due.begin(), due.begin() + static_cast<ptrdiff_t>(std::min(passed_over, due.size())));
    if (due.size() > count_max) due.resize(count_max);
    return read(due);
}

StoreResult<std::vector<PaymentRecord>> MemoryOrdersReader::due_payments(DuePayments which, Instant now,
                                                                         size_t count_max) {
    std::vector<PaymentRecord> due;
    for (const auto& [id, payment] : state_.payments) {
        const auto is = payment.state == PaymentState::voided ? DuePayments::watched : DuePayments::awaited;
        if (is == which && payment.look_at && *payment.look_at <= now) due.push_back(payment);
    }
    std::stable_sort(due.begin(), due.end(),
                     [](const PaymentRecord& a, const PaymentRecord& b) { return *a.look_at < *b.look_at; });
    if (due.size() > count_max) due.resize(count_max);
    return read(due);
}

StoreResult<std::vector<OrderRecord>> MemoryOrdersReader::orders_in(OrderState state, size_t count_max) {
    std::vector<OrderRecord> some;
    for (const auto& [id, order] : state_.orders) {
        if (order.state == state && some.size() < count_max) some.push_back(order);
    }
    return read(some);
}

StoreResult<std::vector<EventRecord>> MemoryOrdersReader::events_after(uint64_t number, size_t count_max) {
    std::vector<EventRecord> some;
    for (size_t at = number; at < state_.events.size() && some.size() < count_max; ++at)
        some.push_back(state_.events[at]);
    return read(some);
}

StoreResult<OrderCounts> MemoryOrdersReader::count_orders() {
    OrderCounts counts{};
    for (const auto& [id, order] : state_.orders) ++counts[static_cast<size_t>(order.state)];
    return read(counts);
}

StoreResult<Backlog> MemoryOrdersReader::backlog(const DueBy& by) {
    Backlog backlog;
    auto note = [&](std::optional<Instant>& oldest, Instant at) {
        oldest = std::min(oldest.value_or(at), at);
    };
    for (const auto& [id, order] : state_.orders) {
        if (is_open(order.state) && by.is_over(order)) note(backlog.oldest_due, order.pay_by);
        if (order.state == OrderState::voiding) note(backlog.oldest_voiding, order.updated_at);
    }
    for (const auto& [id, payment] : state_.payments) {
        backlog.payments_to_settle += payment.look_at ? 1 : 0;
        if (payment.state == PaymentState::refunding)
            backlog.refund_asks_max = std::max<uint64_t>(backlog.refund_asks_max, payment.looks);
    }
    for (const auto& [position, letter] : state_.dead_letters)
        backlog.dead_letters_open += letter.state == LetterState::open ? 1 : 0;
    return read(backlog);
}

StoreResult<uint64_t> MemoryOrdersReader::unsettled(const SaleId& sale) {
    using enum OrderState;
    uint64_t count = 0;
    for (const auto& [id, order] : state_.orders) {
        if (order.sale != sale) continue;
        const bool is_settled = order.state == paid || order.state == expired || order.state == cancelled ||
                                order.state == refunded;
        count += is_settled ? 0 : 1;
    }
    for (const auto& [id, payment] : state_.payments) {
        const bool is_its = state_.orders.at(static_cast<int64_t>(payment.order)).sale == sale;
        count += is_its && payment.look_at ? 1 : 0;
    }
    return read(count);
}

StoreResult<PaymentId> MemoryOrdersReader::last_payment() {
    return read(PaymentId{state_.payments.empty() ? 0 : state_.payments.rbegin()->first});
}

StoreResult<OrderId> MemoryOrdersReader::last_order() {
    return read(OrderId{state_.orders.empty() ? 0 : state_.orders.rbegin()->first});
}

}  // namespace doorbuster::sim
