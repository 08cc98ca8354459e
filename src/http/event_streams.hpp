// EventStreams: the event streams of one gate thread, each following one purchase.
//
// An event is a snapshot, all that there is to say of the purchase at that moment, so a
// stream needs no history: it looks the purchase up, and sends what it finds if that is newer
// than what the client has. It looks when it opens, when it is told of a change, and at each
// heartbeat, so that a change nobody told of is seen late and never missed. Changes that fall
// together are one event, and a client that comes back misses nothing but what was overtaken.
//
// A stream is in the table before its first look, so no change slips in between the look and
// being told of changes. At most looks_max look-ups are under way, so that a crowd of streams
// does not take the look-ups away from those who ask; further streams wait their turn.
//
// Thread safety: its gate's thread, but for is_empty().
// Invariants:
//   1. every stream in the table has its place in the room, and gives it back when it goes
//   2. a stream is under way, queued or neither, never twice: both lists are bounded by the table
#pragma once

#include <boost/unordered/unordered_map.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "funnel/dice.hpp"
#include "http/exchange.hpp"
#include "http/purchase_snapshot.hpp"
#include "http/stream_room.hpp"
#include "metrics/probe.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

class EventStreams final : public StreamOwner {
public:
    static constexpr size_t looks_max = 64;
    static constexpr Uptime scan_every = std::chrono::milliseconds(500);

    struct Options {
        Uptime stream_max = std::chrono::seconds(900);
        Uptime heartbeat = std::chrono::seconds(15);
        size_t streams_max = 5000;  // of this gate: the others of its connections are the crowd's
        uint64_t seed = 0;          // of the jitter
    };
    struct Subject {
        PurchaseId purchase;
        BuyerId buyer;
    };
    // Starts a look-up, whose outcome comes back to looked(). False if there is no room for it.
    using Look = std::function<bool(uint64_t stream, const Subject&)>;

    EventStreams(const Options& options, StreamRoom& room, Probe& probe, Look look);

    // Answers the exchange with a stream, once the purchase is found. False if there is no
    // room for one; then the exchange is still to be answered.
    [[nodiscard]] bool open(Exchange&, const Subject&, std::optional<uint64_t> last_seen, Uptime now);

    void looked(uint64_t stream, const LookedUp&);
    void purchases_changed(std::span<const PurchaseId>);
    void anything_changed();
    void tick(Uptime now);  // heartbeats, and the end of long streams

    void stream_ended(uint64_t stream) override;

    // From any thread: nobody here wants to know.
    bool is_empty() const { return count_.load() == 0; }

private:
    struct Stream {
        Exchange* exchange;
        Subject subject;
        std::optional<uint64_t> seen;  // the version that the client has
        bool is_open = false;          // its head has been sent
        bool is_looking = false;       // a look-up is under way
        bool is_queued = false;        // it waits for one
        bool looks_again = false;      // what is under way may have read too early
        Uptime heartbeat_at{}, close_at{};
    };
    void want_look(uint64_t number, Stream&);
    void start_looks();
    void begin(uint64_t number, Stream&, const PurchaseSnapshot&);
    void go_on(uint64_t number, Stream&, const LookedUp&);
    void refuse(uint64_t number, const Stream&, const Problem&);
    void end(uint64_t number, const Stream&);
    void remove(uint64_t number);
    Uptime jittered(Uptime at_most, double least);

    const Options options_;
    StreamRoom& room_;
    Probe& probe_;
    const Look look_;
    Dice dice_;

    boost::unordered_map<uint64_t, Stream> streams_;  // by number; bound: streams_max
    boost::unordered_multimap<PurchaseId, uint64_t, SeededHash> by_purchase_;
    std::deque<uint64_t> queue_;  // waiting for a look-up
    size_t looks_ = 0;            // under way, also for streams that have gone
    uint64_t last_number_ = 0;
    Uptime scan_at_{};
    std::atomic<size_t> count_{0};  // streams in the table
};

}  // namespace doorbuster
