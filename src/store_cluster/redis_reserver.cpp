#include "store_cluster/redis_reserver.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace doorbuster {

struct RedisReserver::State : std::enable_shared_from_this<State> {
    struct Waiting {
        ReserveEntry entry;
        Answered answered;
    };

    State(boost::asio::io_context& own_context, RedisAsyncCalls& own_client, const BookBucket& own_bucket,
          CurrentFence own_fence)
        : context(own_context), client(own_client), bucket(own_bucket), fence(std::move(own_fence)) {}

    void leave_soon();
    void leave();
    void arrived(const std::vector<Answered>& asked, const Fence& under,
                 const RedisResult<const redisReply*>& reply);

    boost::asio::io_context& context;
    RedisAsyncCalls& client;
    const BookBucket bucket;
    const CurrentFence fence;
    std::deque<Waiting> waiting;  // bound: waiting_max
    bool is_leaving = false;      // a call is under way, or about to leave
};

RedisReserver::RedisReserver(boost::asio::io_context& context, RedisAsyncCalls& client,
                             const BookBucket& bucket, CurrentFence fence)
    : state_(std::make_shared<State>(context, client, bucket, std::move(fence))) {}

RedisReserver::~RedisReserver() {
    for (const auto& one : std::exchange(state_->waiting, {}))
        one.answered(RedisError{RedisErrc::unreachable, "stopped before it was sent"}, {});
}

RedisResult<void> RedisReserver::reserve(const ReserveEntry& entry, Answered answered) {
    if (state_->waiting.size() >= waiting_max)
        return RedisError{RedisErrc::busy, "too many purchases wait for Redis"};
    state_->waiting.push_back({entry, std::move(answered)});
    if (!state_->is_leaving) state_->leave_soon();
    return {};
}

// Behind what the loop has in hand: the other requests that came with this one join it.
void RedisReserver::State::leave_soon() {
    is_leaving = true;
    boost::asio::post(context, [self = shared_from_this()] { self->leave(); });
}

void RedisReserver::State::leave() {
    const size_t count = std::min(waiting.size(), entries_per_call_max);
    is_leaving = count > 0;
    if (!is_leaving) return;  // stopped meanwhile
    std::vector<ReserveEntry> entries;
    std::vector<Answered> asked;
    entries.reserve(count);
    asked.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        entries.push_back(waiting.front().entry);
        asked.push_back(std::move(waiting.front().answered));
        waiting.pop_front();
    }
    const auto under = fence();
    if (!under)
        return arrived(asked, {}, RedisError{RedisErrc::unreachable, "the lease is over: it was not sent"});
    const auto shared = std::make_shared<std::vector<Answered>>(std::move(asked));
    const auto sent = client.call(reserve_call(bucket, *under, entries),
                                  [self = shared_from_this(), shared, under](const auto& reply) {
                                      self->arrived(*shared, *under, reply);
                                  });
    if (!sent) arrived(*shared, *under, sent.error());
}

void RedisReserver::State::arrived(const std::vector<Answered>& asked, const Fence& under,
                                   const RedisResult<const redisReply*>& reply) {
    const auto verdicts = reply ? read_reserve(**reply, asked.size())
                                : RedisResult<std::vector<std::optional<ReserveVerdict>>>(reply.error());
    // The next call leaves before the answers are dealt with: Redis works meanwhile.
    is_leaving = !waiting.empty();
    if (is_leaving) leave();
    for (size_t i = 0; i < asked.size(); ++i) {
        if (!verdicts) {
            asked[i](verdicts.error(), under);
        } else if (const auto& verdict = (*verdicts)[i]) {
            asked[i](*verdict, under);
        } else {
            asked[i](RedisError{RedisErrc::refused, "the outbox could not be written"}, under);
        }
    }
}

}  // namespace doorbuster
