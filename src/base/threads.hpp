// Setting a thread up: its name in the process list, and its core where it is pinned.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <string>

namespace doorbuster {

// `cpu` < 0: any core. A core that this process may not use is ignored: pinning is an
// optimisation, not a promise.
inline void set_thread_up(const std::string& name, int cpu) {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    if (cpu < 0) return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<size_t>(cpu), &only);
    pthread_setaffinity_np(pthread_self(), sizeof only, &only);
}

}  // namespace doorbuster
