// LeaseKeeper: keeps this process's lease on the epochs fresh.
//
// A thread with a connection of its own asks the primary several times in the life of a lease and hands
// each grant on. A grant counts from before it was asked for, so one that comes late is worth less, and one
// that comes after its own end nothing. While PostgreSQL is away the last grant runs out by itself, and with
// it the selling; the keeper goes on asking.
//
// Thread safety: start and stop from one thread; `granted` is called on the keeper's own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "store_cluster/postgres_epochs.hpp"

namespace doorbuster {

class LeaseKeeper {
public:
    struct Options {
        std::string holder;         // for people: host and process
        milliseconds lasts{5'000};  // also how long a rebuild waits
        uint32_t asks_per_lease = 4;
        uint64_t seed = 0;  // of the jitter, so that the gates do not ask in step
    };
    // Must not block. The same lease may be used by any number of threads: it never changes.
    using Granted = std::function<void(std::shared_ptr<const EpochLease>)>;

    LeaseKeeper(pg::ConnectionOptions connection, const Options& options, Granted granted);
    ~LeaseKeeper();
    LeaseKeeper(const LeaseKeeper&) = delete;
    LeaseKeeper& operator=(const LeaseKeeper&) = delete;

    void start();
    void stop();      // within the bound of one question
    void ask_soon();  // any thread: something has changed, do not wait for the next turn

private:
    void run();
    milliseconds pause();

    const Options options_;
    const Granted granted_;

    // The keeper's thread.
    pg::Connection connection_;
    PostgresEpochs epochs_{connection_};
    std::minstd_rand random_;
    bool is_missing_ = false;  // the last question failed

    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false, asks_now_ = false;  // guarded by mutex_
    std::thread thread_;
};

}  // namespace doorbuster
