// EventOutbox: what the merchant hears of a change, and how badly.
//
// Each change of a payment is one event with an id of its own. The faults that are switched on
// decide how often it is sent, when, after which others, whether at all, and what lies come
// along with it.
//
// Deterministic: the time arrives with the event, the dice follow from the seed.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "base/clock.hpp"
#include "sandbox/faults.hpp"
#include "sandbox/payment.hpp"
#include "sandbox/webhook.hpp"

namespace doorbuster::sandbox {

// One moment, as the day counts it and as waits count it.
struct Moment {
    Instant now;
    Uptime uptime;
};

using Dice = std::mt19937_64;
inline bool happens(Dice& dice, unsigned percent) {
    return dice() % 100 < percent;
}
inline Uptime between(Dice& dice, milliseconds low, milliseconds high) {
    return low + milliseconds(dice() % static_cast<uint64_t>((high - low).count() + 1));
}

class EventOutbox {
public:
    // How many may be held back at once; at the bound an event is sent in its turn.
    static constexpr size_t held_max = 1024;
    static constexpr milliseconds held_for_max{2'000};

    EventOutbox(std::string public_url, Dice& dice) : public_url_(std::move(public_url)), dice_(dice) {}

    void announce(const Payment& payment, const FaultSet& faults, const Moment& at);

    // Lets go of what was held back for long enough, though nothing came after it.
    void advance(Uptime now);
    std::optional<Uptime> next_due() const;

    // What is to be sent, each at its own time.
    std::vector<Webhook> take() { return std::exchange(ready_, {}); }

private:
    struct Held {
        Webhook webhook;
        unsigned later_wanted;  // so many others go first
        Uptime at_latest;
    };

    void forge(const Payment& payment, const Webhook& real, const Moment& at);
    void send(Webhook webhook, const FaultSet& faults);

    const std::string public_url_;
    Dice& dice_;
    std::vector<Held> held_;
    std::vector<Webhook> ready_;
};

}  // namespace doorbuster::sandbox
