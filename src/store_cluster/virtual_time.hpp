// VirtualTime: where this folder's code runs in a simulation, its time.
//
// Leases count by a clock that nobody can set; a simulation sets it all the same, for the thread that it
// runs on. Nothing else ever does.
#pragma once

#include <chrono>

namespace doorbuster::pg {

using BootTime = std::chrono::nanoseconds;

class VirtualTime {
public:
    virtual ~VirtualTime() = default;
    virtual BootTime now() = 0;
    virtual void pause(std::chrono::microseconds) = 0;  // of whoever asks
};

inline constinit thread_local VirtualTime* virtual_time = nullptr;

}  // namespace doorbuster::pg
