// Listener: a gate's own socket on the shared port, and when it accepts.
//
// Accepting pauses while there is no room for one more connection and none that is idle can make
// some, and for a moment when the process has run out of file descriptors: those that are open go on being
// served, and those that wait are held back by the kernel. Told to the log once a second at most.
//
// Thread safety: none.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "http/connections.hpp"
#include "http/event_loop.hpp"

namespace doorbuster {

class Listener final : public EventLoop::Watcher {
public:
    // Throws std::runtime_error with a sentence that says what to do.
    Listener(EventLoop& loop, const std::string& listen);
    ~Listener();

    void start(Connections& connections);
    void ready(EventLoop::Readiness) override;
    void room_again();  // a connection has gone, or could

    // Accepts those that the kernel has already let in, and no more.
    void stop();
    void close();

    uint16_t port() const { return endpoint_.port(); }

private:
    void accept();
    bool make_room();
    bool accept_one();  // false, with errno
    void pause(int why);
    void tell_of_pause(std::string_view reason);

    EventLoop& loop_;
    boost::asio::ip::tcp::endpoint endpoint_;
    Descriptor socket_;
    EventLoop::Timer pause_timer_;
    Connections* connections_ = nullptr;
    std::chrono::steady_clock::time_point tell_again_at_{};
    uint64_t pauses_untold_ = 0;
    bool has_waiting_ = false;  // somebody may wait: no accept has found nobody since the last one came
    bool is_pausing_ = false;
    bool waits_for_room_ = false;  // and has said so
};

}  // namespace doorbuster
