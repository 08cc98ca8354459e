#include "sale/order_life.hpp"

#include <array>
#include <initializer_list>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr std::array<std::string_view, 7> payment_names = {"creating", "open",      "declined", "voided",
                                                           "captured", "refunding", "refunded"};

OrderMove stay(const OrderRecord& order) {
    return {.before = order, .after = order, .payment = {}, .events = {}};
}

// One step or several; each has to be in the table.
OrderMove step(const OrderRecord& order, std::initializer_list<OrderState> through) {
    OrderMove move = stay(order);
    for (const OrderState to : through) {
        CHECK(may_step(move.after.state, to));
        move.after.state = to;
    }
    return move;
}

void release(OrderMove& move, std::string_view reason) {
    move.after.hold = HoldState::finished;
    move.after.reason = reason;
}

EventKind event_of_end(OrderState state) {
    return state == OrderState::expired ? EventKind::order_expired : EventKind::order_cancelled;
}
std::string_view reason_of_end(OrderState state) {
    return state == OrderState::expired ? reason_expired : reason_by_buyer;
}

PaymentChange change(const PaymentRecord& payment, PaymentState to) {
    PaymentChange changed{payment, payment};
    changed.after.state = to;
    changed.after.looks = 0;
    return changed;
}

PaymentChange captured(const PaymentRecord& payment, const ProviderView& view, PaymentState to) {
    PaymentChange changed = change(payment, to);
    changed.after.captured_minor = view.captured_minor;
    changed.after.captured_currency = view.captured_currency;
    return changed;
}

bool has_ended(OrderState state) {
    return state == OrderState::expired || state == OrderState::cancelled;
}

// Neither money nor a refusal of it yet.
bool is_undecided(PaymentState state) {
    return state == PaymentState::creating || state == PaymentState::open || state == PaymentState::declined;
}

// The order ends here, its unit goes back (if it still has one) and its money too.
OrderMove give_money_back(const OrderRecord& order, PaymentChange payment, std::string_view reason) {
    using enum OrderState;
    OrderMove move = order.state == voiding || order.state == reinstating
                         ? step(order, {order.falls_to, refunding})
                     : order.state == pending_payment ? step(order, {paying, refunding})
                                                      : step(order, {refunding});
    release(move, reason);
    move.after.payment = payment.after.id;
    move.payment = std::move(payment);
    move.events = {EventKind::order_refunding};
    return move;
}

std::optional<OrderMove> end(const OrderRecord& order, OrderState to) {
    using enum OrderState;
    if (order.state == pending_payment) {
        OrderMove move = step(order, {to});
        release(move, reason_of_end(to));
        move.events = {event_of_end(to)};
        return move;
    }
    if (order.state == paying) {
        // The buyer may be paying this very moment: the provider has to say no first.
        OrderMove move = step(order, {voiding});
        move.after.falls_to = to;
        return move;
    }
    return std::nullopt;
}

PaymentRuling on_capture(const OrderRecord& order, const PaymentRecord& payment, const ProviderView& view) {
    using enum OrderState;
    if (payment.state == PaymentState::captured || payment.state == PaymentState::refunding ||
        payment.state == PaymentState::refunded) {
        return {};  // ruled on before
    }
    const bool is_current = order.payment == payment.id;
    const bool is_open = order.state == pending_payment || order.state == paying || order.state == voiding;
    const bool right_amount =
        view.captured_minor == payment.amount_minor && view.captured_currency == payment.currency;
    const PaymentChange surplus = captured(payment, view, PaymentState::refunding);
    if (!right_amount) {
        const bool ends_order =
            (is_current && (order.state == paying || order.state == voiding)) || has_ended(order.state);
        if (!ends_order) return {.move = {}, .if_no_unit = {}, .payment = surplus};
        return {
            .move = give_money_back(order, surplus, reason_wrong_amount), .if_no_unit = {}, .payment = {}};
    }
    if (is_open) {
        OrderMove move = order.state == pending_payment ? step(order, {paying, paid}) : step(order, {paid});
        move.after.hold = HoldState::sold;
        move.after.payment = payment.id;
        move.payment = captured(payment, view, PaymentState::captured);
        move.events = {EventKind::order_paid};
        PaymentRuling ruling{.move = std::move(move), .if_no_unit = {}, .payment = {}};
        if (order.policy == StockPolicy::at_payment)
            ruling.if_no_unit = give_money_back(order, surplus, reason_no_unit_to_pay);
        return ruling;
    }
    if (order.state == paid && is_current) {  // it pays for the order, and only our record of it was behind
        return {.move = {}, .if_no_unit = {}, .payment = captured(payment, view, PaymentState::captured)};
    }
    if (has_ended(order.state)) {
        OrderMove move = step(order, {reinstating});
        move.after.falls_to = order.state;
        move.after.payment = payment.id;
        move.payment = captured(payment, view, PaymentState::captured);
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    return {.move = {},
            .if_no_unit = {},
            .payment = surplus};  // somebody else's capture pays for it, or it is over
}

PaymentRuling on_void(const OrderRecord& order, const PaymentRecord& payment) {
    using enum OrderState;
    if (!is_undecided(payment.state)) return {};
    const bool is_current = order.payment == payment.id;
    PaymentChange voided = change(payment, PaymentState::voided);
    if (is_current && order.state == voiding) {
        OrderMove move = step(order, {order.falls_to});
        release(move, reason_of_end(order.falls_to));
        move.payment = std::move(voided);
        move.events = {event_of_end(order.falls_to)};
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    if (is_current && order.state == paying) {  // the provider gave up on it by itself: try again
        OrderMove move = step(order, {pending_payment});
        move.payment = std::move(voided);
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    return {.move = {}, .if_no_unit = {}, .payment = std::move(voided)};
}

PaymentRuling on_decline(const OrderRecord& order, const PaymentRecord& payment) {
    if (payment.state == PaymentState::declined || !is_undecided(payment.state)) return {};
    PaymentChange declined = change(payment, PaymentState::declined);
    if (order.payment == payment.id && order.state == OrderState::paying) {
        OrderMove move = step(order, {OrderState::pending_payment});
        move.payment = std::move(declined);
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    return {.move = {}, .if_no_unit = {}, .payment = std::move(declined)};
}

PaymentRuling on_refund(const OrderRecord& order, const PaymentRecord& payment, const ProviderView& view) {
    if (payment.state == PaymentState::refunded) return {};
    PaymentChange given_back = captured(payment, view, PaymentState::refunded);
    const bool is_current = order.payment == payment.id;
    if (is_current && order.state == OrderState::refunding) {
        OrderMove move = step(order, {OrderState::refunded});
        move.payment = std::move(given_back);
        move.events = {EventKind::order_refunded};
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    if (is_current && order.state == OrderState::paid) {
        // Done at the provider, behind our back. Where the goods are only the shop knows: they stay sold.
        OrderMove move = step(order, {OrderState::refunding, OrderState::refunded});
        move.after.reason = reason_by_provider;
        move.payment = std::move(given_back);
        move.events = {EventKind::order_refunded};
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    // The book may be giving it a unit this very moment: first it is paid, then this.
    if (is_current && order.state == OrderState::reinstating) return {};
    // Captured and given back before anybody looked: for the order it is as if it had been voided.
    if (is_current && (order.state == OrderState::voiding || order.state == OrderState::paying)) {
        const bool ends = order.state == OrderState::voiding;
        OrderMove move = step(order, {ends ? order.falls_to : OrderState::pending_payment});
        if (ends) {
            release(move, reason_of_end(order.falls_to));
            move.events = {event_of_end(order.falls_to)};
        }
        move.payment = std::move(given_back);
        return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
    }
    return {.move = {}, .if_no_unit = {}, .payment = std::move(given_back)};
}

}  // namespace

std::string_view name_of(PaymentState state) {
    return payment_names[static_cast<size_t>(state)];
}
std::optional<PaymentState> payment_state_of(std::string_view name) {
    for (size_t i = 0; i < payment_names.size(); ++i) {
        if (payment_names[i] == name) return static_cast<PaymentState>(i);
    }
    return std::nullopt;
}

std::optional<OrderMove> expire(const OrderRecord& order) {
    return end(order, OrderState::expired);
}

std::optional<OrderMove> cancel(const OrderRecord& order) {
    return end(order, OrderState::cancelled);
}

PaymentRecord new_attempt(const OrderRecord& order, PaymentId id, Instant now) {
    return {.id = id,
            .order = order.id,
            .state = PaymentState::creating,
            .version = 0,
            .amount_minor = order.amount_minor,
            .currency = order.currency,
            .captured_minor = 0,
            .captured_currency = {},
            .url = {},
            .created_at = now,
            .updated_at = now,
            .look_at = now,
            .looks = 0};
}

std::optional<OrderMove> begin_payment(const OrderRecord& order, PaymentId id, Instant now) {
    if (order.state != OrderState::pending_payment || now >= order.pay_by) return std::nullopt;
    OrderMove move = step(order, {OrderState::paying});
    move.after.payment = id;
    move.payment = PaymentChange{.before = {}, .after = new_attempt(order, id, now)};
    return move;
}

std::optional<OrderMove> refund(const OrderRecord& order, const PaymentRecord& paying, bool units_return,
                                std::string reason) {
    if (order.state != OrderState::paid) return std::nullopt;
    CHECK(order.payment == paying.id);
    OrderMove move = step(order, {OrderState::refunding});
    if (units_return) move.after.hold = HoldState::finished;
    move.after.reason = std::move(reason);
    move.payment = change(paying, PaymentState::refunding);
    move.events = {EventKind::order_refunding};
    return move;
}

PaymentRuling rule_on(const OrderRecord& order, const PaymentRecord& payment, const ProviderView& view) {
    CHECK(payment.order == order.id);
    switch (view.state) {
        case ProviderState::captured:
            return on_capture(order, payment, view);
        case ProviderState::voided:
            return on_void(order, payment);
        case ProviderState::declined:
            return on_decline(order, payment);
        case ProviderState::refunded:
            return on_refund(order, payment, view);
        case ProviderState::created: {
            // Also after a decline: the buyer tries again on the provider's page.
            if (payment.state != PaymentState::creating && payment.state != PaymentState::declined) return {};
            PaymentChange opened = change(payment, PaymentState::open);
            opened.after.url = view.url;
            if (order.state == OrderState::pending_payment && order.payment == payment.id) {
                // It could be paid at any moment, so the order may not end before the provider has said no.
                OrderMove move = step(order, {OrderState::paying});
                move.payment = std::move(opened);
                return {.move = std::move(move), .if_no_unit = {}, .payment = {}};
            }
            return {.move = {}, .if_no_unit = {}, .payment = std::move(opened)};
        }
        case ProviderState::unknown:
            return {};  // it did not get there yet, or never
    }
    CHECK(false);
    return {};
}

OrderMove refuse_reinstatement(const OrderRecord& order, const PaymentRecord& payment) {
    CHECK(order.state == OrderState::reinstating);
    return give_money_back(order, change(payment, PaymentState::refunding), reason_too_late);
}

PurchaseId reinstating_id(const OrderRecord& order) {
    CHECK(order.payment);
    // A buyer's key cannot be this one: keys have no spaces.
    return purchase_id_of(order.sale, order.item, order.buyer,
                          "late payment " + std::to_string(static_cast<int64_t>(*order.payment)));
}

ProviderAsk next_ask(const OrderRecord& order, const PaymentRecord& payment) {
    using enum OrderState;
    const bool is_current = order.payment == payment.id;
    switch (payment.state) {
        case PaymentState::refunding:
            return ProviderAsk::refund;
        case PaymentState::captured:
        case PaymentState::refunded:
        case PaymentState::voided:
            return ProviderAsk::look_up;
        case PaymentState::creating:
        case PaymentState::open:
        case PaymentState::declined:
            break;
    }
    if (order.state == paying && is_current) {
        return payment.state == PaymentState::creating ? ProviderAsk::create : ProviderAsk::look_up;
    }
    if (order.state == paid && is_current) return ProviderAsk::look_up;  // it pays; our record is behind
    // Another attempt is under way, or none: this one may still be paid on the provider's page.
    if (order.state == paying || order.state == pending_payment) return ProviderAsk::look_up;
    return ProviderAsk::take_back;
}

}  // namespace doorbuster
