// Duty: of several processes, the one that does what nobody has asked for: the clock of the sales, orders
// whose time is over, payments to be asked about, webhooks, the recount.
//
// A session's advisory lock in PostgreSQL: it ends with the connection, and the next who asks has it. Nothing
// rests on it. All that is done on duty is conditional on the rows, so two who believe for a moment that they
// are do some of it in vain.
//
// Thread safety: none, but for is_on().
#pragma once

#include <atomic>

#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

class Duty {
public:
    explicit Duty(pg::ConnectionOptions options) : connection_(std::move(options)) {}

    // Takes it where it is free, and finds out whether it is still held. Called about once a second.
    [[nodiscard]] StoreResult<void> look();
    // As of the last look. Any thread.
    bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

private:
    pg::Connection connection_;
    std::atomic<bool> is_on_{false};
};

}  // namespace doorbuster
