#include "orders/look_schedule.hpp"

#include <algorithm>

namespace doorbuster {

void LookSchedule::set(PaymentRecord& payment, const PaymentRecord& before, const OrderRecord& order,
                       ProviderAsk asked, const std::optional<ProviderView>& view, Instant now) {
    payment.looks = payment.state == before.state ? before.looks + 1 : 0;
    const ProviderAsk next = next_ask(order, payment);
    const bool is_waited_for = next == ProviderAsk::take_back || next == ProviderAsk::refund;
    if (is_waited_for && next != asked) {
        payment.look_at = now;
        return;
    }
    payment.look_at = now + wait_after(payment.looks);
    switch (payment.state) {
        case PaymentState::captured:
            // Somebody said that it is otherwise, and nobody answered; or it was given back behind our
            // back, and the order could not follow yet: look again.
            if (!view || view->state == ProviderState::refunded) return;
            payment.look_at.reset();
            return;
        case PaymentState::refunded:
            payment.look_at.reset();
            return;
        case PaymentState::voided:
            // Only an answer ends the watch: silence for a day says nothing.
            if (view && is_watched_enough(payment.looks)) payment.look_at.reset();
            return;
        case PaymentState::creating:
        case PaymentState::open:
        case PaymentState::declined:
        case PaymentState::refunding:
            return;
    }
}

milliseconds LookSchedule::step(uint32_t looks) const {
    return std::min(options_.look_max, options_.look_min * (int64_t{1} << std::min(looks, 20u)));
}

milliseconds LookSchedule::wait_after(uint32_t looks) {
    const int64_t whole = step(looks).count();
    std::uniform_int_distribution<int64_t> around(whole - whole / 5, whole + whole / 5);
    return milliseconds(around(random_));
}

// The looks so far tell how long it was watched: no other time has to be kept for it.
bool LookSchedule::is_watched_enough(uint32_t looks) const {
    milliseconds watched{0};
    for (uint32_t i = 0; i < looks && watched < options_.void_watch; ++i) watched += step(i);
    return watched >= options_.void_watch;
}

}  // namespace doorbuster
