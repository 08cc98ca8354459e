#include "store_cluster/pg_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/check.hpp"

namespace doorbuster::pg {

size_t default_connections() {
    return 2 * std::max<size_t>(1, std::thread::hardware_concurrency());
}

Pool::Pool(PoolOptions options) : options_(std::move(options)) {
    CHECK(options_.connections >= 1);
}

Pool::~Pool() {
    CHECK(idle_.size() == open_);
}

// REQUIRES: `open_` counts it already.
std::unique_ptr<Connection> Pool::make() {
    try {
        return std::make_unique<Connection>(options_.connection);
    } catch (const Failure&) {
        std::lock_guard lock(mutex_);
        --open_;
        came_back_.notify_one();
        throw;
    }
}

StoreResult<void> Pool::warm() {
    if (open() >= options_.connections) return {};
    return guarded("opening connections to PostgreSQL", [&] {
        std::vector<Handle> held;
        while (held.size() < options_.connections) held.push_back(take());
    });
}

Pool::Handle Pool::take() {
    std::unique_lock lock(mutex_);
    const size_t open_max = options_.connections + options_.overflow_max;
    const bool has_room =
        came_back_.wait_for(lock, options_.wait_max, [&] { return !idle_.empty() || open_ < open_max; });
    if (!has_room) {
        throw Failure(StoreErrc::unavailable,
                      fmt::format("all {} connections to PostgreSQL were busy for {} ms", open_max,
                                  options_.wait_max.count()));
    }
    if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(connection)};
    }
    ++open_;
    lock.unlock();
    return {*this, make()};
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
    std::lock_guard lock(mutex_);
    const bool stays = idle_.size() < options_.connections && !connection->is_broken();
    if (stays) {
        idle_.push_back(std::move(connection));
    } else {
        --open_;
    }
    came_back_.notify_one();
}

size_t Pool::open() const {
    std::lock_guard lock(mutex_);
    return open_;
}

}  // namespace doorbuster::pg
