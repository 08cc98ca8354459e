// Driving a server: many connections, each with one request on its way at a time.
//
// Epoll by hand, one thread, no allocation once it runs: the generator must cost less
// per request than any server under it, or it measures itself.
//
// Bounded by the number of requests and by time. A connection that the server closes
// between two answers is opened again; one that fails with a request on its way counts
// that request as lost, since nobody knows what became of it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "load/connection.hpp"
#include "load/requests.hpp"

namespace doorbuster::load {

struct DriveOptions {
    Target target;
    size_t connections = 64;
    std::chrono::seconds time_max{60};
};

struct Tally {
    std::array<uint64_t, 600> by_status{};
    uint64_t answers = 0;
    uint64_t lost = 0;      // sent, and the connection failed before the answer came
    uint64_t not_sent = 0;  // the time was up
    std::chrono::nanoseconds elapsed{0};
    std::chrono::nanoseconds cpu{0};  // of the generator itself

    uint64_t status(int code) const { return by_status[static_cast<size_t>(code)]; }
};

// Sends every request once, as far as the time allows.
// Throws std::runtime_error if no connection can be made or an answer is not HTTP.
[[nodiscard]] Tally drive(const Requests& requests, const DriveOptions& options);

// CPU time of this process so far, user and system.
std::chrono::nanoseconds own_cpu();

}  // namespace doorbuster::load
