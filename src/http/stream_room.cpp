#include "http/stream_room.hpp"

#include "base/check.hpp"

namespace doorbuster {

bool StreamRoom::take(const BuyerId& buyer) {
    uint32_t seen = streams_.load();
    do {
        if (seen >= limits_.streams_max) return false;
    } while (!streams_.compare_exchange_weak(seen, seen + 1));

    Stripe& stripe = stripe_of(buyer);
    {
        std::lock_guard lock(stripe.mutex);
        uint32_t& own = stripe.streams_of[buyer];
        if (own < limits_.streams_per_buyer_max) {
            ++own;
            return true;
        }
    }
    streams_.fetch_sub(1);
    return false;
}

void StreamRoom::give_back(const BuyerId& buyer) {
    Stripe& stripe = stripe_of(buyer);
    {
        std::lock_guard lock(stripe.mutex);
        const auto found = stripe.streams_of.find(buyer);
        CHECK(found != stripe.streams_of.end());
        if (--found->second == 0) stripe.streams_of.erase(found);
    }
    streams_.fetch_sub(1);
}

}  // namespace doorbuster
