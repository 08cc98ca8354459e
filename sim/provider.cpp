#include "sim/provider.hpp"

#include "sim/world.hpp"

namespace doorbuster::sim {

namespace {

constexpr int64_t patience_us = 300 * ms;  // of the one who asks

}  // namespace

void Provider::later(int64_t wait_us, std::function<void()> what) {
    ++errands_;
    world_.after(wait_us, [this, what = std::move(what)] {
        --errands_;
        what();
    });
}

void Provider::begin() {
    go_away_later();
}

void Provider::go_away_later() {
    world_.after(world_.random.between(1000, 5000) * ms, [this] {
        if (!world_.faulty()) return;
        away_until_us_ = world_.now_us() + world_.random.between(50, 1200) * ms;
        go_away_later();
    });
}

const Provider::Attempt* Provider::find(PaymentId id) const {
    const auto found = attempts_.find(id);
    return found == attempts_.end() ? nullptr : &found->second;
}

void Provider::ask(const ProviderCall& call, std::function<void(const ProviderAnswer&)> answered) {
    const ProviderAnswer none{.view = {}, .error = "no answer in time"};
    const bool faulty = world_.faulty();
    if (faulty && world_.random.chance(40)) {
        world_.happened(Fault::provider_ask_lost);
        return later(patience_us, [answered, none] { answered(none); });
    }
    int64_t travels_us = world_.random.between(100, 15'000);
    const bool is_late = faulty && world_.random.chance(25);
    if (is_late) {
        world_.happened(Fault::provider_ask_late);
        travels_us = patience_us + world_.random.between(1, 900) * ms;
        later(patience_us, [answered, none] { answered(none); });
    }
    later(travels_us, [this, call, answered, none, is_late] {
        const ProviderAnswer answer = apply(call);
        if (is_late) return;
        if (world_.faulty() && world_.random.chance(40)) {
            world_.happened(Fault::provider_answer_lost);
            return later(patience_us, [answered, none] { answered(none); });
        }
        // Slow now and then: what it says may be old when it is heard.
        const int64_t slow_us = world_.faulty() && world_.random.chance(60) ? 200 * ms : 15'000;
        later(world_.random.between(100, slow_us), [answered, answer] { answered(answer); });
    });
}

ProviderAnswer Provider::apply(const ProviderCall& call) {
    using enum ProviderState;
    if (world_.now_us() < away_until_us_) {
        world_.happened(Fault::provider_unreachable);
        return {.view = {}, .error = "unreachable"};
    }
    const PaymentId id = call.payment.id;
    auto view_of = [](const Attempt& attempt) {
        const bool has_page = attempt.state == created || attempt.state == declined;
        return ProviderAnswer{.view = ProviderView{attempt.state, attempt.captured_minor,
                                                   attempt.captured_currency, has_page ? "page" : ""},
                              .error = {}};
    };
    if (call.ask == ProviderAsk::look_up) {
        const Attempt* attempt = find(id);
        return attempt ? view_of(*attempt) : ProviderAnswer{.view = ProviderView{}, .error = {}};
    }
    Attempt& attempt = attempts_[id];
    const bool is_new = attempt.state == unknown;
    if (is_new) {
        attempt.order = call.payment.order;
        attempt.amount_minor = call.payment.amount_minor;
        attempt.currency = call.payment.currency;
    }
    switch (call.ask) {
        case ProviderAsk::create:
            if (is_new) {
                attempt.state = created;
                tell(id);
            }
            break;
        case ProviderAsk::take_back:
            if (attempt.state == unknown || attempt.state == created || attempt.state == declined) {
                attempt.was_voided = true;
                attempt.state = voided;
                tell(id);
                if (!is_new && world_.faulty() && world_.random.chance(150)) {
                    world_.happened(Fault::captured_after_void);
                    const ProviderAnswer said = view_of(attempt);
                    later(world_.random.between(5, 600) * ms, [this, id] { capture(id); });
                    return said;
                }
            }
            break;
        case ProviderAsk::refund:
            if (attempt.state != captured && attempt.state != refunded)
                return {.view = {}, .error = "nothing to refund"};
            if (attempt.state == captured) {
                attempt.state = refunded;
                tell(id);
            }
            break;
        case ProviderAsk::look_up:
            break;
    }
    world_.note(fmt::format("provider {} is asked {}: {}", static_cast<int64_t>(id),
                            static_cast<int>(call.ask), static_cast<int>(attempt.state)));
    return view_of(attempt);
}

void Provider::pay(PaymentId id) {
    const Attempt* attempt = find(id);
    if (attempt == nullptr) return;
    if (attempt->state != ProviderState::created && attempt->state != ProviderState::declined) return;
    world_.coverage.did(attempt->state == ProviderState::declined ? Deed::paid_after_decline
                                                                  : Deed::paid_on_page);
    capture(id);
}

void Provider::decline(PaymentId id) {
    const auto found = attempts_.find(id);
    if (found == attempts_.end() || found->second.state != ProviderState::created) return;
    world_.coverage.did(Deed::declined_on_page);
    found->second.state = ProviderState::declined;
    world_.note(fmt::format("provider {} declined", static_cast<int64_t>(id)));
    tell(id);
}

void Provider::capture(PaymentId id) {
    Attempt& attempt = attempts_.at(id);
    attempt.state = ProviderState::captured;
    attempt.captured_minor = attempt.amount_minor;
    attempt.captured_currency = attempt.currency;
    if (world_.faulty() && world_.random.chance(40)) {
        world_.happened(Fault::underpaid);
        attempt.captured_minor -= 1;
    } else if (world_.faulty() && world_.random.chance(30)) {
        world_.happened(Fault::wrong_currency);
        attempt.captured_currency = "CNY";
    }
    world_.note(fmt::format("provider {} captured {} {}", static_cast<int64_t>(id), attempt.captured_minor,
                            attempt.captured_currency));
    tell(id);
    if (world_.faulty() && world_.random.chance(100)) {
        later(world_.random.between(1, 1500) * ms, [this, id] {
            Attempt& later_on = attempts_.at(id);
            if (later_on.state != ProviderState::captured) return;
            world_.happened(Fault::refunded_by_provider);
            later_on.state = ProviderState::refunded;
            later_on.gave_back_itself = true;
            // Nobody asks about what is captured: this one webhook has to arrive.
            send_until_taken(id, fmt::format("evt_{}", ++events_));
        });
    }
}

void Provider::tell(PaymentId id) {
    const std::string event = fmt::format("evt_{}", ++events_);
    if (world_.faulty() && world_.random.chance(150)) return world_.happened(Fault::webhook_lost);
    const bool is_repeated = world_.faulty() && world_.random.chance(100);
    if (is_repeated) world_.happened(Fault::webhook_repeated);
    for (int copy = 0; copy < (is_repeated ? 2 : 1); ++copy) send_webhook(id, event, 3);
    if (world_.faulty() && world_.random.chance(20)) {
        world_.happened(Fault::webhook_forged);  // signed well, about another's attempt, or nobody's
        const auto other = attempts_.begin();
        send_webhook(world_.random.chance(500) ? other->first : PaymentId{1}, event + "_forged", 1);
    }
}

void Provider::send_webhook(PaymentId id, const std::string& event, int tries_left) {
    int64_t travels_us = world_.random.between(100, 20'000);
    if (world_.faulty() && world_.random.chance(150)) {
        world_.happened(Fault::webhook_delayed);
        travels_us += world_.random.between(20, 1500) * ms;
    }
    if (world_.now_us() + travels_us < last_webhook_us_) world_.happened(Fault::webhook_reordered);
    last_webhook_us_ = std::max(last_webhook_us_, world_.now_us() + travels_us);
    later(travels_us, [this, id, event, tries_left] {
        Process* process = world_.process();
        if (process != nullptr && process->running()) return process->hint(event, id, [](bool) {});
        if (tries_left > 1) send_webhook(id, event, tries_left - 1);
    });
}

void Provider::send_until_taken(PaymentId id, const std::string& event) {
    const auto is_taken = std::make_shared<bool>(false);
    if (Process* process = world_.process(); process != nullptr && process->running())
        process->hint(event, id, [is_taken](bool taken) { *is_taken = taken; });
    later(200 * ms, [this, id, event, is_taken] {
        if (!*is_taken) send_until_taken(id, event);
    });
}

}  // namespace doorbuster::sim
