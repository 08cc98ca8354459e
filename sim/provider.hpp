// Provider: the payment provider, a process of its own that outlives every crash of the server.
//
// It keeps its word about idempotency: an attempt is captured once, a void of what it does not
// know leaves a mark, a refund is done once. Everything else may go wrong: questions and answers
// get lost or come late, webhooks too, and twice; the amount may be wrong; what it called voided
// may be captured all the same; and it is away for a while.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "orders/provider.hpp"

namespace doorbuster::sim {

class World;

class Provider {
public:
    struct Attempt {
        OrderId order{};
        ProviderState state = ProviderState::unknown;
        int64_t amount_minor = 0, captured_minor = 0;
        std::string currency, captured_currency;
        bool was_voided = false;        // it said so, once
        bool gave_back_itself = false;  // nobody had asked for the refund
    };

    explicit Provider(World& world) : world_(world) {}

    void begin();  // from now on it is away now and then
    void stay() { away_until_us_ = 0; }

    // `answered` hears exactly once; none where nothing came back in time.
    void ask(const ProviderCall& call, std::function<void(const ProviderAnswer&)> answered);

    // What a buyer does on the page of an attempt. Nothing where there is no page.
    void pay(PaymentId id);
    void decline(PaymentId id);

    const Attempt* find(PaymentId id) const;
    const std::map<PaymentId, Attempt>& attempts() const { return attempts_; }
    bool idle() const { return errands_ == 0; }

private:
    ProviderAnswer apply(const ProviderCall& call);
    void capture(PaymentId id);
    void tell(PaymentId id);
    void send_webhook(PaymentId id, const std::string& event, int tries_left);
    void send_until_taken(PaymentId id, const std::string& event);
    void later(int64_t wait_us, std::function<void()> what);
    void go_away_later();

    World& world_;
    std::map<PaymentId, Attempt> attempts_;
    uint64_t events_ = 0;
    size_t errands_ = 0;  // on their way, both directions
    int64_t away_until_us_ = 0, last_webhook_us_ = 0;
};

}  // namespace doorbuster::sim
