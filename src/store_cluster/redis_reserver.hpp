// RedisReserver: purchases of one item bucket that arrive together travel together.
//
// One call is under way at a time. What arrives meanwhile gathers and leaves with the next one, so
// an idle shop waits for nobody, and the busier it is the more purchases share one call.
//
// Thread safety: none; everything happens on the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "store_cluster/redis_client.hpp"

namespace doorbuster {

class RedisReserver {
public:
    // What the lease names; asked when a call leaves, for all that it carries. None: it does not leave, and
    // they hear `unreachable`.
    using CurrentFence = std::function<std::optional<Fence>()>;
    // `under`: the fence that its call went with.
    using Answered = std::function<void(const RedisResult<ReserveVerdict>&, const Fence& under)>;
    static constexpr size_t waiting_max = 4096;

    RedisReserver(boost::asio::io_context&, RedisAsyncCalls&, const BookBucket&, CurrentFence);
    ~RedisReserver();  // those who have not been sent hear `unreachable`; the others, their answer

    // `answered` is called once, later, if and only if this succeeds. Otherwise nothing was sent.
    [[nodiscard]] RedisResult<void> reserve(const ReserveEntry&, Answered answered);

private:
    struct State;
    const std::shared_ptr<State> state_;
};

}  // namespace doorbuster
