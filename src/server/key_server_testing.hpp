// For tests: a shop's web server on a free port of this machine, one prepared answer per path.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <string>
#include <thread>

namespace doorbuster::testing {

class KeyServer {
public:
    // The whole answer, status line and all, to a request for `path`. Empty: none, ever.
    using Answer = std::function<std::string(const std::string& path)>;

    explicit KeyServer(Answer answer) : answer_(std::move(answer)), thread_([this] { run(); }) {}
    ~KeyServer() {
        stopping_ = true;
        boost::asio::io_context wake;
        boost::asio::ip::tcp::socket socket(wake);
        boost::system::error_code ignored;
        socket.connect(acceptor_.local_endpoint(), ignored);
        thread_.join();
    }

    std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + path;
    }
    size_t requests() const { return requests_; }

    static std::string ok(const std::string& body) {
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\nConnection: close\r\n\r\n" + body;
    }

private:
    using Tcp = boost::asio::ip::tcp;

    void run() {
        std::vector<Tcp::socket> unanswered;
        while (true) {
            Tcp::socket socket(context_);
            boost::system::error_code error;
            acceptor_.accept(socket, error);
            if (stopping_) return;
            boost::asio::streambuf request;
            boost::asio::read_until(socket, request, "\r\n\r\n", error);
            std::string method, path;
            std::istream(&request) >> method >> path;
            const std::string answer = answer_(path);
            ++requests_;
            if (answer.empty()) {
                unanswered.push_back(std::move(socket));
            } else {
                boost::asio::write(socket, boost::asio::buffer(answer), error);
            }
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
