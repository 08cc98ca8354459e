// RedisStrikes: the strikes that the gates of a cluster tell each other, through one stream in Redis.
//
// A few times a second each process adds what was given here and reads what the others have added, so
// a strike counts everywhere well within a second. A process that starts reads what is young enough not
// to be forgotten yet; so does one that could not reach Redis for a while.
//
// Redis away: strikes count where they were given; up to `waiting_max` of them wait to be told, each with
// how long it has waited, the rest is lost to the others (lost_total). Nothing is sent twice: a strike
// that others never hear of is better than one that counts double.
//
// Bounded in Redis: strikes_kept_max entries of at most some 250 bytes. A crowd that is struck faster than
// that is remembered by those who were there.
//
// A Redis that takes another's place with a clock behind it gives ids that look old: what is told
// until its clock has caught up is not heard.
//
// Thread safety: tell and the totals from any thread; the rest on the loop's thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "store/strike_feed.hpp"
#include "store_cluster/redis_client.hpp"

namespace doorbuster {

constexpr size_t strikes_kept_max = 65'536;
constexpr size_t strikes_per_read_max = 1'000;

struct ToldStrike {
    std::string origin;  // the process that gave it
    BuyerId buyer;
    Strike kind = Strike::failed_check;
    milliseconds age{0};  // when it is told; when it is read, from then on
};

RedisCall tell_strike_call(const ToldStrike&);
RedisCall read_strikes_call(const std::string& after);

struct ReadStrikes {
    std::vector<ToldStrike> strikes;
    size_t entries = 0;
    std::string last_id;  // empty: none came
};
// What is no strike that this program knows is passed over.
RedisResult<ReadStrikes> read_strikes(const redisReply&, Instant redis_now);

class RedisStrikes final : public StrikeFeed {
public:
    static constexpr size_t waiting_max = 4'096;
    static constexpr size_t told_per_turn_max = 512;

    struct Options {
        std::string origin;  // unlike any other process'
        milliseconds every{200};
    };
    struct Hooks {  // on the loop's thread
        // One that another process gave, so long ago.
        std::function<void(const BuyerId&, Strike, milliseconds age)> heard;
        // A strike that is older is surely forgotten.
        std::function<milliseconds()> remembered_max;
    };

    RedisStrikes(boost::asio::io_context&, RedisClient&, const Options&, Hooks);

    void start();
    void stop();  // REQUIRES: what is under way is answered, or the client gone, before this is

    void tell(const BuyerId&, Strike) override;

    uint64_t told_total() const { return told_total_.load(std::memory_order_relaxed); }
    uint64_t lost_total() const { return lost_total_.load(std::memory_order_relaxed); }
    uint64_t heard_total() const { return heard_total_.load(std::memory_order_relaxed); }

private:
    struct Waiting {
        BuyerId buyer;
        Strike kind = Strike::failed_check;
        std::chrono::steady_clock::time_point since{};
    };

    void turn();
    void tell_others();
    void ask_time();
    void read(Instant redis_now);
    void take(const ReadStrikes&, Instant redis_now);
    void lost() { lost_total_.fetch_add(1, std::memory_order_relaxed); }

    RedisClient& redis_;
    const Options options_;
    const Hooks hooks_;
    boost::asio::steady_timer timer_;

    // Any thread.
    BoundedQueue<Waiting> waiting_{waiting_max};
    std::atomic<uint64_t> told_total_{0}, lost_total_{0}, heard_total_{0};

    // The loop's.
    std::optional<Waiting> next_;  // taken from those that wait, not told yet
    std::string last_id_;          // empty: nothing was read yet
    bool is_reading_ = false;
};

}  // namespace doorbuster
