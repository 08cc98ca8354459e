#include "sandbox/event_outbox.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

#include "base/rfc3339.hpp"

namespace doorbuster::sandbox {

namespace {

constexpr unsigned lost_percent = 30, held_percent = 50, forged_percent = 50;
constexpr milliseconds delay_min{50}, delay_max{2'000};
constexpr milliseconds repeat_after_max{200};

std::string event_body(const Payment& payment, Instant now, std::string_view public_url) {
    return boost::json::serialize(
        boost::json::object{{"type", "payment." + std::string(word_of(payment.state))},
                            {"timestamp", format_rfc3339(now)},
                            {"data", payment_json(payment, public_url)}});
}

// A payment that looks as if it had been captured in full, or undone where it really was.
Payment lie_about(Payment payment) {
    if (payment.state == PaymentState::captured) {
        payment.state = PaymentState::voided;
        payment.captured_minor = 0;
        payment.captured_currency.clear();
    } else {
        payment.state = PaymentState::captured;
        payment.captured_minor = payment.intent.amount_minor;
        payment.captured_currency = payment.intent.currency;
    }
    ++payment.version;
    return payment;
}

}  // namespace

void EventOutbox::announce(const Payment& payment, const FaultSet& faults, const Moment& at) {
    // A key is never used for two payments and a version never for two changes.
    Webhook webhook{.id = "evt_" + payment.key + '_' + std::to_string(payment.version),
                    .body = event_body(payment, at.now, public_url_),
                    .due = at.uptime};
    if (faults.has(Fault::forged)) forge(payment, webhook, at);
    if (faults.has(Fault::lost) && happens(dice_, lost_percent)) return;
    if (faults.has(Fault::delayed)) webhook.due += between(dice_, delay_min, delay_max);
    if (faults.has(Fault::reordered) && held_.size() < held_max && happens(dice_, held_percent)) {
        held_.push_back({.webhook = std::move(webhook),
                         .later_wanted = 1 + static_cast<unsigned>(dice_() % 3),
                         .at_latest = at.uptime + held_for_max});
        return;
    }
    const Uptime due = webhook.due;
    send(std::move(webhook), faults);

    // One that was held back goes out behind the last of those that it let pass.
    std::erase_if(held_, [&](Held& held) {
        held.webhook.due = std::max(held.webhook.due, due + milliseconds(1));
        if (--held.later_wanted > 0) return false;
        send(std::move(held.webhook), faults);
        return true;
    });
}

// Both use the id of the real one: a merchant that remembers ids before it has looked at the
// signature would then pass over the real one.
void EventOutbox::forge(const Payment& payment, const Webhook& real, const Moment& at) {
    for (const Forgery forgery : {Forgery::wrong_signature, Forgery::old_timestamp}) {
        if (!happens(dice_, forged_percent)) continue;
        ready_.push_back({.id = real.id,
                          .body = event_body(lie_about(payment), at.now, public_url_),
                          .forgery = forgery,
                          .due = real.due});
    }
}

void EventOutbox::send(Webhook webhook, const FaultSet& faults) {
    const uint64_t repeats = faults.has(Fault::repeated) ? 1 + dice_() % 2 : 0;
    for (uint64_t i = 0; i < repeats; ++i) {
        Webhook again = webhook;
        again.due += between(dice_, milliseconds(0), repeat_after_max);
        ready_.push_back(std::move(again));
    }
    ready_.push_back(std::move(webhook));
}

void EventOutbox::advance(Uptime now) {
    std::erase_if(held_, [&](Held& held) {
        if (held.at_latest > now) return false;
        held.webhook.due = std::max(held.webhook.due, now);
        ready_.push_back(std::move(held.webhook));
        return true;
    });
}

std::optional<Uptime> EventOutbox::next_due() const {
    std::optional<Uptime> next;
    for (const Held& held : held_) next = next ? std::min(*next, held.at_latest) : held.at_latest;
    return next;
}

}  // namespace doorbuster::sandbox
