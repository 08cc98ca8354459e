// One process of several that share a Redis, as its funnel has it; what it hears is kept.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "store_cluster/redis_funnel.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster::testing {

struct SharingTerms {
    milliseconds call_max = redis_wait_max;
    size_t in_hand_max = 2'048;
    milliseconds remembered_max = 20min;
};

class SharingGate {
public:
    static constexpr size_t connections = 2;
    SharingGate(const RedisServer& server, const std::string& name, const SharingTerms& terms = {})
        : funnel({.redis = {.link = {.address = server.address(),
                                     .connect_max = redis_wait_max,
                                     .call_max = terms.call_max},
                            .connections = connections,
                            .calls_per_connection_max = 1'024},
                  .in_hand_max = terms.in_hand_max,
                  .strikes = {.origin = name, .every = 5ms}},
                 {.heard =
                      [this](const BuyerId& buyer, Strike kind, milliseconds age) {
                          std::lock_guard lock(mutex_);
                          heard_.push_back({.origin = {}, .buyer = buyer, .kind = kind, .age = age});
                          changed_.notify_all();
                      },
                  .remembered_max = [remembered = terms.remembered_max] { return remembered; }}) {
        funnel.start();
    }
    ~SharingGate() { funnel.stop(); }

    // Asks, without waiting for the answer; false: no room.
    bool ask(uint64_t mark, milliseconds life = 5min) {
        return funnel.set(mark, life, [this](MarkOutcome outcome) {
            std::lock_guard lock(mutex_);
            outcomes_.push_back(outcome);
            changed_.notify_all();
        });
    }
    MarkOutcome set(uint64_t mark, milliseconds life = 5min) {
        const size_t before = outcomes(0).size();
        EXPECT_TRUE(ask(mark, life));
        return outcomes(before + 1).back();
    }
    // The connections are made in their own time, and made anew after a fall.
    void connect() {
        static std::atomic<uint64_t> next{1ull << 60};
        for (const Patience patience; set(++next) == MarkOutcome::unknown;)
            patience.check("no connection to Redis");
    }

    // Until no connection to a Redis that is gone looks as if it were there: a mark that meets one ends it.
    void notice_gone() {
        for (size_t i = 0; i < connections; ++i) EXPECT_EQ(set(i), MarkOutcome::unknown);
    }

    // When there are as many.
    std::vector<MarkOutcome> outcomes(size_t count) {
        return awaited(outcomes_, count, "a mark is not answered");
    }
    std::vector<ToldStrike> heard(size_t count) { return awaited(heard_, count, "a strike is not heard"); }

private:
    template <class T>
    std::vector<T> awaited(const std::vector<T>& what, size_t count, const char* why) {
        std::unique_lock lock(mutex_);
        for (const Patience patience; what.size() < count; patience.check(why))
            changed_.wait_until(lock, patience.until());
        return what;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<MarkOutcome> outcomes_;
    std::vector<ToldStrike> heard_;

public:
    RedisFunnel funnel;
};

}  // namespace doorbuster::testing
