// RedisClient: a pool of long connections to one Redis, for one event loop.
//
// A call takes the connection with the fewest calls under way. A connection that ends is dialled
// again, after a wait that grows and is partly random, so that a Redis that comes back is not met
// by everybody at once. Nothing is ever sent twice: whoever wants to repeat a call decides that.
//
// Thread safety: none; everything happens on the loop's thread. It must be gone before the loop.
#pragma once

#include <random>
#include <vector>

#include "store_cluster/redis_link.hpp"

namespace doorbuster {

// What sends calls whose answers come later, on one loop: the one below, or a simulation's.
class RedisAsyncCalls {
public:
    virtual ~RedisAsyncCalls() = default;

    // `answered` is called once, later, if and only if this succeeds. Otherwise nothing was sent.
    [[nodiscard]] virtual RedisResult<void> call(const RedisCall&, RedisAnswered answered) = 0;
};

class RedisClient final : public RedisAsyncCalls, RedisLink::Listener {
public:
    struct Options {
        RedisLink::Options link;
        size_t connections = 10;
        size_t calls_per_connection_max = 64;
        std::chrono::milliseconds redial_min{10}, redial_max{1000};
        uint64_t seed = 0;  // of the jitter
    };

    RedisClient(boost::asio::io_context&, const Options&);
    ~RedisClient() override;  // those who wait hear `unreachable`, outcome unknown

    [[nodiscard]] RedisResult<void> call(const RedisCall&, RedisAnswered answered) override;

    size_t connections_up() const;

private:
    struct Place {
        std::shared_ptr<RedisLink> link;
        boost::asio::steady_timer redial;
        std::chrono::milliseconds wait_max;
    };

    void link_up(RedisLink&) override;
    void link_down(RedisLink&) override;
    void dial(Place&);
    Place& place_of(const RedisLink&);

    boost::asio::io_context& context_;
    const Options options_;
    std::vector<Place> places_;
    std::mt19937_64 random_;
};

}  // namespace doorbuster
