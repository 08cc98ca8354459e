// For tests of what talks to the admin listener.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>
#include <vector>

namespace doorbuster {

// A peer that reads one request's header, says `answer` and hangs up.
class OneAnswer {
public:
    explicit OneAnswer(std::string answer)
        : thread_([this, answer] {
              boost::asio::ip::tcp::socket socket = acceptor_.accept();
              boost::asio::read_until(socket, boost::asio::dynamic_buffer(request_), "\r\n\r\n");
              boost::asio::write(socket, boost::asio::buffer(answer));
          }) {}

    uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::string request() {
        thread_.join();
        return request_;
    }

private:
    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    std::string request_;
    std::thread thread_;  // last: it uses the rest
};

// The same, several times over, each on a connection of its own.
class SeveralAnswers {
public:
    explicit SeveralAnswers(std::vector<std::string> answers)
        : thread_([this, answers = std::move(answers)] {
              for (const std::string& answer : answers) {
                  boost::asio::ip::tcp::socket socket = acceptor_.accept();
                  std::string& request = requests_.emplace_back();
                  boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n");
                  boost::asio::write(socket, boost::asio::buffer(answer));
              }
          }) {}

    uint16_t port() const { return acceptor_.local_endpoint().port(); }
    // REQUIRES: all of them were called for.
    std::vector<std::string> requests() {
        thread_.join();
        return requests_;
    }

private:
    boost::asio::io_context context_;
    boost::asio::ip::tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
    std::vector<std::string> requests_;
    std::thread thread_;  // last: it uses the rest
};

}  // namespace doorbuster
