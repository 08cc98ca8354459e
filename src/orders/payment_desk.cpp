// What buyers, the shop and the provider say. The turn of the clock is in payment_turn.cpp.
#include "orders/payment_desk.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace {

// Nobody else writes, so a ruling that does not fit any more is a rare thing: a hook that wrote.
constexpr int rulings_max = 3;

StoreError no_such_order() {
    return {StoreErrc::not_found, "finding the order", "there is no such order"};
}
StoreError not_allowed(std::string_view operation, std::string detail) {
    return {StoreErrc::not_allowed, std::string(operation), std::move(detail)};
}
StoreError damaged_stock() {
    return {StoreErrc::damaged, "moving the order", "the stock row does not have its units"};
}
StoreError unavailable(std::string detail) {
    return {StoreErrc::unavailable, "asking the payment provider", std::move(detail)};
}
StoreError too_often() {
    return {StoreErrc::conflict, "changing the order", "it kept changing meanwhile"};
}

StoreError not_payable(const OrderRecord& order) {
    using enum OrderState;
    const auto why = [&]() -> std::string_view {
        switch (order.state) {
            case pending_payment:
            case paying:
            case voiding:
                return "its time to pay is over";
            case paid:
            case reinstating:
                return "it is paid already";
            case expired:
            case cancelled:
            case refunding:
            case refunded:
                break;
        }
        return "it is over";
    }();
    return not_allowed("paying for the order", fmt::format("the order is {}; {}", name_of(order.state), why));
}

}  // namespace

PaymentDesk::PaymentDesk(Orders& orders, BookControl& books, Snowflake& ids, OrderTally& tally, uint64_t seed,
                         const Options& options, Hooks hooks)
    : orders_(orders),
      books_(books),
      ids_(ids),
      tally_(tally),
      options_(options),
      hooks_(std::move(hooks)),
      schedule_(options.looks, seed) {}

StoreResult<void> PaymentDesk::load() {
    const auto counts = orders_.reader().count_orders();
    if (!counts) return counts.error();
    tally_.load(*counts);
    return {};
}

// Another's order is as good as none.
StoreResult<std::optional<OrderRecord>> PaymentDesk::find_own(OrderId id, const BuyerId& buyer) {
    auto order = orders_.reader().find_order(id);
    if (order && *order && (*order)->buyer != buyer) order->reset();
    return order;
}

StoreResult<PaymentDesk::Attempt> PaymentDesk::find_attempt(PaymentId id) {
    auto payment = orders_.reader().find_payment(id);
    if (!payment) return payment.error();
    if (!*payment) return StoreError{StoreErrc::not_found, "finding the payment", "there is no such payment"};
    auto order = orders_.reader().find_order((*payment)->order);
    if (!order) return order.error();
    if (!*order) return StoreError{StoreErrc::damaged, "finding the order", "a payment without an order"};
    return Attempt{std::move(**order), std::move(**payment)};
}

void PaymentDesk::begin(OrderId id, const BuyerId& buyer, Instant now, Paid done) {
    if (!options_.enabled) return done(not_allowed("paying for the order", "no payment provider is set up"));
    for (int ruling = 0; ruling < rulings_max; ++ruling) {
        const auto order = find_own(id, buyer);
        if (!order) return done(order.error());
        if (!*order) return done(no_such_order());
        const DueBy by = due_.of(now);
        if ((*order)->state == OrderState::paying && !by.is_over(**order)) {
            CHECK((*order)->payment);
            auto attempt = find_attempt(*(*order)->payment);
            if (!attempt) return done(attempt.error());
            return join(*attempt, std::move(done));
        }
        const auto move = begin_payment(**order, PaymentId{ids_.next(now)}, by.at(**order));
        if (!move) return done(not_payable(**order));
        const auto attempts = orders_.reader().payments_of(id);
        if (!attempts) return done(attempts.error());
        if (attempts->size() >= options_.attempts_max) {
            return done(not_allowed("paying for the order",
                                    fmt::format("{} attempts were made; that is all", attempts->size())));
        }
        OrderMove dated = *move;
        dated.payment->after.created_at = dated.payment->after.updated_at = now;
        dated.payment->after.look_at = now;  // if this process ends before it has asked
        const auto moved = carry_out(dated, now);
        if (!moved) return done(moved.error());
        if (*moved != Moved::done) continue;
        auto attempt = find_attempt(*dated.after.payment);
        if (!attempt) return done(attempt.error());
        return join(*attempt, std::move(done));
    }
    done(too_often());
}

// Several may wait for the page of one attempt.
void PaymentDesk::join(const Attempt& attempt, Paid done) {
    if (!attempt.payment.url.empty()) return done(attempt.payment);
    const auto under_way = calls_.find(attempt.payment.id);
    if (under_way != calls_.end()) {
        std::vector<Paid>& waiters = under_way->second.waiters;
        if (waiters.size() >= options_.waiters_max)
            return done(unavailable("too many wait for this attempt"));
        waiters.push_back(std::move(done));
        return;
    }
    if (calls_.size() >= options_.calls_max) return done(unavailable("too many ask it at this moment"));
    ask(attempt, std::move(done));
}

void PaymentDesk::ask(const Attempt& attempt, Paid waiter) {
    Call& call = calls_[attempt.payment.id];
    if (waiter) call.waiters.push_back(std::move(waiter));
    hooks_.ask({next_ask(attempt.order, attempt.payment), attempt.payment});
}

// An order that ends while an attempt could still be paid: the provider is asked to take it back at once.
StoreResult<OrderMove> PaymentDesk::with_attempt_due(OrderMove move, Instant now) {
    if (!move.before.payment) return move;
    auto payment = orders_.reader().find_payment(*move.before.payment);
    if (!payment) return payment.error();
    if (!*payment || next_ask(move.after, **payment) != ProviderAsk::take_back) return move;
    PaymentChange due{**payment, **payment};
    due.after.look_at = now;
    due.after.looks = 0;
    move.payment = std::move(due);
    return move;
}

void PaymentDesk::cancel(OrderId id, const BuyerId& buyer, Instant now, const Done& done) {
    for (int ruling = 0; ruling < rulings_max; ++ruling) {
        const auto order = find_own(id, buyer);
        if (!order) return done(order.error());
        if (!*order) return done(no_such_order());
        const OrderState state = (*order)->state;
        if (state == OrderState::cancelled || state == OrderState::voiding) return done(**order);
        auto move = doorbuster::cancel(**order);
        if (!move) {
            return done(not_allowed(
                "cancelling the order",
                fmt::format("the order is {}; only one that is not paid can be cancelled", name_of(state))));
        }
        const auto whole = with_attempt_due(*std::move(move), now);
        if (!whole) return done(whole.error());
        const auto moved = carry_out(*whole, now);
        if (!moved) return done(moved.error());
        if (*moved == Moved::damaged) return done(damaged_stock());
        if (*moved != Moved::done) continue;
        auto after = orders_.reader().find_order(id);
        if (!after) return done(after.error());
        return done(after->value());
    }
    done(too_often());
}

void PaymentDesk::refund(OrderId id, bool units_return, std::string reason, Instant now, const Done& done) {
    for (int ruling = 0; ruling < rulings_max; ++ruling) {
        const auto order = orders_.reader().find_order(id);
        if (!order) return done(order.error());
        if (!*order) return done(no_such_order());
        const OrderState state = (*order)->state;
        if (state == OrderState::refunding || state == OrderState::refunded) return done(**order);
        if (state != OrderState::paid) {
            return done(
                not_allowed("refunding the order",
                            fmt::format("the order is {}; only a paid one can be refunded", name_of(state))));
        }
        CHECK((*order)->payment);
        const auto attempt = find_attempt(*(*order)->payment);
        if (!attempt) return done(attempt.error());
        auto move = doorbuster::refund(**order, attempt->payment, units_return, reason);
        CHECK(move);
        move->payment->after.look_at = now;
        const auto moved = carry_out(*move, now);
        if (!moved) return done(moved.error());
        if (*moved == Moved::damaged) return done(damaged_stock());
        if (*moved != Moved::done) continue;
        auto after = orders_.reader().find_order(id);
        if (!after) return done(after.error());
        return done(after->value());
    }
    done(too_often());
}

StoreResult<bool> PaymentDesk::hint(std::string_view event, PaymentId payment, Instant now) {
    const auto is_new = orders_.hint(event, payment, now, options_.event_keep);
    // What the call under way brings back may be older than the hint.
    if (is_new && *is_new) {
        if (const auto call = calls_.find(payment); call != calls_.end()) call->second.again = true;
    }
    return is_new;
}

void PaymentDesk::answered(const ProviderCall& asked, const ProviderAnswer& answer, Instant now) {
    Call call;
    if (const auto found = calls_.find(asked.payment.id); found != calls_.end()) {
        call = std::move(found->second);
        calls_.erase(found);
    }
    if (!answer.view) {
        log_warn("the payment provider did not answer",
                 {{"payment", static_cast<int64_t>(asked.payment.id)}, {"error", answer.error}});
    }
    bool recorded = false;
    for (int ruling = 0; ruling < rulings_max && !recorded; ++ruling) {
        const auto done = record(asked, answer, call.again, now);
        if (!done) {
            note(done.error());
            break;
        }
        recorded = *done;
    }
    answer_waiters(call, asked.payment.id, answer);
}

// False: order or payment changed meanwhile, rule again.
StoreResult<bool> PaymentDesk::record(const ProviderCall& asked, const ProviderAnswer& answer, bool again,
                                      Instant now) {
    const auto attempt = find_attempt(asked.payment.id);
    if (!attempt) return attempt.error();
    const auto& [order, payment] = *attempt;
    auto dated = [&](PaymentChange& change, const OrderRecord& after) {
        schedule_.set(change.after, payment, after, asked.ask, answer.view, now);
        if (again) change.after.look_at = now;
    };

    PaymentRuling ruling;
    if (answer.view) ruling = rule_on(order, payment, *answer.view);
    if (ruling.move) {
        dated(*ruling.move->payment, ruling.move->after);
        auto moved = carry_out(*ruling.move, now);
        if (!moved) return moved.error();
        if (*moved == Moved::done) return true;
        if (*moved == Moved::conflict) return false;
        if (ruling.if_no_unit) {
            dated(*ruling.if_no_unit->payment, ruling.if_no_unit->after);
            moved = carry_out(*ruling.if_no_unit, now);
            if (!moved) return moved.error();
            return *moved == Moved::done;
        }
        log_error("a capture finds no unit that its order should have",
                  {{"order", static_cast<int64_t>(order.id)}});
    }
    // Nothing follows: it is written all the same when to ask next, or it would be asked without end.
    PaymentChange change = ruling.payment.value_or(PaymentChange{payment, payment});
    dated(change, order);
    const auto changed = change_payment(change, now);
    if (!changed && changed.error().code == StoreErrc::conflict) return false;
    if (!changed) return changed.error();
    return true;
}

void PaymentDesk::answer_waiters(const Call& call, PaymentId id, const ProviderAnswer& answer) {
    if (call.waiters.empty()) return;
    const auto attempt = find_attempt(id);
    auto outcome = [&]() -> StoreResult<PaymentRecord> {
        if (!attempt) return attempt.error();
        const auto& [order, payment] = *attempt;
        const bool is_current = order.state == OrderState::paying && order.payment == id;
        if (is_current && !payment.url.empty()) return payment;
        if (is_current || !answer.view)
            return unavailable(answer.view ? "it has no page for this attempt yet" : answer.error);
        if (order.state == OrderState::pending_payment)
            return not_allowed("paying for the order", "this attempt was declined; begin another");
        return not_payable(order);
    }();
    for (const Paid& waiter : call.waiters) waiter(outcome);
}

StoreResult<Moved> PaymentDesk::carry_out(const OrderMove& move, Instant now) {
    const auto moved = orders_.move({&move, 1}, now);
    if (!moved) return moved.error();
    tell({&move, 1}, *moved);
    return moved->front();
}

StoreResult<void> PaymentDesk::change_payment(const PaymentChange& change, Instant now) {
    const bool is_new_state = change.before->state != change.after.state;
    std::optional<EventKind> event;
    if (is_new_state && change.after.state == PaymentState::refunded) event = EventKind::payment_refunded;
    const auto changed = orders_.change_payment(change, event, now);
    if (changed && is_new_state) tally_.payment_became(change.after.state);
    return changed;
}

// After the commit, and only then.
void PaymentDesk::tell(std::span<const OrderMove> moves, std::span<const Moved> moved) {
    std::vector<PurchaseId> changed;
    std::vector<ControlCommand> commands;
    for (size_t i = 0; i < moves.size(); ++i) {
        if (moved[i] != Moved::done) continue;
        const auto& [before, after, payment, events] = moves[i];
        tally_.moved(before.state, after.state);
        if (payment && payment->before && payment->before->state != payment->after.state)
            tally_.payment_became(payment->after.state);
        if (after.state == OrderState::paid) {
            commands.push_back(SellPurchase{after.sale, after.item, after.holder});
        } else if (before.hold != HoldState::finished && after.hold == HoldState::finished) {
            commands.push_back(ReleasePurchase{after.sale, after.item, after.holder});
            const bool is_unpaid = after.state == OrderState::expired || after.state == OrderState::cancelled;
            if (is_unpaid && hooks_.abandoned) hooks_.abandoned(after.buyer);
        }
        if (after.state == OrderState::reinstating) ask_books_at_ = Uptime{};  // in the next turn
        if (hooks_.changed) changed.push_back(after.purchase);
    }
    books_.control_all(std::move(commands));
    if (!changed.empty()) hooks_.changed(changed);
}

}  // namespace doorbuster
