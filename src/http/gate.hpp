// Gate: one thread of the HTTP front.
//
// Each gate thread has its own event loop, its own listening socket on the shared port
// (SO_REUSEPORT) and its own connections; gates share nothing but what they are handed.
// It never blocks. One request per connection is in hand at a time: pipelined ones wait
// in the connection's buffer, so answers leave in order and a flood is bounded.
//
// Thread safety: post and deliver from any thread; the rest before start or on its thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "funnel/overload.hpp"
#include "http/exchange.hpp"
#include "store/purchase_desk.hpp"

namespace doorbuster {

// What answers the requests of a listener. One per gate thread, so that it may keep
// state of its own without locks. Called on the gate's thread.
class Handler {
public:
    virtual ~Handler() = default;
    virtual void handle(Exchange&) = 0;

    // The book's answer to a purchase that `handle` submitted for this exchange.
    virtual void purchase_decided(Exchange&, const PurchaseReply&) = 0;

    // A few times a second, for what is due.
    virtual void tick() {}
};

struct GateOptions {
    std::string listen = "127.0.0.1:8080";  // address:port; [::1]:port for IPv6; port 0 picks one
    size_t body_bytes_max = 16 * 1024;
    size_t header_bytes_max = 16 * 1024;
    size_t header_fields_max = 100;
    size_t connections_max = 10'000;
    milliseconds header_deadline{10'000}, body_deadline{10'000}, write_deadline{10'000},
        idle_deadline{60'000};
    int cpu = -1;  // core to pin the thread to
};

struct GateFigures {  // single writer each; read by the metrics
    uint64_t connections_open = 0, connections_total = 0, requests_total = 0, deadline_closed_total = 0,
             malformed_total = 0, accept_pauses_total = 0, idle_closed_total = 0;
};

class Gate final : public ReplySink {
public:
    // Binds at once, so that a port in use is told before anything starts.
    // Throws std::runtime_error with a sentence that says what to do.
    Gate(uint16_t index, const GateOptions& options);
    ~Gate() override;

    void set_handler(Handler& handler);  // before start
    void start();

    uint16_t index() const;  // its place among the ReplySinks
    uint16_t port() const;   // as bound
    size_t connections_max() const;

    // For connections made from now on; where it listens, its core and how many there may be stay.
    // From any thread.
    void set_options(const GateOptions& options);

    void post(std::function<void()> task);  // runs on the gate's thread, in order
    void deliver(std::span<const PurchaseReply>) override;

    // Stops accepting, closes idle connections and streams, lets requests in hand be answered
    // (with Connection: close). `drained` is called on the gate's thread when none is left.
    void drain(std::function<void()> drained);

    // Ends the thread; what is open is closed. REQUIRES: no exchange waits for an answer
    // from another thread any more.
    void stop();

    GateFigures figures() const;

    // How long work waits for this gate's thread.
    DelaySensor& delay_sensor();

private:
    struct State;
    const std::unique_ptr<State> state_;
};

}  // namespace doorbuster
