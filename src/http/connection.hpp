// Connection: one client's socket, the request in hand, and the answers on their way.
//
// Bytes are read into a buffer of fixed size and stay where they are while a request is
// in hand, so the request's views need no copies. One request is in hand at a time;
// nothing is read meanwhile, so a pipelining flood waits in the kernel. Answers gather
// in the output and leave with one write when no further request can be taken up.
//
// Deadlines are coarse: the gate's tick looks at `deadline_`; no timer per request. Until its
// first request has come a connection has no longer than that request's header: only who has
// asked before may stay and be silent. Where there is no room for a newcomer, one whose client has to move
// next may have to go for it.
//
// A stream is the last answer of its connection. What its client sends meanwhile is read
// over, one buffer at most per piece sent: the end of it tells that the client has gone.
//
// Thread safety: none; it lives on its gate's thread.
// Invariants:
//   1. an exchange in hand is answered exactly once, and the connection outlives it
//   2. it is destroyed only when done()
#pragma once

#include <boost/intrusive/list_hook.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "http/chunked.hpp"
#include "http/event_loop.hpp"
#include "http/exchange.hpp"
#include "http/parser.hpp"

namespace doorbuster {

class Connections;
struct Framing;
struct GateOptions;

// How a client keeps its connection waiting, whoever goes first for a newcomer first.
enum class Keeping : uint8_t {
    answered,    // it has its last answer, and does not close
    silent,      // no byte of a request so far
    idle,        // between two requests: its client only has to connect again
    unfinished,  // part of a request, perhaps of a purchase
    unread,      // an answer that it does not take
};
constexpr size_t keepings = 5;

class Connection final : public Exchange, public EventLoop::Watcher {
public:
    using Time = std::chrono::steady_clock::time_point;

    // `socket` does not block.
    Connection(Connections& home, Descriptor socket, const Address& peer);

    // Waits for the first request. False, with errno, if the kernel has no room for one more.
    [[nodiscard]] bool begin();
    void ready(EventLoop::Readiness) override;
    void resume();        // goes on after an answer that came late
    void tick(Time now);  // closes if a deadline has passed
    void begin_drain();   // closes if nothing but a stream is under way
    bool give_way();      // closes, unless its request, or the rest of it, is here already

    bool lingers() const { return waiting_ == Waiting::linger; }

    const Request& request() const override { return head_.request; }
    Language language() const override;
    Gate& gate() override;
    void add_headers(std::string_view lines) override { added_headers_ = lines; }
    void answer(const Response&) override;
    const Address& peer() const override { return peer_; }
    void refuse(Code) override;
    void refuse(Code, std::string_view headers) override;
    void refuse(const Problem&) override;
    void refuse(const PreparedRefusal&, const PurchaseId& named) override;
    bool begin_stream(const Response& head, StreamOwner& owner, uint64_t stream) override;
    void send_piece(std::string_view piece) override;
    bool lags() const override { return writing_; }
    void end_stream() override;

    // Its gate's connections' to set.
    size_t index = 0;  // its place among them
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
        keeping_hook;
    Time keeping_since{};

private:
    // Whom it waits for, and so which deadline holds.
    enum class Waiting : uint8_t { idle, head, body, answer, stream, write, linger };

    // The client's bytes become requests.
    void receive();
    void await_bytes();
    void read();
    void received(size_t bytes);
    bool take_request();
    bool take_head();
    bool take_body();
    void move_to_front();
    void reject(Code code);

    // Answers become the client's bytes.
    void take_up_answer();
    Framing framing() const;
    void answered();
    void proceed_later();
    void proceed();
    bool handle_requests();
    bool take_waiting_piece();
    bool flush();
    void wait_until_writable();

    void wait_for(Waiting waiting);
    void attend_stream();
    void drain_stream();
    void forsake_stream();
    void read_over();
    void linger();
    void close();
    void close_at_once();
    void settle();  // the last act of every entry point: `this` may be gone after it
    bool done() const;
    bool has_unread();
    void read_unread();

    Connections& home_;
    Descriptor socket_;
    const Address peer_;
    const std::shared_ptr<const GateOptions> options_;  // as they were when it came

    // Input: [begin_, end_) holds what no answer has used up yet.
    const size_t capacity_;
    const std::unique_ptr<char[]> buffer_;
    size_t begin_ = 0, end_ = 0;

    // The request at begin_, as far as it is known.
    HeadScan scan_;
    Head head_;
    ChunkDecoder chunks_;
    size_t request_end_ = 0;
    bool has_head_ = false;
    bool sent_continue_ = false;
    bool was_spared_ = false;    // it had to give way, but more of the request was here
    std::string added_headers_;  // of the answer that it will get

    // Output: bytes before written_ have gone.
    std::string out_;
    size_t written_ = 0;

    // The stream that the last answer is, while it goes on.
    StreamOwner* stream_owner_ = nullptr;
    uint64_t stream_ = 0;
    std::string waiting_piece_;  // goes out when the output is empty

    Waiting waiting_ = Waiting::idle;
    Time deadline_ = Time::max();

    bool has_asked_ = false;  // at least one request has come
    bool in_hand_ = false;    // a request waits for its answer
    bool handling_ = false;   // inside the handler: proceed() goes on afterwards
    bool resuming_ = false;   // in the gate's list of connections to resume
    bool closing_ = false;    // the last answer is in the output
    bool reading_ = false;    // what comes next is read at once
    bool writing_ = false;    // waits for room in the kernel
    bool readable_ = false;   // something has come since the last read found nothing more
    bool ended_ = false;      // the client sends no more: only a read that finds nothing is the last
    bool closed_ = false;
};

}  // namespace doorbuster
