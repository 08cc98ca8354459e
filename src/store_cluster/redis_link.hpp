// RedisLink: one connection of a RedisClient, from the dialling to its end.
//
// hiredis' asynchronous client on an Asio loop. hiredis 0.14 knows no time, so every wait has a
// timer here: an answer that is late ends the connection, since all behind it would be late, too.
//
// Thread safety: none; everything happens on the loop's thread.
// REQUIRES: the process ignores SIGPIPE (server/stop_signal.hpp): hiredis writes to closed sockets.
#pragma once

#include <hiredis/async.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>

#include "store_cluster/redis_session.hpp"

namespace doorbuster {

// The reply is valid during the call only.
using RedisAnswered = std::function<void(const RedisResult<const redisReply*>&)>;

class RedisLink : public std::enable_shared_from_this<RedisLink> {
public:
    struct Options {
        RedisAddress address;
        std::chrono::milliseconds connect_max{1000}, call_max{500};
    };
    struct Listener {
        virtual ~Listener() = default;
        virtual void link_up(RedisLink&) = 0;
        virtual void link_down(RedisLink&) = 0;  // once; never from within open, send or end
    };

    // A host that is a name is looked up with every dialling, on a thread of Asio's: a name server that is
    // slow keeps nobody else on the loop waiting.
    static std::shared_ptr<RedisLink> open(boost::asio::io_context&, const Options&, Listener&);

    bool is_up() const { return is_up_; }
    size_t calls_under_way() const { return waiting_.size(); }

    // REQUIRES: is_up. `answered` is called once, never from within send.
    void send(const RedisCall&, RedisAnswered answered);

    // Those who wait hear `unreachable`; the listener hears nothing any more.
    void end();

private:
    using Timepoint = std::chrono::steady_clock::time_point;
    struct Waiting {
        RedisAnswered answered;
        Timepoint due;
    };

    RedisLink(boost::asio::io_context& context, const Options& options, Listener& listener);
    void dial();
    void look_up();
    void connect(const std::string& host);
    void greet();
    void write(const RedisCall&, RedisAnswered answered);
    void answer_first(redisReply*);
    void watch(Timepoint due);
    void close(RedisErrc why);
    void closed();

    // What hiredis asks of an event loop.
    void wait_to_read();
    void wait_to_write();

    boost::asio::io_context& context_;
    const Options options_;
    Listener* listener_;
    boost::asio::posix::stream_descriptor descriptor_;
    boost::asio::steady_timer timer_;
    boost::asio::ip::tcp::resolver resolver_;

    redisAsyncContext* redis_ = nullptr;  // hiredis frees it, and says so in `closed`
    std::shared_ptr<RedisLink> self_;     // as long as hiredis points here, or the host is looked up
    bool is_up_ = false, is_timed_ = false;
    bool wants_read_ = false, wants_write_ = false, waits_read_ = false, waits_write_ = false;
    RedisErrc why_closed_ = RedisErrc::unreachable;
    std::deque<Waiting> waiting_;  // in the order of their answers; bound: RedisClient's
};

}  // namespace doorbuster
