// What the clock brings: expiry, the next look at an attempt, late captures at the book.
#include <algorithm>

#include "base/check.hpp"
#include "base/log.hpp"
#include "orders/payment_desk.hpp"

namespace doorbuster {

namespace {

constexpr size_t failures_max = 3;
constexpr std::chrono::seconds rest_after_failure{1};
constexpr std::chrono::minutes pass_over_for{1};

// A word of the book that will not change by itself. Where a unit is taken at payment, it may
// have no room for another order although units are left: that one waits.
bool is_refusal(const Reinstated& answer) {
    if (!answer.outcome) return false;
    switch (*answer.outcome) {
        case ReserveOutcome::accepted:
        case ReserveOutcome::sold_out_for_now:
            return false;
        case ReserveOutcome::repeated:
            return answer.hold == HoldState::finished;
        default:
            return true;
    }
}

}  // namespace

StoreResult<bool> PaymentDesk::step(Instant now, Uptime uptime) {
    due_.observe(now, uptime);
    if (uptime < wait_until_) return false;
    auto more = turn(now, uptime);
    if (more && trouble_) more = *trouble_;
    trouble_.reset();
    if (more) {
        failures_ = 0;
        return more;
    }
    // A commit that may have landed is not repeated on a disk that has just failed.
    if (more.error().outcome_unknown || ++failures_ > failures_max) return more.error();
    log_warn("orders that are due wait for the store", {{"error", more.error().text()}});
    wait_until_ = uptime + rest_after_failure * failures_;
    return false;
}

StoreResult<bool> PaymentDesk::turn(Instant now, Uptime uptime) {
    const auto more = sweep(now, uptime);
    if (!more) return more;
    if (options_.enabled) {
        if (const auto asked = ask_what_is_due(now); !asked) return asked.error();
    }
    while (!refused_by_books_.empty()) {
        const OrderId id = *refused_by_books_.begin();
        refused_by_books_.erase(id);
        const auto order = orders_.reader().find_order(id);
        if (!order) return order.error();
        if (!*order || (*order)->state != OrderState::reinstating) continue;
        CHECK((*order)->payment);
        const auto attempt = find_attempt(*(*order)->payment);
        if (!attempt) return attempt.error();
        OrderMove move = refuse_reinstatement(**order, attempt->payment);
        move.payment->after.look_at = now;
        if (const auto moved = carry_out(move, now); !moved) return moved.error();
    }
    if (const auto asked = ask_books(uptime); !asked) return asked.error();
    return more;
}

StoreResult<bool> PaymentDesk::sweep(Instant now, Uptime uptime) {
    if (uptime < sweep_at_) return false;
    if (uptime >= pass_over_until_) passed_over_ = 0;
    const auto due = orders_.reader().due_orders(due_.of(now), options_.sweep_batch, passed_over_);
    if (!due) return due.error();
    if (due->empty()) {
        sweep_at_ = uptime + options_.sweep_every;
        return false;
    }
    std::vector<OrderMove> moves;
    moves.reserve(due->size());
    for (const OrderRecord& order : *due) {
        auto move = expire(order);
        if (!move) continue;
        auto whole = with_attempt_due(*std::move(move), now);
        if (!whole) return whole.error();
        moves.push_back(*std::move(whole));
    }
    const auto moved = orders_.move(moves, now);
    if (!moved) return moved.error();
    tell(moves, *moved);
    pass_over(moves, *moved, uptime);
    const auto is_moved = [](Moved one) { return one == Moved::done || one == Moved::damaged; };
    return due->size() == options_.sweep_batch && std::any_of(moved->begin(), moved->end(), is_moved);
}

// One wrong stock row keeps its own orders, and nobody else's, from expiring. They are tried again
// after a while: the audit may have mended the row.
void PaymentDesk::pass_over(std::span<const OrderMove> moves, std::span<const Moved> moved, Uptime uptime) {
    size_t damaged = 0;
    for (size_t i = 0; i < moves.size(); ++i) {
        if (moved[i] != Moved::damaged) continue;
        if (damaged++ == 0 && passed_over_ == 0) {
            pass_over_until_ = uptime + pass_over_for;
            log_error(
                "orders cannot expire: the stock row does not have their units; reconcile --repair mends it",
                {{"sale", moves[i].after.sale.view()}, {"item", moves[i].after.item.view()}});
        }
    }
    passed_over_ += damaged;
}

StoreResult<void> PaymentDesk::ask_what_is_due(Instant now) {
    // Nobody waits for these answers: however slow the provider is, a quarter stays for buyers who do.
    const size_t looks_max = options_.calls_max - options_.calls_max / 4;
    if (calls_.size() >= looks_max) return {};
    // A unit may hang on what is awaited. A day's voided attempts are many, and keep most calls free for
    // that; a few calls are theirs, or a provider that is slow for hours would hide a late capture as long.
    const size_t watches_max = std::max<size_t>(options_.calls_max / 4, 1);
    if (const auto asked = watch(watches_max / 4, looks_max, now); !asked) return asked;
    if (const auto asked = ask_about(DuePayments::awaited, looks_max, now); !asked) return asked;
    return watch(watches_max, looks_max, now);
}

// Until so many voided attempts are asked about, or so many calls are under way.
StoreResult<void> PaymentDesk::watch(size_t watches_max, size_t calls_max, Instant now) {
    const auto is_watch = [](const auto& one) { return one.second.is_watch; };
    const auto watching = static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), is_watch));
    if (watching >= watches_max) return {};
    return ask_about(DuePayments::watched, std::min(calls_max, calls_.size() + watches_max - watching), now);
}

// Until so many calls are under way.
StoreResult<void> PaymentDesk::ask_about(DuePayments which, size_t calls_max, Instant now) {
    if (calls_.size() >= calls_max) return {};
    // Those under way are among them.
    const auto due = orders_.reader().due_payments(which, now, options_.calls_max);
    if (!due) return due.error();
    for (const PaymentRecord& payment : *due) {
        if (calls_.contains(payment.id)) continue;
        if (calls_.size() >= calls_max) return {};
        const auto attempt = find_attempt(payment.id);
        if (!attempt) return attempt.error();
        ask(*attempt, {});
        calls_[payment.id].is_watch = which == DuePayments::watched;
    }
    return {};
}

StoreResult<void> PaymentDesk::ask_books(Uptime uptime) {
    if (uptime < ask_books_at_) return {};
    const auto waiting = orders_.reader().orders_in(OrderState::reinstating, options_.reinstating_max);
    if (!waiting) return waiting.error();
    // Looked for again even where nothing waits: the state is the record of what is to be done.
    ask_books_at_ = uptime + options_.looks.look_min;
    for (const OrderRecord& order : *waiting) {
        // One question at a time: a yes then finds its order waiting for it.
        if (!asking_books_.insert(order.id).second) continue;
        books_.reinstate({.sale = order.sale,
                          .item = order.item,
                          .fresh = reinstating_id(order),
                          .replaces = order.purchase,
                          .buyer = order.buyer,
                          .units = order.units},
                         [this, id = order.id](const Reinstated& answer) {
                             hooks_.post([this, id, answer] { book_answered(id, answer); });
                         });
    }
    return {};
}

// A yes is in the ledger: the worker places it, and the order is paid. A no is carried out in the
// next turn, which has the time.
void PaymentDesk::book_answered(OrderId order, const Reinstated& answer) {
    asking_books_.erase(order);
    if (is_refusal(answer)) refused_by_books_.insert(order);
}

void PaymentDesk::note(const StoreError& error) {
    if (!trouble_ || error.outcome_unknown) trouble_ = error;
}

}  // namespace doorbuster
