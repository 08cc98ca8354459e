// Driving a server as a crowd does: requests leave when they are due, not when answers come.
//
// What a buyer waits for is counted from when the request was due, so that a server that stalls
// cannot slow the clock that judges it. A request that finds every connection busy waits for
// one; after `patience` its buyer leaves, and it was never sent. Connections bound what can be in
// flight: take many more than the server answers in the time that it is allowed to take.
//
// One thread, no allocation once it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "load/connection.hpp"
#include "load/requests.hpp"
#include "load/schedule.hpp"

namespace doorbuster::load {

struct OpenDriveOptions {
    Target target;
    size_t connections = 1000;
    std::chrono::milliseconds patience{1000};
    std::chrono::seconds drain_max{10};  // how long the last answers are waited for
};

// What became of one request, by its place in the schedule.
struct Fate {
    static constexpr int16_t pending = 0, left = -1, lost = -2;  // else the HTTP status
    int16_t status = pending;
    uint32_t waited_us = 0;  // from when it was due until the answer was whole, or its buyer left
};

struct OpenTally {
    std::vector<Fate> fates;
    std::chrono::nanoseconds sent_late_max{0};  // with a free connection: the generator's own fault
    std::chrono::nanoseconds elapsed{0};
    std::chrono::nanoseconds cpu{0};
};

// Throws std::runtime_error if no connection can be made, an answer is not HTTP, or more get a turn than
// there are requests; as many as the schedule has are always enough.
[[nodiscard]] OpenTally open_drive(const Requests& requests, const Schedule& schedule,
                                   const OpenDriveOptions& options);

}  // namespace doorbuster::load
