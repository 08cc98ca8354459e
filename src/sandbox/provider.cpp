#include "sandbox/provider.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace doorbuster::sandbox {

namespace {

constexpr unsigned underpaid_percent = 20, wrong_currency_percent = 20, captured_after_void_percent = 15;
constexpr unsigned unreachable_percent = 20, answer_lost_percent = 10;
constexpr milliseconds late_capture_min{100}, late_capture_max{1'500};
constexpr milliseconds answer_delay_max{300};

// Where the buyer goes afterwards may change between two calls; what is paid for may not.
bool is_same_money(const Intent& a, const Intent& b) {
    return a.amount_minor == b.amount_minor && a.currency == b.currency && a.reference == b.reference;
}

}  // namespace

SandboxProvider::SandboxProvider(const Terms& terms)
    : public_url_(terms.public_url),
      payments_max_(terms.payments_max),
      faults_(terms.faults),
      dice_(terms.seed),
      outbox_(terms.public_url, dice_) {}

Payment* SandboxProvider::known(std::string_view key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
}

Payment& SandboxProvider::add(Payment payment) {
    CHECK(is_key(payment.key));
    Payment& added = payments_.emplace_back(std::move(payment));
    by_key_.emplace(added.key, &added);
    return added;
}

SandboxProvider::Outcome SandboxProvider::moved(Payment& payment, PaymentState to, const Moment& at) {
    payment.state = to;
    ++payment.version;
    changes_.push_back(payment);
    outbox_.announce(payment, faults_, at);
    return {Verdict::done, &payment};
}

SandboxProvider::Outcome SandboxProvider::create(std::string_view key, const Intent& intent,
                                                 const Moment& at) {
    if (const Payment* payment = known(key)) {
        // The tombstone wins: whoever asks too late hears that it is voided, and can never pay.
        const bool is_same = payment->state == PaymentState::voided || is_same_money(payment->intent, intent);
        return {is_same ? Verdict::done : Verdict::conflict, payment};
    }
    if (payments_.size() >= payments_max_) return {Verdict::full};
    Payment& payment = add({.key = std::string(key), .intent = intent});
    moved(payment, PaymentState::created, at);
    return {Verdict::made, &payment};
}

SandboxProvider::Outcome SandboxProvider::find(std::string_view key) const {
    const Payment* payment = known(key);
    return {payment != nullptr ? Verdict::done : Verdict::unknown, payment};
}

SandboxProvider::Outcome SandboxProvider::void_payment(std::string_view key, const Moment& at) {
    Payment* payment = known(key);
    if (payment == nullptr) {
        if (payments_.size() >= payments_max_) return {Verdict::full};
        return moved(add({.key = std::string(key)}), PaymentState::voided, at);
    }
    // What was captured stays captured: a void never gives money back.
    if (payment->state != PaymentState::created && payment->state != PaymentState::declined) {
        return {Verdict::done, payment};
    }
    if (faults_.has(Fault::captured_after_void) && happens(dice_, captured_after_void_percent)) {
        late_captures_.emplace(at.uptime + between(dice_, late_capture_min, late_capture_max), payment);
    }
    return moved(*payment, PaymentState::voided, at);
}

SandboxProvider::Outcome SandboxProvider::refund(std::string_view key, const Moment& at) {
    Payment* payment = known(key);
    if (payment == nullptr) return {Verdict::unknown};
    if (payment->state == PaymentState::refunded) return {Verdict::done, payment};
    if (payment->state != PaymentState::captured) return {Verdict::conflict, payment};
    return moved(*payment, PaymentState::refunded, at);
}

SandboxProvider::Outcome SandboxProvider::capture(std::string_view key, const Moment& at) {
    Payment* payment = known(key);
    if (payment == nullptr) return {Verdict::unknown};
    if (payment->state == PaymentState::captured) return {Verdict::done, payment};
    if (payment->state != PaymentState::created && payment->state != PaymentState::declined) {
        return {Verdict::conflict, payment};
    }
    capture(*payment, at);
    return {Verdict::done, payment};
}

void SandboxProvider::capture(Payment& payment, const Moment& at) {
    payment.captured_minor = payment.intent.amount_minor;
    payment.captured_currency = payment.intent.currency;
    if (faults_.has(Fault::underpaid) && happens(dice_, underpaid_percent)) --payment.captured_minor;
    if (faults_.has(Fault::wrong_currency) && happens(dice_, wrong_currency_percent)) {
        payment.captured_currency = payment.intent.currency == "USD" ? "EUR" : "USD";
    }
    moved(payment, PaymentState::captured, at);
}

SandboxProvider::Outcome SandboxProvider::decline(std::string_view key, const Moment& at) {
    Payment* payment = known(key);
    if (payment == nullptr) return {Verdict::unknown};
    if (payment->state == PaymentState::declined) return {Verdict::done, payment};
    if (payment->state != PaymentState::created) return {Verdict::conflict, payment};
    return moved(*payment, PaymentState::declined, at);
}

SandboxProvider::CallFault SandboxProvider::draw_call_fault() {
    CallFault fault;
    fault.is_unreachable = faults_.has(Fault::unreachable) && happens(dice_, unreachable_percent);
    fault.is_answer_lost = faults_.has(Fault::lost) && happens(dice_, answer_lost_percent);
    if (faults_.has(Fault::delayed)) {
        const Uptime whole = between(dice_, milliseconds(0), answer_delay_max);
        fault.before = between(dice_, milliseconds(0), std::chrono::duration_cast<milliseconds>(whole));
        fault.after = whole - fault.before;
    }
    return fault;
}

void SandboxProvider::advance(const Moment& at) {
    while (!late_captures_.empty() && late_captures_.begin()->first <= at.uptime) {
        Payment& payment = *late_captures_.begin()->second;
        late_captures_.erase(late_captures_.begin());
        CHECK(payment.state == PaymentState::voided);  // nothing else leads out of it
        capture(payment, at);
    }
    outbox_.advance(at.uptime);
}

std::optional<Uptime> SandboxProvider::next_due() const {
    std::optional<Uptime> next = outbox_.next_due();
    if (late_captures_.empty()) return next;
    const Uptime late = late_captures_.begin()->first;
    return next ? std::min(*next, late) : late;
}

void SandboxProvider::restore(const Payment& payment) {
    if (Payment* found = known(payment.key)) {
        by_key_.erase(payment.key);  // it looks into the text that is written over now
        *found = payment;
        by_key_.emplace(found->key, found);
    } else {
        add(payment);
    }
}

}  // namespace doorbuster::sandbox
