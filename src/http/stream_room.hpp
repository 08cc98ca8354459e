// StreamRoom: how many event streams are open, over all gate threads, in all and per buyer.
//
// A stream costs a connection and a little work for as long as it is open. Without a cap a
// few buyers with a script could take every connection that the crowd needs.
//
// Thread safety: every call from any thread. The table of buyers is striped, so that two
// gates seldom meet at one lock; when the house is full, no lock is taken at all.
// Invariant: a buyer is in the table only with a stream, so it holds at most streams_max.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/hash.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

class StreamRoom {
public:
    struct Limits {
        uint32_t streams_max = 10'000;
        uint32_t streams_per_buyer_max = 5;
    };
    explicit StreamRoom(const Limits& limits) : limits_(limits) {}

    // False if there is none left, for anybody or for this buyer.
    [[nodiscard]] bool take(const BuyerId&);

    // REQUIRES: it was taken for this buyer.
    void give_back(const BuyerId&);

    uint32_t streams() const { return streams_.load(std::memory_order_relaxed); }

private:
    static constexpr size_t stripes = 64;
    struct alignas(64) Stripe {
        std::mutex mutex;
        boost::unordered_flat_map<BuyerId, uint32_t, SeededHash> streams_of;
    };
    Stripe& stripe_of(const BuyerId& buyer) { return stripes_[SeededHash{}(buyer) % stripes]; }

    const Limits limits_;
    std::atomic<uint32_t> streams_{0};
    std::array<Stripe, stripes> stripes_;
};

}  // namespace doorbuster
