#include "audit/repairs.hpp"

#include <fmt/format.h>

namespace doorbuster::audit {

namespace {

// No delta mends it: it stays a difference until somebody has looked and says so.
Repair leave(std::string words) {
    return {.key = {}, .acknowledges = false, .run = 0, .words = std::move(words), .mending = Acknowledge{}};
}

Repair carry_out(Mending mending, std::string words) {
    return {
        .key = {}, .acknowledges = false, .run = 0, .words = std::move(words), .mending = std::move(mending)};
}

// Cancels what is unpaid, as its buyer could: at once, or through a void.
std::optional<OrderMove> cancel_because(const OrderRecord& order, std::string_view reason) {
    auto move = cancel(order);
    if (move && move->after.state == OrderState::cancelled) move->after.reason = reason;
    return move;
}

}  // namespace

Repairs::Repairs(const Records& records) : records_(records) {
    for (const OrderRecord& one : records.orders) {
        orders_.emplace(one.id, &one);
        orders_by_purchase_.emplace(one.purchase, &one);
        orders_of_[one.buyer].push_back(&one);
    }
    for (const PaymentRecord& one : records.payments) payments_[one.order].push_back(&one);
    for (const LedgerRecord& one : records.ledger) ledger_.emplace(one.position, &one);
}

Repair Repairs::propose(const Difference& difference, Instant now) const {
    Repair repair = [&] {
        switch (difference.kind) {
            case Kind::units:
                return shift_units(difference);
            case Kind::ledger_without_purchase:
                return place(difference);
            case Kind::purchase_without_ledger:
                return cancel_unexplained(difference);
            case Kind::purchase_without_order:
                return cancel_purchase(difference);
            case Kind::paid_without_capture:
                return settle_payment(difference, now);
            case Kind::capture_without_order:
                return refund_capture(difference, now);
            case Kind::holding_over_limit:
                return cancel_newest(difference);
            case Kind::unit_not_released:
                return release(difference);
            case Kind::released_twice:
                return after_release(difference);
            case Kind::hold_disagrees:
                return sell(difference);
            case Kind::amount_disagrees:
                return leave(
                    "look at it, then acknowledge it, and refund what was paid for it if it has to: the "
                    "price is the shop's to say");
            case Kind::sequence_gap:
                return leave(
                    "find out why, then acknowledge it: numbers that are missing cannot be given again");
            case Kind::oversold:
                return leave("restock, or cancel or refund orders: it stays a difference until then");
            case Kind::ledger_twice:
            case Kind::order_without_purchase:
            case Kind::order_twice:
            case Kind::order_disagrees:
            case Kind::holding_disagrees:
            case Kind::sequence_order:
                break;
        }
        return leave("look at it, then acknowledge it: no machine can tell which side is right");
    }();
    repair.key = difference.key();
    return repair;
}

const OrderRecord* Repairs::order(const Difference& difference) const {
    if (!difference.order) return nullptr;
    const auto found = orders_.find(*difference.order);
    return found == orders_.end() ? nullptr : found->second;
}

const PaymentRecord* Repairs::payment(const Difference& difference) const {
    if (!difference.order) return nullptr;
    const auto found = payments_.find(*difference.order);
    if (found == payments_.end()) return nullptr;
    const PaymentRecord* last = nullptr;
    for (const PaymentRecord* one : found->second) {
        if (difference.payment == one->id) return one;
        if (last == nullptr || last->id < one->id) last = one;
    }
    return difference.payment ? nullptr : last;
}

Repair Repairs::shift_units(const Difference& difference) const {
    uint64_t held = 0, sold = 0;
    for (const OrderRecord& one : records_.orders) {
        if (one.sale != difference.sale || one.item != *difference.item) continue;
        if (one.hold == HoldState::held) held += one.units;
        if (one.hold == HoldState::sold) sold += one.units;
    }
    ShiftUnits shift{.sale = difference.sale, .item = *difference.item};
    for (const SaleRecord& record : records_.sales) {
        for (size_t i = 0; i < record.sale.items.size(); ++i) {
            if (record.sale.id != shift.sale || record.sale.items[i].id != shift.item) continue;
            const Stock& stock = record.stock[i];
            if (held + sold > stock.units_total)
                return leave("restock, or cancel or refund orders: they hold more than there is");
            shift.held = static_cast<int64_t>(held) - stock.units_held;
            shift.sold = static_cast<int64_t>(sold) - stock.units_sold;
            shift.available = static_cast<int64_t>(stock.units_total - held - sold) - stock.units_available;
        }
    }
    for (const StockMove& move : records_.stock_moves) {
        if (move.kind == StockMoveKind::repaired && move.sale == shift.sale && move.item == shift.item)
            shift.repair_seen = move.number;
    }
    std::string words = fmt::format("add {:+} available, {:+} held, {:+} sold to the stock row",
                                    shift.available, shift.held, shift.sold);
    return carry_out(std::move(shift), std::move(words));
}

Repair Repairs::place(const Difference& difference) const {
    const auto found = ledger_.find(*difference.position);
    if (found == ledger_.end() || !found->second->entry)
        return leave("look at it, then acknowledge it: the record cannot be read");
    if (orders_by_purchase_.contains(found->second->entry->acceptance.purchase))
        return leave("look at it, then acknowledge it: its order is there, and only its purchase is not");
    return carry_out(PlaceRecord{*found->second, {}},
                     "place the record: an order, or an explicit cancellation where no unit is left");
}

Repair Repairs::cancel_unexplained(const Difference& difference) const {
    const OrderRecord* found = order(difference);
    auto move = found == nullptr ? std::nullopt : cancel_because(*found, reason_not_accepted);
    if (!move) {
        return leave(found != nullptr && found->hold == HoldState::sold
                         ? "find out why, then acknowledge it: it is paid, and stands"
                         : "find out why, then acknowledge it: it holds no unit");
    }
    // Its rows stay, and with them the question where they came from: that is left then.
    return carry_out(*std::move(move), "cancel the unpaid order and give its units back");
}

Repair Repairs::cancel_purchase(const Difference& difference) const {
    return carry_out(CancelPurchase{.sale = difference.sale,
                                    .item = *difference.item,
                                    .purchase = *difference.purchase,
                                    .order = *difference.order,
                                    .reason = std::string(reason_order_lost)},
                     "cancel the purchase explicitly");
}

Repair Repairs::settle_payment(const Difference& difference, Instant now) const {
    const OrderRecord& paid = *order(difference);
    const PaymentRecord* found = payment(difference);
    if (found == nullptr && paid.payment) return ask_about_missing(paid, now);
    if (found == nullptr) {
        OrderMove move{.before = paid, .after = paid, .payment = {}, .events = {EventKind::order_refunded}};
        move.after.state = OrderState::refunded;
        move.after.hold = HoldState::finished;
        move.after.reason = reason_never_paid;
        return carry_out(std::move(move), "end the order as refunded and give its units back");
    }
    if (found->state == PaymentState::captured)
        return leave("refund it or accept what was captured, then acknowledge it: the shop's to say");
    if (found->state == PaymentState::refunded)
        return leave("look at it, then acknowledge it: the money is back, and only the shop knows the goods");
    PaymentChange change{*found, *found};
    change.after.look_at = now;
    change.after.looks = 0;
    return carry_out(std::move(change), "ask the provider about the payment again");
}

// The provider may have the money: only its word ends the order or lets it stand.
Repair Repairs::ask_about_missing(const OrderRecord& paid, Instant now) const {
    PaymentChange again{.before = {}, .after = new_attempt(paid, *paid.payment, now)};
    again.after.state = PaymentState::open;
    return carry_out(std::move(again), "write the payment's row again and ask the provider about it");
}

Repair Repairs::refund_capture(const Difference& difference, Instant now) const {
    const PaymentRecord* found = payment(difference);
    if (found == nullptr || order(difference) == nullptr)
        return leave("refund it at the provider by hand, then acknowledge it: its order is not there");
    PaymentChange change{*found, *found};
    change.after.state = PaymentState::refunding;
    change.after.look_at = now;
    change.after.looks = 0;
    return carry_out(std::move(change), "refund the payment");
}

Repair Repairs::cancel_newest(const Difference& difference) const {
    std::optional<OrderMove> newest;
    const auto theirs = orders_of_.find(*difference.buyer);
    if (theirs == orders_of_.end()) return leave("wait: it is in flight, and the worker decides");
    for (const OrderRecord* one : theirs->second) {
        const bool is_meant = one->sale == difference.sale && one->item == difference.item;
        if (!is_meant || one->hold == HoldState::finished) continue;
        auto move = cancel_because(*one, reason_over_limit);
        if (move && (!newest || newest->before.id < one->id)) newest = std::move(move);
    }
    if (!newest) return leave("look at it, then acknowledge it: all of it is paid, and stands");
    const auto id = static_cast<int64_t>(newest->before.id);
    return carry_out(*std::move(newest), fmt::format("cancel the newest unpaid order, {}", id));
}

Repair Repairs::release(const Difference& difference) const {
    const OrderRecord& ended = *order(difference);
    OrderMove move{.before = ended, .after = ended, .payment = {}, .events = {}};
    move.after.hold = HoldState::finished;
    return carry_out(std::move(move), fmt::format("give its {} units back", ended.units));
}

Repair Repairs::after_release(const Difference& difference) const {
    const OrderRecord* found = order(difference);
    if (difference.figures.empty() && found != nullptr) {
        if (auto move = cancel_because(*found, reason_not_accepted))
            return carry_out(*std::move(move), "cancel the unpaid order, which has no units any more");
    }
    return leave(
        "find out why, then acknowledge it: what was given back too often, the repair of the stock row takes "
        "back");
}

Repair Repairs::sell(const Difference& difference) const {
    const OrderRecord& one = *order(difference);
    if (one.state != OrderState::paid) {
        return leave(
            "wait until it is paid or ends, either of which puts it right, or find out why and acknowledge "
            "it");
    }
    OrderMove move{.before = one, .after = one, .payment = {}, .events = {}};
    move.after.hold = HoldState::sold;
    return carry_out(std::move(move), fmt::format("mark its {} units as sold", one.units));
}

}  // namespace doorbuster::audit
