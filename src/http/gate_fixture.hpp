// For the tests of the gate: a real one on loopback, a handler that does as the path
// says, and a client that speaks raw bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/descriptor.hpp"
#include "http/gate.hpp"

namespace doorbuster {

// /echo answers with what it got, /later and /decided keep the exchange, /big answers a
// megabyte, /empty with 204, any other path is refused as sold out.
class TestHandler final : public Handler {
public:
    void handle(Exchange& exchange) override {
        const Request& request = exchange.request();
        if (request.path == "/echo") {
            echo(exchange);
        } else if (request.path == "/later" || request.path == "/decided") {
            keep(exchange);
        } else if (request.path == "/big") {
            exchange.answer({.content_type = "text/plain", .body = big_});
        } else if (request.path == "/empty") {
            exchange.answer({.status = 204, .headers = "X-Extra: yes\r\n"});
        } else if (request.path == "/invalid") {
            exchange.refuse(Problem{.code = Code::invalid, .faults = {{"/quantity", "must be \"1\""}}});
        } else if (request.path == "/busy") {
            exchange.refuse(Code::overloaded);
        } else if (request.path == "/who") {
            exchange.refuse(Code::unauthenticated);
        } else {
            exchange.refuse(Code::sold_out);
        }
    }

    void purchase_decided(Exchange& exchange, const PurchaseReply& reply) override {
        exchange.answer({.status = 202, .body = std::to_string(reply.answer.sequence)});
    }

    static void echo(Exchange& exchange) {
        const Request& request = exchange.request();
        const std::string body = std::string(request.path) + '|' + std::string(request.query) + '|' +
                                 std::string(request.body) + '|' + std::string(request.idempotency_key);
        exchange.answer({.content_type = "text/plain", .body = body});
    }

    // The next exchange that is kept.
    Exchange* wait_for_kept() {
        std::unique_lock lock(mutex_);
        has_kept_.wait(lock, [&] { return kept_ != nullptr; });
        return std::exchange(kept_, nullptr);
    }

private:
    void keep(Exchange& exchange) {
        std::lock_guard lock(mutex_);
        kept_ = &exchange;
        has_kept_.notify_one();
    }

    const std::string big_ = std::string(1 << 20, 'x');
    std::mutex mutex_;
    std::condition_variable has_kept_;
    Exchange* kept_ = nullptr;
};

struct Received {
    std::string head, body;
    int status() const { return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0; }
    bool has(std::string_view line) const {
        return head.find(std::string(line) + "\r\n") != std::string::npos;
    }
};

class Client {
public:
    explicit Client(uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        CHECK(fd_ >= 0);
        // Never reached when the gate does what it promises; without it a fault would hang.
        const timeval patience{.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (receive_buffer > 0) {
            ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    explicit Client(const Descriptor& connected) : fd_(::dup(connected.number())) { CHECK(fd_ >= 0); }
    ~Client() { leave(); }
    Client(const Client&) = delete;

    void leave() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<size_t>(sent));
        }
        return true;
    }

    // The next answer; one without a status if the connection ended before.
    Received read(bool has_body = true) {
        size_t end;
        while ((end = bytes_.find("\r\n\r\n")) == std::string::npos) {
            if (!receive()) return {};
        }
        Received reply{.head = bytes_.substr(0, end + 4), .body = {}};
        size_t size = 0;
        if (const size_t at = reply.head.find("Content-Length: "); at != std::string::npos && has_body) {
            size = std::stoul(reply.head.substr(at + 16));
        }
        while (bytes_.size() < end + 4 + size) {
            if (!receive()) return {};
        }
        reply.body = bytes_.substr(end + 4, size);
        bytes_.erase(0, end + 4 + size);
        return reply;
    }

    Received ask(std::string_view bytes) {
        send(bytes);
        return read();
    }

    // What comes until it ends with this.
    std::string read_up_to(std::string_view end) {
        size_t at;
        while ((at = bytes_.find(end)) == std::string::npos) {
            if (!receive()) return {};
        }
        std::string text = bytes_.substr(0, at + end.size());
        bytes_.erase(0, text.size());
        return text;
    }

    // Everything until the gate closes its side.
    std::string read_to_end() {
        while (receive()) {
        }
        return std::exchange(bytes_, {});
    }

    // True once the gate has closed its side and nothing is left unread.
    bool is_closed() {
        while (bytes_.empty() && receive()) {
        }
        return bytes_.empty() && ended_;
    }

private:
    bool receive() {
        char room[4096];
        const ssize_t size = ::recv(fd_, room, sizeof room, 0);
        if (size > 0) {
            bytes_.append(room, static_cast<size_t>(size));
            return true;
        }
        ended_ = size == 0 || errno == ECONNRESET;
        return false;
    }

    int fd_;
    std::string bytes_;
    bool ended_ = false;
};

class GateTest : public ::testing::Test {
protected:
    // For a deadline that a test lets pass: longer than a thread that has connected may take to send, on a
    // machine that is busy with other things.
    static constexpr std::chrono::seconds soon{2};

    // The gate's thread may call what a derived test owns, so it ends before any destructor begins.
    void TearDown() override { gate_.reset(); }

    void start(GateOptions options = {}) {
        options.listen = "127.0.0.1:0";
        gate_ = std::make_unique<Gate>(uint16_t{0}, options);
        gate_->set_handler(handler_);
        gate_->start();
    }

    Client connect() { return Client(gate_->port()); }

    static std::string get(std::string_view path, std::string_view more = "") {
        return "GET " + std::string(path) + " HTTP/1.1\r\nHost: shop\r\n" + std::string(more) + "\r\n";
    }
    static std::string post(std::string_view path, std::string_view body) {
        return "POST " + std::string(path) +
               " HTTP/1.1\r\nHost: shop\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               std::string(body);
    }

    // Waits until the gate's thread has done all that was asked of it before.
    void sync() {
        std::promise<void> done;
        gate_->post([&] { done.set_value(); });
        done.get_future().get();
    }

    // Others must not notice what one client does.
    void expect_served() {
        Client honest = connect();
        EXPECT_EQ(honest.ask(get("/echo")).status(), 200);
    }

    TestHandler handler_;
    std::unique_ptr<Gate> gate_;
};

}  // namespace doorbuster
