#include "load/drive.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "load/answers.hpp"

namespace doorbuster::load {

namespace {

using std::chrono::steady_clock;

constexpr size_t answer_bytes_max = 16 * 1024;

[[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_ = -1;
};

struct Connection {
    Descriptor socket;
    std::string_view to_send;  // what the kernel had no room for yet
    bool in_flight = false;
    size_t used = 0;  // of the buffer
    std::array<char, answer_bytes_max> buffer;
};

std::chrono::nanoseconds own_cpu() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto span = [](const timeval& time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return span(usage.ru_utime) + span(usage.ru_stime);
}

class Drive {
public:
    Drive(const Requests& requests, const DriveOptions& options)
        : requests_(requests), options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        if (epoll_.number() < 0) fail("epoll_create1");
    }

    Tally run() {
        std::vector<std::unique_ptr<Connection>> connections;
        for (size_t i = 0; i < std::min(options_.connections, requests_.size()); ++i) {
            connections.push_back(std::make_unique<Connection>());
            connect(*connections.back());
        }
        const auto cpu_before = own_cpu();
        const auto began = steady_clock::now();
        ends_at_ = began + options_.time_max;
        for (const auto& connection : connections) send_next(*connection);
        while (in_flight_ > 0 && steady_clock::now() < ends_at_) take_events();
        tally_.elapsed = steady_clock::now() - began;
        tally_.cpu = own_cpu() - cpu_before;
        tally_.lost += in_flight_;
        tally_.not_sent = requests_.size() - next_;
        return tally_;
    }

private:
    void connect(Connection& connection) {
        Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (socket.number() < 0) fail("socket");
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(options_.port);
        if (inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr) != 1) {
            throw std::runtime_error("the target must be an IPv4 address and a port");
        }
        // Blocking until here: a crowd that arrives politely is not what is measured.
        if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            fail("cannot connect");
        }
        const int on = 1;
        setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        epoll_event event{};
        // Edge-triggered: registered once for both directions, never changed again.
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
        event.data.ptr = &connection;
        if (epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, socket.number(), &event) != 0) fail("epoll_ctl");
        connection.socket = std::move(socket);
        connection.used = 0;
    }

    void take_events() {
        constexpr int wait_ms_max = 100;
        std::array<epoll_event, 256> events;
        const int count =
            epoll_wait(epoll_.number(), events.data(), static_cast<int>(events.size()), wait_ms_max);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto& connection = *static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
            if (!connection.to_send.empty()) send_rest(connection);
            if (connection.in_flight && (events[static_cast<size_t>(i)].events & ~EPOLLOUT) != 0)
                receive(connection);
        }
    }

    void send_next(Connection& connection) {
        connection.in_flight = next_ < requests_.size();
        if (!connection.in_flight) return;
        connection.to_send = requests_[next_++];
        ++in_flight_;
        send_rest(connection);
    }

    void send_rest(Connection& connection) {
        while (!connection.to_send.empty()) {
            const ssize_t sent = ::send(connection.socket.number(), connection.to_send.data(),
                                        connection.to_send.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0 && errno == EAGAIN) return;
            // The reading side finds the end of the connection and counts it.
            if (sent < 0) return connection.to_send.remove_prefix(connection.to_send.size());
            connection.to_send.remove_prefix(static_cast<size_t>(sent));
        }
    }

    // One answer is on its way at most, so the first read mostly takes all there is; if
    // the answer is not whole, the rest brings an event of its own.
    void receive(Connection& connection) {
        for (;;) {
            const ssize_t received =
                ::recv(connection.socket.number(), connection.buffer.data() + connection.used,
                       connection.buffer.size() - connection.used, MSG_DONTWAIT);
            if (received < 0 && errno == EINTR) continue;
            if (received < 0 && errno == EAGAIN) return;
            if (received <= 0) return start_again(connection);
            connection.used += static_cast<size_t>(received);
            AnswerHead head;
            switch (read_answer_head({connection.buffer.data(), connection.used}, head)) {
                case HeadFound::malformed:
                    throw std::runtime_error("an answer is not HTTP/1.1 with a Content-Length");
                case HeadFound::more_needed:
                    break;
                case HeadFound::complete:
                    if (connection.used >= head.size) return answered(connection, head);
            }
            if (connection.used == connection.buffer.size())
                throw std::runtime_error("an answer is too large");
        }
    }

    void answered(Connection& connection, const AnswerHead& head) {
        ++tally_.answers;
        ++tally_.by_status[static_cast<size_t>(head.status)];
        connection.used = 0;
        --in_flight_;
        send_next(connection);
    }

    void start_again(Connection& connection) {
        ++tally_.lost;
        --in_flight_;
        connection.to_send = {};
        connect(connection);
        send_next(connection);
    }

    const Requests& requests_;
    const DriveOptions& options_;
    const Descriptor epoll_;
    steady_clock::time_point ends_at_{};
    size_t next_ = 0;       // the first request not sent yet
    size_t in_flight_ = 0;  // bound: the connections
    Tally tally_;
};

}  // namespace

Tally drive(const Requests& requests, const DriveOptions& options) {
    return Drive(requests, options).run();
}

}  // namespace doorbuster::load
