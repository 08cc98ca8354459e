// Connection: one socket of the crowd, with one request on its way at most.
//
// Edge-triggered: registered once for both directions, never changed again. Sending and
// receiving take what the kernel has room for and go on at the next event.
//
// Thread safety: none; all connections live on the generator's one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "load/answers.hpp"

namespace doorbuster::load {

struct Target {
    std::string host = "127.0.0.1";  // an IPv4 address
    uint16_t port = 0;
};

// Throws std::runtime_error with the reason of the last system call.
[[noreturn]] void fail(const char* what);

class Connection {
public:
    static constexpr size_t answer_bytes_max = 16 * 1024;

    // Blocking: a crowd that arrives politely is not what is measured. Drops what was there before.
    void open(const Target& target, const Descriptor& epoll);

    void send(std::string_view bytes) {
        to_send_ = bytes;
        in_flight_ = true;
        send_rest();
    }
    void send_rest();

    enum class Received : uint8_t { nothing_yet, answer, end };
    // Whether the answer is whole. Throws std::runtime_error if it is not HTTP.
    [[nodiscard]] Received receive(AnswerHead& head);

    bool in_flight() const { return in_flight_; }

    size_t request = 0;  // which one is on its way; the driver's to set

private:
    Descriptor socket_;
    std::string_view to_send_;  // what the kernel had no room for yet
    bool in_flight_ = false;
    size_t used_ = 0;  // of the buffer
    std::array<char, answer_bytes_max> buffer_;
};

}  // namespace doorbuster::load
