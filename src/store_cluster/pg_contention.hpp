// What several writers of one database need: another try, after a random while.
#pragma once

#include <optional>
#include <random>
#include <string_view>
#include <thread>
#include <type_traits>

#include "base/clock.hpp"
#include "store_cluster/pg_failure.hpp"
#include "store_cluster/virtual_time.hpp"

namespace doorbuster::pg {

// Tries that only look; behind them rows are locked first, so that even the unluckiest gets through.
constexpr uint32_t optimistic_tries = 2;
constexpr uint32_t tries_max = 10;
constexpr int64_t backoff_us_max = 20'000;

inline void back_off() {
    thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<int64_t> backoff_us(0, backoff_us_max);
    if (virtual_time != nullptr) return virtual_time->pause(std::chrono::microseconds(backoff_us_max));
    std::this_thread::sleep_for(std::chrono::microseconds(backoff_us(random)));
}

// Somebody was faster: what has to be looked at again.
inline bool is_overtaken(const Failure& failure) {
    // A purchase that another worker wrote between our look and our insert.
    return dynamic_cast<const Contention*>(&failure) != nullptr || failure.constraint == "purchases_pkey";
}

// Runs `body`, a whole transaction, until it meets nobody in its way; body(locked), or body() where
// it always locks.
template <class Body>
auto contending(Body&& body) {
    for (uint32_t tries = 1;; ++tries) {
        try {
            if constexpr (std::is_invocable_v<Body, bool>) {
                return body(tries > optimistic_tries);
            } else {
                return body();
            }
        } catch (const Failure& failure) {
            if (!is_overtaken(failure)) throw;
            // Nobody's fault: whoever asked tries again later, and takes it for no word about a record.
            if (tries == tries_max) throw Contention(failure.what());
        }
        back_off();
    }
}

// As guarded(), for one transaction.
template <class Body>
auto attempted(std::string_view operation, Body&& body) {
    return guarded(operation, [&] { return contending(body); });
}

// As doorbuster::written(), with tries_max tries. Whoever opens the store anew after an unknown
// commit may look, but a look can come too early: a commit that waits for its standby is not to be seen
// yet. A conditional write on the same rows waits for it, and tells.
template <class Body>
auto transacted(std::optional<StoreError>& failure, std::string_view operation, Body&& body) {
    return doorbuster::written(failure, operation, [&] { return contending(body); });
}

}  // namespace doorbuster::pg
