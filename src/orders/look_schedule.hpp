// LookSchedule: when the provider is asked about an attempt again.
//
// Webhooks get lost, so every attempt is asked about until it is final: soon at first, then
// ever less often, with jitter, so that the attempts of one rush do not come back as one.
// What somebody waits for (a void, a refund) is asked at once, and then by the same steps.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <random>

#include "sale/order_life.hpp"

namespace doorbuster {

class LookSchedule {
public:
    struct Options {
        milliseconds look_min{5'000}, look_max{600'000};  // doubling from one to the other
        milliseconds void_watch{86'400'000};  // a voided attempt is asked about for so long: it may be paid
    };

    LookSchedule(const Options& options, uint64_t seed) : options_(options), random_(seed) {}

    // Sets look_at and looks of the attempt as it is after an answer (none: no view came).
    // `before` is how it was; `order` how the order is now.
    void set(PaymentRecord& payment, const PaymentRecord& before, const OrderRecord& order, ProviderAsk asked,
             const std::optional<ProviderView>& view, Instant now);

    // Asked so often, with nothing new: how long until the next time.
    milliseconds wait_after(uint32_t looks);

private:
    milliseconds step(uint32_t looks) const;
    bool is_watched_enough(uint32_t looks) const;

    const Options options_;
    std::mt19937_64 random_;
};

}  // namespace doorbuster
