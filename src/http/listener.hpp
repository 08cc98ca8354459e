// Listener: a gate's own socket on the shared port, and when it accepts.
//
// Accepting pauses while there is no room for one more connection and none that is idle can make
// some, and for a moment when the process has run out of file descriptors: those that are open go on being
// served, and those that wait are held back by the kernel. Told to the log once a second at most.
//
// Thread safety: none.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/connections.hpp"

namespace doorbuster {

class Listener {
public:
    // Throws std::runtime_error with a sentence that says what to do.
    Listener(boost::asio::io_context& context, const std::string& listen);
    ~Listener();

    void start(Connections& connections);
    void room_again();  // a connection has gone, or could

    // Accepts those that the kernel has already let in, and no more.
    void stop();
    void close();

    uint16_t port() const { return endpoint_.port(); }

private:
    using Tcp = boost::asio::ip::tcp;

    void accept();
    void accept_when_asked();
    void pause(const boost::system::error_code& why);
    void tell_of_pause(std::string_view reason);

    Tcp::endpoint endpoint_;
    Tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_timer_;
    Connections* connections_ = nullptr;
    std::chrono::steady_clock::time_point tell_again_at_{};
    uint64_t pauses_untold_ = 0;
    bool is_accepting_ = false;  // an asynchronous accept or a pause is pending
};

}  // namespace doorbuster
