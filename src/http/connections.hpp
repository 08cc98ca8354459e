// Connections: all that one gate thread has open, and what they share.
//
// Thread safety: none, but for figures().
#pragma once

#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "http/connection.hpp"
#include "http/event_loop.hpp"
#include "http/gate.hpp"
#include "http/response.hpp"
#include "metrics/counter.hpp"

namespace doorbuster {

class Connections {
public:
    static constexpr std::chrono::milliseconds tick_every{250};

    // `on_room` is called when a connection has gone.
    Connections(Gate& gate, EventLoop& loop, const GateOptions& options, std::function<void()> on_room);

    void set_handler(Handler& handler) { handler_ = &handler; }
    // False, with errno, if the kernel has no room for one more.
    [[nodiscard]] bool add(Descriptor socket, const Address& peer);
    void tick(Connection::Time now);  // every tick_every: deadlines and the Date

    // No new requests: idle connections close, the others after their answer. `drained`
    // is posted when only those remain that have got their answers.
    void drain(std::function<void()> drained);
    void clear() { open_.clear(); }

    // Answers that are given inside `work` leave together after it.
    template <class Work>
    void gather(Work&& work);

    bool has_room() const { return open_.size() < options_->connections_max; }
    // For a newcomer a connection goes whose client has kept us waiting longest, of the first kind that has
    // one. False if we owe all of them something, or they moved a moment ago.
    bool make_room();

    // For connections made from now on; `connections_max` stays.
    void set_options(GateOptions options);

    GateFigures figures() const;
    void count_accept_pause() { accept_pauses_.add(); }

    // For a connection.
    Gate& gate() { return gate_; }
    EventLoop& loop() { return loop_; }
    Handler& handler() { return *handler_; }
    const std::shared_ptr<const GateOptions>& options() const { return options_; }
    const DateLine& date() const { return date_; }
    bool is_draining() const { return is_draining_; }
    uint32_t retry_after_s() const { return 1 + retry_turn_++ % retry_after_s_max; }
    // No earlier than asked, at most two ticks later.
    Connection::Time deadline_in(milliseconds wait) const { return now_ + wait + tick_every; }
    void keeps_waiting(Connection& connection, Keeping how);
    void resume_later(Connection& connection);
    void lingering(Connection& connection);
    void remove(Connection& connection);
    void count_request() { requests_.add(); }
    void count_malformed() { malformed_.add(); }
    void count_deadline_closed() { deadline_closed_.add(); }

private:
    void resume_all();
    void announce_drained();
    Connection* first_to_go();

    Gate& gate_;
    EventLoop& loop_;
    std::shared_ptr<const GateOptions> options_;
    const std::function<void()> on_room_;
    Handler* handler_ = nullptr;

    // Those whose client has to move next, by how it keeps us waiting; the longest first. Above `open_`: a
    // connection that goes takes itself out.
    using KeepingList =
        boost::intrusive::list<Connection,
                               boost::intrusive::member_hook<Connection, decltype(Connection::keeping_hook),
                                                             &Connection::keeping_hook>,
                               boost::intrusive::constant_time_size<false>>;
    std::array<KeepingList, keepings> keeping_;

    std::vector<std::unique_ptr<Connection>> open_;  // bound: connections_max
    std::vector<Connection*> to_resume_;             // bound: as many
    std::vector<Connection*> resuming_;
    bool is_gathering_ = false;

    size_t lingering_ = 0;
    bool is_draining_ = false;
    std::function<void()> drained_;

    Connection::Time now_;
    DateLine date_;
    mutable uint32_t retry_turn_ = 0;  // clients that were refused together come back apart

    Counter opened_, closed_, requests_, deadline_closed_, malformed_, accept_pauses_, idle_closed_;
};

template <class Work>
void Connections::gather(Work&& work) {
    is_gathering_ = true;
    work();
    is_gathering_ = false;
    resume_all();
}

}  // namespace doorbuster
