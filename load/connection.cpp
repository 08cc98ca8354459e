#include "load/connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace doorbuster::load {

void fail(const char* what) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void Connection::open(const Target& target, const Descriptor& epoll) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (socket.number() < 0) fail("socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target.port);
    if (inet_pton(AF_INET, target.host.c_str(), &address.sin_addr) != 1) {
        throw std::runtime_error("the target must be an IPv4 address and a port");
    }
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        fail("cannot connect");
    }
    const int on = 1;
    setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = this;
    if (epoll_ctl(epoll.number(), EPOLL_CTL_ADD, socket.number(), &event) != 0) fail("epoll_ctl");
    socket_ = std::move(socket);
    to_send_ = {};
    in_flight_ = false;
    used_ = 0;
}

void Connection::send_rest() {
    while (!to_send_.empty()) {
        const ssize_t sent =
            ::send(socket_.number(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return;
        // The reading side finds the end of the connection and counts it.
        if (sent < 0) return to_send_.remove_prefix(to_send_.size());
        to_send_.remove_prefix(static_cast<size_t>(sent));
    }
}

// One answer is on its way at most, so the first read mostly takes all there is; if the answer
// is not whole, the rest brings an event of its own.
Connection::Received Connection::receive(AnswerHead& head) {
    for (;;) {
        const ssize_t received =
            ::recv(socket_.number(), buffer_.data() + used_, buffer_.size() - used_, MSG_DONTWAIT);
        if (received < 0 && errno == EINTR) continue;
        if (received < 0 && errno == EAGAIN) return Received::nothing_yet;
        if (received <= 0) return Received::end;
        used_ += static_cast<size_t>(received);
        switch (read_answer_head({buffer_.data(), used_}, head)) {
            case HeadFound::malformed:
                throw std::runtime_error("an answer is not HTTP/1.1 with a Content-Length");
            case HeadFound::more_needed:
                break;
            case HeadFound::complete:
                if (used_ >= head.size) {
                    used_ = 0;
                    in_flight_ = false;
                    return Received::answer;
                }
        }
        if (used_ == buffer_.size()) throw std::runtime_error("an answer is too large");
    }
}

}  // namespace doorbuster::load
