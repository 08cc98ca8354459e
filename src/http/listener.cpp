#include "http/listener.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <system_error>
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

constexpr int accepts_a_turn_max = 64;  // then those that are open have theirs

[[noreturn]] void fail(const std::string& listen, std::string_view reason) {
    throw std::runtime_error(fmt::format("cannot listen on {}: {}", listen, reason));
}

std::string why_of(int error) {
    return std::generic_category().message(error);
}

Descriptor socket_for(const tcp::endpoint& endpoint) {
    return Descriptor(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool set(const Descriptor& socket, int level, int option) {
    const int on = 1;
    return ::setsockopt(socket.number(), level, option, &on, sizeof on) == 0;
}

Address address_of(const tcp::endpoint& from) {
    if (from.address().is_v4()) return Address::v4(from.address().to_v4().to_bytes());
    return Address::v6(from.address().to_v6().to_bytes());
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
        const Descriptor alone = socket_for(endpoint);
        if (alone.is_open() && set(alone, SOL_SOCKET, SO_REUSEADDR) &&
            ::bind(alone.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) {
            return;
        }
        if (errno == EADDRINUSE) {
            fail(listen,
                 "the port is in use; stop what uses it, or choose others with --listen and --admin-listen");
        }
        fail(listen, why_of(errno));
    }

    std::mutex mutex_;
    std::vector<tcp::endpoint> ours_;  // one entry per listener
};

Endpoints& endpoints() {
    static Endpoints shared;
    return shared;
}

}  // namespace

Listener::Listener(EventLoop& loop, const std::string& listen)
    : loop_(loop), endpoint_(parse(listen)), pause_timer_(loop) {
    endpoints().claim(endpoint_, listen);
    socket_ = socket_for(endpoint_);
    // Accepted sockets inherit that small answers leave at once.
    if (!socket_.is_open() || !set(socket_, SOL_SOCKET, SO_REUSEADDR) ||
        !set(socket_, SOL_SOCKET, SO_REUSEPORT) || !set(socket_, IPPROTO_TCP, TCP_NODELAY) ||
        ::bind(socket_.number(), endpoint_.data(), static_cast<socklen_t>(endpoint_.size())) != 0 ||
        ::listen(socket_.number(), backlog) != 0) {
        fail(listen, why_of(errno));
    }
    auto size = static_cast<socklen_t>(endpoint_.capacity());
    if (::getsockname(socket_.number(), endpoint_.data(), &size) != 0) fail(listen, why_of(errno));
    endpoint_.resize(size);
    endpoints().add(endpoint_);
}

Listener::~Listener() {
    endpoints().remove(endpoint_);
}

void Listener::start(Connections& connections) {
    connections_ = &connections;
    if (!loop_.watch(socket_, *this)) {
        // Without it nobody would ever be let in, and nothing would say so.
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
}

void Listener::ready(EventLoop::Readiness) {
    has_waiting_ = true;
    accept();
}

// In the loop's next turn: whoever goes is in the middle of it.
void Listener::room_again() {
    if (has_waiting_ && !is_pausing_ && socket_.is_open()) loop_.again(*this);
}

void Listener::accept() {
    for (int i = 0; i < accepts_a_turn_max && has_waiting_; ++i) {
        if (is_pausing_ || !socket_.is_open()) return;
        if (!connections_->has_room() && !make_room()) return;
        if (accept_one()) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            has_waiting_ = false;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            // A client that left between its connect and our accept is no reason to wait.
            pause(errno);
        }
    }
    if (has_waiting_ && !is_pausing_) loop_.again(*this);
}

// Nobody has to go before somebody has come.
bool Listener::make_room() {
    pollfd asked{.fd = socket_.number(), .events = POLLIN, .revents = 0};
    if (::poll(&asked, 1, 0) == 0) {
        has_waiting_ = false;
        return false;
    }
    if (connections_->make_room()) return connections_->has_room();
    if (std::exchange(waits_for_room_, true)) return false;
    connections_->count_accept_pause();
    tell_of_pause("server.connections_max is reached");
    return false;
}

bool Listener::accept_one() {
    tcp::endpoint from;
    auto size = static_cast<socklen_t>(from.capacity());
    Descriptor accepted(::accept4(socket_.number(), from.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted.is_open()) return false;
    waits_for_room_ = false;
    from.resize(size);
    return connections_->add(std::move(accepted), address_of(from));
}

void Listener::pause(int why) {
    connections_->count_accept_pause();
    tell_of_pause(why_of(why));
    is_pausing_ = true;
    pause_timer_.set(std::chrono::steady_clock::now() + accept_pause, [this] {
        is_pausing_ = false;
        accept();
    });
}

void Listener::tell_of_pause(std::string_view reason) {
    ++pauses_untold_;
    const auto now = std::chrono::steady_clock::now();
    if (now < tell_again_at_) return;
    tell_again_at_ = now + told_every;
    log_warn("accepting pauses", {{"port", port()},
                                  {"reason", reason},
                                  {"held_back", waiting_at(socket_.number())},
                                  {"pauses", std::exchange(pauses_untold_, 0)}});
}

void Listener::stop() {
    if (!socket_.is_open()) return;
    while (connections_ != nullptr && connections_->has_room() && accept_one()) {
    }
    close();
}

void Listener::close() {
    loop_.forget(*this);
    pause_timer_.cancel();
    socket_.close();
}

}  // namespace doorbuster
