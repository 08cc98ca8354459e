// Setting a thread up: its name in the process list, its core where it is pinned, and who goes first.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

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

// Lets other threads go first where cores are short: 19 takes only what nobody else wants. On Linux this is
// the calling thread's own; taking it back would need a privilege.
inline void yield_to_others(int nice) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
}

}  // namespace doorbuster
