#include "http/listener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace doorbuster {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int backlog = 4096;  // the kernel may cap it
constexpr std::chrono::milliseconds accept_pause{100};
constexpr std::chrono::seconds told_every{1};

using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

[[noreturn]] void fail(const std::string& listen, std::string_view reason) {
    throw std::runtime_error(fmt::format("cannot listen on {}: {}", listen, reason));
}

// A literal address: what is bound must not depend on a resolver.
tcp::endpoint parse(const std::string& listen) {
    const size_t colon = listen.rfind(':');
    if (colon == std::string::npos) fail(listen, "write it as address:port, for example 127.0.0.1:8080");
    std::string host = listen.substr(0, colon);
    const std::string port_text = listen.substr(colon + 1);
    uint16_t port = 0;
    const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    if (error != std::errc{} || end != port_text.data() + port_text.size()) {
        fail(listen, "the port must be a number from 0 to 65535");
    }
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);

    boost::system::error_code unreadable;
    const auto address = asio::ip::make_address(host, unreadable);
    if (unreadable) fail(listen, "the host must be an IP address");
    return {address, port};
}

// Connections that the kernel has let in and nobody has accepted yet.
uint32_t waiting_at(int listening_socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(listening_socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
    return info.tcpi_unacked;  // of a listening socket: the length of its queue
}

// What the gates of this process listen on. They share a port by SO_REUSEPORT, and by the
// same token the kernel would let a second process share it: half of the buyers would
// reach the wrong one. So the first gate on a port makes sure that nobody else is there.
class Endpoints {
public:
    void claim(const tcp::endpoint& endpoint, const std::string& listen) {
        std::lock_guard lock(mutex_);
        if (endpoint.port() != 0 && std::find(ours_.begin(), ours_.end(), endpoint) == ours_.end()) {
            probe(endpoint, listen);
        }
    }
    void add(const tcp::endpoint& endpoint) {
        std::lock_guard lock(mutex_);
        ours_.push_back(endpoint);
    }
    void remove(const tcp::endpoint& endpoint) {
        std::lock_guard lock(mutex_);
        ours_.erase(std::find(ours_.begin(), ours_.end(), endpoint));
    }

private:
    static void probe(const tcp::endpoint& endpoint, const std::string& listen) {
        asio::io_context context;
        tcp::acceptor alone(context);
        boost::system::error_code error;
        alone.open(endpoint.protocol(), error);
        if (!error) alone.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) alone.bind(endpoint, error);
        if (error == asio::error::address_in_use) {
            fail(listen,
                 "the port is in use; stop what uses it, or choose others with --listen and --admin-listen");
        }
        if (error) fail(listen, error.message());
    }

    std::mutex mutex_;
    std::vector<tcp::endpoint> ours_;  // one entry per listener
};

Endpoints& endpoints() {
    static Endpoints shared;
    return shared;
}

}  // namespace

Listener::Listener(asio::io_context& context, const std::string& listen)
    : endpoint_(parse(listen)), acceptor_(context), pause_timer_(context) {
    endpoints().claim(endpoint_, listen);
    boost::system::error_code error;
    acceptor_.open(endpoint_.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.set_option(ReusePort(true), error);
    if (!error) acceptor_.set_option(tcp::no_delay(true), error);  // accepted sockets inherit it
    if (!error) acceptor_.bind(endpoint_, error);
    if (!error) acceptor_.listen(backlog, error);
    if (!error) acceptor_.non_blocking(true, error);
    if (error) fail(listen, error.message());
    endpoint_ = acceptor_.local_endpoint();
    endpoints().add(endpoint_);
}

Listener::~Listener() {
    endpoints().remove(endpoint_);
}

void Listener::start(Connections& connections) {
    connections_ = &connections;
    accept();
}

void Listener::room_again() {
    if (connections_ != nullptr && !is_accepting_ && acceptor_.is_open()) accept();
}

void Listener::accept() {
    if (!connections_->has_room()) return accept_when_asked();
    is_accepting_ = true;
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
        is_accepting_ = false;
        if (!acceptor_.is_open()) return;
        if (error) {
            pause(error);
            return;
        }
        connections_->add(std::move(socket));
        accept();
    });
}

// Nobody has to go before somebody has come.
void Listener::accept_when_asked() {
    is_accepting_ = true;
    acceptor_.async_wait(tcp::acceptor::wait_read, [this](const boost::system::error_code& error) {
        is_accepting_ = false;
        if (error || !acceptor_.is_open()) return;
        if (connections_->has_room()) return accept();
        if (connections_->make_room()) return;  // room_again, when it has gone
        connections_->count_accept_pause();
        tell_of_pause("server.connections_max is reached");
    });
}

void Listener::pause(const boost::system::error_code& why) {
    // A client that left between its connect and our accept is no reason to wait.
    if (why == asio::error::connection_aborted) {
        accept();
        return;
    }
    connections_->count_accept_pause();
    tell_of_pause(why.message());
    is_accepting_ = true;
    pause_timer_.expires_after(accept_pause);
    pause_timer_.async_wait([this](const boost::system::error_code& error) {
        is_accepting_ = false;
        if (!error && acceptor_.is_open()) accept();
    });
}

void Listener::tell_of_pause(std::string_view reason) {
    ++pauses_untold_;
    const auto now = std::chrono::steady_clock::now();
    if (now < tell_again_at_) return;
    tell_again_at_ = now + told_every;
    log_warn("accepting pauses", {{"port", port()},
                                  {"reason", reason},
                                  {"held_back", waiting_at(acceptor_.native_handle())},
                                  {"pauses", std::exchange(pauses_untold_, 0)}});
}

void Listener::stop() {
    if (!acceptor_.is_open()) return;
    boost::system::error_code error;
    while (connections_ != nullptr && connections_->has_room()) {
        tcp::socket socket = acceptor_.accept(error);
        if (error) break;
        connections_->add(std::move(socket));
    }
    close();
}

void Listener::close() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_timer_.cancel();
}

}  // namespace doorbuster
