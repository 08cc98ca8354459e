#include "store_cluster/redis_funnel.hpp"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/threads.hpp"

namespace doorbuster {

RedisCall set_mark_call(uint64_t mark, milliseconds life) {
    return {"SET", fmt::format("burned:{:016x}", mark), "1", "NX", "PX", std::to_string(life.count())};
}

MarkOutcome read_mark(const redisReply& reply) {
    if (reply.type == REDIS_REPLY_NIL) return MarkOutcome::again;
    const bool is_ok = reply.type == REDIS_REPLY_STATUS &&
                       std::string_view(reply.str, static_cast<size_t>(reply.len)) == "OK";
    return is_ok ? MarkOutcome::first : MarkOutcome::unknown;
}

RedisFunnel::RedisFunnel(const Options& options, RedisStrikes::Hooks hooks)
    : options_(options),
      redis_(std::in_place, loop_, options_.redis),
      strikes_(loop_, *redis_, options_.strikes, std::move(hooks)),
      timer_(loop_) {}

RedisFunnel::~RedisFunnel() {
    CHECK(!thread_.joinable());
    redis_.reset();
}

void RedisFunnel::start() {
    is_running_ = true;
    strikes_.start();
    thread_ = std::thread([this] {
        set_thread_up("funnel", -1);
        loop_.run();
    });
}

void RedisFunnel::stop() {
    if (!is_running_.exchange(false)) return;
    boost::asio::post(loop_, [this] {
        strikes_.stop();
        end_if_idle();
    });
    thread_.join();
    redis_.reset();  // behind the loop's last turn: a timer of its own may have been due in it
}

// Those in hand are answered within the client's bounds.
void RedisFunnel::end_if_idle() {
    constexpr milliseconds look_again{2};
    if (in_hand_ == 0) return loop_.stop();
    timer_.expires_after(look_again);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) end_if_idle();
    });
}

bool RedisFunnel::set(uint64_t mark, milliseconds life, Answered answered) {
    CHECK(life >= milliseconds(1));
    if (in_hand_.fetch_add(1) >= options_.in_hand_max) {
        --in_hand_;
        return false;
    }
    // Seen by end_if_idle from here on: it waits for this one, or this one sees the stop.
    if (!is_running_.load()) {
        --in_hand_;
        return false;
    }
    boost::asio::post(loop_,
                      [this, mark, life, answered = std::move(answered)]() { send(mark, life, answered); });
    return true;
}

void RedisFunnel::send(uint64_t mark, milliseconds life, const Answered& answered) {
    const auto sent = redis_->call(set_mark_call(mark, life),
                                   [this, answered](const RedisResult<const redisReply*>& reply) {
                                       answer(reply ? read_mark(**reply) : MarkOutcome::unknown, answered);
                                   });
    if (!sent) answer(MarkOutcome::unknown, answered);
}

void RedisFunnel::answer(MarkOutcome outcome, const Answered& answered) {
    if (outcome == MarkOutcome::unknown) unknown_total_.fetch_add(1, std::memory_order_relaxed);
    --in_hand_;
    answered(outcome);
}

RedisFunnel::Figures RedisFunnel::figures() const {
    return {.marks_unknown = unknown_total_.load(std::memory_order_relaxed),
            .strikes_told = strikes_.told_total(),
            .strikes_heard = strikes_.heard_total(),
            .strikes_lost = strikes_.lost_total()};
}

}  // namespace doorbuster
