// RedisFunnel: what the funnels of a cluster share through Redis: answered checks and strikes.
//
// On an event loop of its own, with connections of its own, so that a flood of answers to checks keeps no
// purchase waiting.
//
// A mark is a key that is set only if it is not there, and goes by itself. Redis away, full or late: the
// outcome is `unknown`, and whoever asked must refuse. A Redis that comes back empty has forgotten which
// checks were answered before; the same check then gives the same purchase, so nobody gains a unit.
//
// Bounds: `in_hand_max` marks from set to answer, each answered within the client's call_max; in Redis one
// key of some 100 bytes per mark, for its life.
//
// Thread safety: set, strikes().tell and the figures from any thread.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <thread>

#include "store/shared_marks.hpp"
#include "store_cluster/redis_strikes.hpp"

namespace doorbuster {

RedisCall set_mark_call(uint64_t mark, milliseconds life);
MarkOutcome read_mark(const redisReply&);

class RedisFunnel final : public SharedMarks {
public:
    struct Options {
        RedisClient::Options redis{.link = {}, .connections = 2, .calls_per_connection_max = 1'024};
        size_t in_hand_max = 2'048;
        RedisStrikes::Options strikes;
    };

    RedisFunnel(const Options&, RedisStrikes::Hooks);
    ~RedisFunnel();

    void start();
    // Answers all that were set, then ends the thread. From then on nothing is set; strikes are not told.
    void stop();

    [[nodiscard]] bool set(uint64_t mark, milliseconds life, Answered answered) override;
    StrikeFeed& strikes() { return strikes_; }

    struct Figures {
        uint64_t marks_unknown = 0;  // and so refused
        uint64_t strikes_told = 0, strikes_heard = 0, strikes_lost = 0;
    };
    Figures figures() const;

private:
    // On the loop.
    void send(uint64_t mark, milliseconds life, const Answered& answered);
    void answer(MarkOutcome, const Answered& answered);
    void end_if_idle();

    const Options options_;
    boost::asio::io_context loop_{1};
    const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        loop_.get_executor()};
    std::optional<RedisClient> redis_;  // goes before the strikes, whom it still tells so
    RedisStrikes strikes_;
    boost::asio::steady_timer timer_;

    // Any thread.
    std::atomic<bool> is_running_{false};
    std::atomic<size_t> in_hand_{0};
    std::atomic<uint64_t> unknown_total_{0};

    std::thread thread_;
};

}  // namespace doorbuster
