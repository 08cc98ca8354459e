// StopSignal: what ends the server: the operator's signal, or a failure inside. SIGHUP is the
// operator's word to read the configuration again.
//
// Thread safety: fail from any thread; the rest from the main thread.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace doorbuster {

class StopSignal {
public:
    // Before any thread is started, so that every thread inherits the mask.
    StopSignal() {
        sigemptyset(&awaited_);
        for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) sigaddset(&awaited_, number);
        pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
        ::signal(SIGPIPE, SIG_IGN);
    }

    // The first reason counts.
    void fail(const std::string& reason) {
        {
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = reason;
        }
        ::kill(::getpid(), SIGUSR1);  // how wait() hears of it
    }

    // Returns when the server has to end; a second signal after that ends it at once.
    void wait(const std::function<void()>& on_reload) {
        for (;;) {
            int number = 0;
            sigwait(&awaited_, &number);
            if (number == SIGHUP) {
                on_reload();
            } else if (number != SIGUSR1 || failure()) {
                break;
            }
        }
        sigset_t again = awaited_;
        sigdelset(&again, SIGUSR1);
        sigdelset(&again, SIGHUP);
        pthread_sigmask(SIG_UNBLOCK, &again, nullptr);
    }

    std::optional<std::string> failure() const {
        std::lock_guard lock(mutex_);
        return failure_;
    }

private:
    sigset_t awaited_;
    mutable std::mutex mutex_;
    std::optional<std::string> failure_;
};

}  // namespace doorbuster
