// For tests: somebody's web server on a free port of this machine, one prepared answer per request.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace doorbuster::testing {

struct WebRequest {
    std::string method, path;
    std::string head;  // the request line and the headers, as sent
    std::string body;  // as long as Content-Length says

    // Of a header written just so; empty where there is none.
    std::string header(const std::string& name) const {
        const size_t at = head.find("\r\n" + name + ": ");
        if (at == std::string::npos) return {};
        const size_t begin = at + 4 + name.size();
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

class WebServer {
public:
    // The whole answer, status line and all. Empty: none, ever. One without "Connection: close"
    // leaves the connection open, and nobody reads from it any more.
    using Answer = std::function<std::string(const WebRequest&)>;

    explicit WebServer(Answer answer) : answer_(std::move(answer)), thread_([this] { run(); }) {}
    ~WebServer() {
        stopping_ = true;
        boost::asio::io_context wake;
        Tcp::socket socket(wake);
        boost::system::error_code ignored;
        socket.connect(acceptor_.local_endpoint(), ignored);
        thread_.join();
    }

    uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(port()) + path;
    }
    size_t requests() const { return requests_; }

    static std::string ok(const std::string& body) { return with_status("200 OK", body); }
    static std::string with_status(const std::string& status, const std::string& body = {}) {
        return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\nConnection: close\r\n\r\n" + body;
    }

private:
    using Tcp = boost::asio::ip::tcp;

    static WebRequest read(Tcp::socket& socket) {
        WebRequest request;
        boost::system::error_code error;
        std::string bytes;
        const size_t head =
            boost::asio::read_until(socket, boost::asio::dynamic_buffer(bytes), "\r\n\r\n", error);
        request.head = bytes.substr(0, head);
        request.body = bytes.substr(head);
        const size_t space = request.head.find(' ');
        if (space == std::string::npos) return request;
        request.method = request.head.substr(0, space);
        request.path = request.head.substr(space + 1, request.head.find(' ', space + 1) - space - 1);
        const std::string length = request.header("Content-Length");
        size_t wanted = 0;
        std::from_chars(length.data(), length.data() + length.size(), wanted);
        const size_t had = std::min(wanted, request.body.size());
        request.body.resize(wanted);
        boost::asio::read(socket, boost::asio::buffer(request.body) + had, error);
        return request;
    }

    void run() {
        std::vector<Tcp::socket> kept;
        while (true) {
            Tcp::socket socket(context_);
            boost::system::error_code error;
            acceptor_.accept(socket, error);
            if (stopping_) return;
            const std::string answer = answer_(read(socket));
            ++requests_;
            boost::asio::write(socket, boost::asio::buffer(answer), error);
            if (answer.find("Connection: close") == std::string::npos) kept.push_back(std::move(socket));
        }
    }

    const Answer answer_;
    boost::asio::io_context context_;
    Tcp::acceptor acceptor_{context_, Tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
    std::atomic<bool> stopping_{false};
    std::atomic<size_t> requests_{0};
    std::thread thread_;
};

}  // namespace doorbuster::testing
