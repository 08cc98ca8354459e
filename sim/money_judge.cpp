#include "sim/money_judge.hpp"

#include <algorithm>

namespace doorbuster::sim {

namespace {

size_t index_of_step(const std::string& name) {
    return static_cast<size_t>(std::find(step_names.begin(), step_names.end(), name) - step_names.begin());
}

bool has_ended(OrderState state) {
    return state == OrderState::expired || state == OrderState::cancelled;
}

// The first subject about which the two differ, in its own words.
template <class Map, class Text>
std::string difference(const Map& told, const Map& expected, Text text) {
    auto count = [](const Map& map, const auto& key) { return map.contains(key) ? map.at(key) : 0; };
    for (const Map* map : {&told, &expected}) {
        for (const auto& [key, times] : *map) {
            if (count(told, key) != count(expected, key))
                return fmt::format("{} told {} times instead of {}", text(key), count(told, key),
                                   count(expected, key));
        }
    }
    return {};
}

bool is_settled(OrderState state) {
    return state == OrderState::paid || state == OrderState::refunded || has_ended(state);
}

}  // namespace

void MoneyJudge::broke(const OrderRecord& order, const std::string& why) {
    world_.broke(fmt::format("order {} of {} ({}): {}", static_cast<int64_t>(order.id), order.buyer.view(),
                             name_of(order.state), why));
}

void MoneyJudge::committed(std::span<const OrderId> touched) {
    for (const OrderId id : touched) moved(world_.orders.orders.at(static_cast<int64_t>(id)));
    check_stock();
    const SaleState state = world_.orders.sales.begin()->second.state;
    if (state == sale_seen_) return;
    sale_seen_ = state;
    if (state == SaleState::open) ++expected_of_sale_[EventKind::sale_opened];
    if (state == SaleState::paused) ++expected_of_sale_[EventKind::sale_paused];
    if (state == SaleState::closed) ++expected_of_sale_[EventKind::sale_closed];
}

void MoneyJudge::check_stock() {
    for (const Stock& row : world_.orders.sales.begin()->second.stock) {
        if (uint64_t{row.units_available} + row.units_held + row.units_sold != row.units_total)
            world_.broke("P1: the stock row does not add up");
    }
}

void MoneyJudge::moved(const OrderRecord& order) {
    const auto [found, is_new] = seen_.emplace(order.id, Seen{order.state, order.hold});
    if (is_new) {
        ++world_.coverage.step_count[index_of_step("new>pending_payment")];
        expect(EventKind::order_created, order);
        if (order.state != OrderState::pending_payment) broke(order, "it begins in the middle");
        return;
    }
    const Seen before = std::exchange(found->second, {order.state, order.hold});
    const bool was_over = before.hold == HoldState::finished, is_over = order.hold == HoldState::finished;
    if (was_over && !is_over && before.state != OrderState::reinstating)
        broke(order, "what was given back is taken without asking the book");
    const bool may_still_be_paid = order.state == OrderState::pending_payment ||
                                   order.state == OrderState::paying || order.state == OrderState::voiding;
    if (may_still_be_paid && is_over) broke(order, "its unit went back before the void was confirmed");
    if (has_ended(order.state) && !is_over) broke(order, "it has ended and keeps its unit");
    if (before.state != order.state) judge_step(order, before.state);
}

void MoneyJudge::judge_step(const OrderRecord& order, OrderState from) {
    using enum OrderState;
    const OrderState to = order.state;
    const std::string name = fmt::format("{}>{}", name_of(from), name_of(to));
    world_.note(fmt::format("order {} {}", static_cast<int64_t>(order.id), name));
    const size_t step = index_of_step(name);
    if (step == steps) return broke(order, "no order may go " + name);
    ++world_.coverage.step_count[step];

    const Provider::Attempt* attempt = order.payment ? world_.provider.find(*order.payment) : nullptr;
    const bool by_clock = (from == pending_payment && to == expired) ||
                          (from == paying && to == voiding && order.falls_to == expired);
    if (by_clock && world_.wall_now() < order.pay_by) broke(order, "ended before its time");
    if (from == voiding && has_ended(to)) {
        const bool confirmed = attempt && (attempt->was_voided || attempt->gave_back_itself);
        if (!confirmed) broke(order, "its unit went back before the void was confirmed");
    }
    if (from == paid && to == refunding && !world_.refunds_asked.contains(order.id))
        broke(order, "P7: a paid order was ended, and nobody at the shop said so");
    if (from == paid && to == refunded && !(attempt && attempt->gave_back_itself))
        broke(order, "P7: a paid order was ended by the server itself");
    if (to == paid) {
        const bool has_money =
            attempt && (attempt->state == ProviderState::captured || attempt->gave_back_itself) &&
            attempt->captured_minor == order.amount_minor && attempt->captured_currency == order.currency;
        if (!has_money) broke(order, "P7: paid without its money");
        if (order.hold != HoldState::sold) broke(order, "P7: paid without its goods");
    }

    if (from == reinstating && to == paid) expect(EventKind::order_reinstated, order);
    if (to == paid) expect(EventKind::order_paid, order);
    if (to == expired) expect(EventKind::order_expired, order);
    if (to == cancelled) expect(EventKind::order_cancelled, order);
    if (to == refunding) expect(EventKind::order_refunding, order);
    if (to == refunded) expect(EventKind::order_refunded, order);
}

bool MoneyJudge::settled() const {
    for (const auto& [id, order] : world_.orders.orders) {
        if (!is_settled(order.state)) return false;
    }
    for (const auto& [id, payment] : world_.orders.payments) {
        if (payment.look_at) return false;
    }
    for (const auto& [position, letter] : world_.orders.dead_letters) {
        if (letter.state == LetterState::open) return false;
    }
    return world_.provider.idle();
}

void MoneyJudge::at_rest() {
    for (const auto& [id, order] : world_.orders.orders) check_order(order);
    for (const auto& [id, payment] : world_.orders.payments) check_payment(payment);
    for (const auto& [id, attempt] : world_.provider.attempts()) {
        if (!world_.orders.payments.contains(static_cast<int64_t>(id)))
            world_.broke(fmt::format("attempt {} is nowhere in the records", static_cast<int64_t>(id)));
    }
    check_events();
    check_letters();
}

void MoneyJudge::check_order(const OrderRecord& order) {
    if (!is_settled(order.state)) broke(order, "it never settled");
    size_t kept = 0;
    for (const auto& [id, attempt] : world_.provider.attempts()) {
        if (attempt.order != order.id || attempt.state != ProviderState::captured) continue;
        ++kept;
        if (order.state != OrderState::paid || order.payment != id)
            broke(order, "P7: money was kept, and the order is not paid with it");
    }
    if (kept > 1) broke(order, "P7: money was kept twice");
    if (order.state == OrderState::paid && kept != 1) broke(order, "P7: paid, and the money is gone");
    if (has_ended(order.state) && order.hold != HoldState::finished)
        broke(order, "P2: unpaid, and its unit is not back");
}

void MoneyJudge::check_payment(const PaymentRecord& payment) {
    using enum PaymentState;
    const OrderRecord& order = world_.orders.orders.at(static_cast<int64_t>(payment.order));
    const Provider::Attempt* attempt = world_.provider.find(payment.id);
    const ProviderState there = attempt ? attempt->state : ProviderState::unknown;
    const bool agree = (payment.state == captured && there == ProviderState::captured) ||
                       (payment.state == refunded && there == ProviderState::refunded) ||
                       (payment.state == voided && there == ProviderState::voided);
    if (!agree)
        broke(order, fmt::format("payment {} is {} here and {} there", static_cast<int64_t>(payment.id),
                                 name_of(payment.state), static_cast<int>(there)));
}

void MoneyJudge::check_events() {
    std::map<std::pair<OrderId, EventKind>, uint64_t> told;
    std::map<EventKind, uint64_t> told_of_sale;
    std::map<PaymentId, uint64_t> told_of_payment;
    std::map<PurchaseId, uint64_t> told_of_purchase;
    bool sold_out_told = false;
    // Captured and given back before anybody here knew of it: whether that is told is nobody's promise.
    auto gave_back_itself = [&](PaymentId id) {
        const Provider::Attempt* attempt = world_.provider.find(id);
        return attempt != nullptr && attempt->gave_back_itself;
    };
    for (const EventRecord& event : world_.orders.events) {
        if (event.kind == EventKind::payment_refunded) {
            if (!gave_back_itself(event.payment.value_or(PaymentId{})))
                ++told_of_payment[event.payment.value_or(PaymentId{})];
        } else if (event.kind == EventKind::purchase_cancelled) {
            ++told_of_purchase[event.purchase.value_or(PurchaseId{})];
        } else if (event.kind == EventKind::sale_sold_out || event.kind == EventKind::sale_available) {
            const bool is_out = event.kind == EventKind::sale_sold_out;
            if (is_out == sold_out_told) world_.broke("the shop heard of the same stock twice");
            sold_out_told = is_out;
        } else if (event.order) {
            ++told[{*event.order, event.kind}];
        } else {
            ++told_of_sale[event.kind];
        }
    }
    const SaleRecord& sale = world_.orders.sales.begin()->second;
    const bool is_sold_out = std::all_of(sale.stock.begin(), sale.stock.end(),
                                         [](const Stock& row) { return row.units_available == 0; });
    if (sale.state == SaleState::open && sold_out_told != is_sold_out)
        world_.broke("the shop believes another stock than there is");
    auto compare = [&](const auto& is, const auto& should_be, auto text) {
        if (is != should_be) world_.broke("an event was lost or made up: " + difference(is, should_be, text));
    };
    compare(told, expected_, [](const auto& key) {
        return fmt::format("{} of {}", name_of(key.second), static_cast<int64_t>(key.first));
    });
    compare(told_of_sale, expected_of_sale_, [](EventKind kind) { return std::string(name_of(kind)); });

    std::map<PaymentId, uint64_t> surplus;
    for (const auto& [id, payment] : world_.orders.payments) {
        const OrderRecord& order = world_.orders.orders.at(static_cast<int64_t>(payment.order));
        const bool is_the_orders = order.state == OrderState::refunded && order.payment == payment.id;
        if (payment.state == PaymentState::refunded && !is_the_orders && !gave_back_itself(payment.id))
            ++surplus[payment.id];
    }
    world_.coverage.deed_count[static_cast<size_t>(Deed::surplus_refunded)] += surplus.size();
    compare(told_of_payment, surplus,
            [](PaymentId id) { return fmt::format("refund of {}", static_cast<int64_t>(id)); });

    std::map<PurchaseId, uint64_t> cancelled;
    for (const auto& [id, row] : world_.orders.purchases) {
        if (row.state == PurchaseState::cancelled && !row.order) cancelled[id] = 1;
    }
    for (const auto& [position, letter] : world_.orders.dead_letters)
        cancelled[world_.ledger.records[position - 1].entry->acceptance.purchase] = 1;
    for (const LedgerRecord& record : world_.ledger.records) {  // a fresh id is nobody's outside
        if (record.entry->replaces) cancelled.erase(record.entry->acceptance.purchase);
    }
    compare(told_of_purchase, cancelled,
            [](const PurchaseId& id) { return "cancellation of " + id.hex().substr(0, 8); });
}

void MoneyJudge::check_letters() {
    for (const auto& [position, letter] : world_.orders.dead_letters) {
        const auto& row =
            world_.orders.purchases.at(world_.ledger.records[position - 1].entry->acceptance.purchase);
        if ((letter.state == LetterState::retried) != row.order.has_value())
            world_.broke(fmt::format("dead letter {} ended as neither order nor cancellation", position));
    }
}

bool MoneyJudge::all_delivered() const {
    return world_.receiver.heard().size() == world_.orders.events.size();
}

}  // namespace doorbuster::sim
