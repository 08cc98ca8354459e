// Pool: connections that threads borrow for one piece of work each.
//
// `connections` stay open, `overflow_max` more are opened in a rush and closed when they come back.
// Who finds all of them busy waits, first come first served as far as the lock is, and no longer
// than `wait_max`.
//
// Thread safety: any thread. A handle belongs to the thread that took it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "store_cluster/pg_connection.hpp"

namespace doorbuster::pg {

// Twice the cores: as many as a PostgreSQL on a machine like this one can keep busy.
size_t default_connections();

struct PoolOptions {
    ConnectionOptions connection;
    size_t connections = default_connections();
    size_t overflow_max = default_connections();
    milliseconds wait_max{30'000};
};

class Pool {
public:
    class Handle {
    public:
        Handle(Pool& pool, std::unique_ptr<Connection> connection)
            : pool_(&pool), connection_(std::move(connection)) {}
        Handle(Handle&&) = default;
        Handle& operator=(Handle&&) = delete;
        ~Handle() {
            if (connection_) pool_->give_back(std::move(connection_));
        }
        Connection& operator*() const { return *connection_; }
        Connection* operator->() const { return connection_.get(); }

    private:
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    explicit Pool(PoolOptions options);
    ~Pool();  // REQUIRES: every handle has come back

    // Opens the connections that are to stay, so that nobody waits for it in the rush.
    [[nodiscard]] StoreResult<void> warm();

    // Throws Failure: unavailable if PostgreSQL cannot be reached, or if all were busy for `wait_max`.
    Handle take();

    size_t open() const;  // now, busy or idle

private:
    void give_back(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> make();

    const PoolOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable came_back_;
    std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_; the last one in is warm
    size_t open_ = 0;                                // guarded by mutex_; idle, busy and being opened
};

}  // namespace doorbuster::pg
