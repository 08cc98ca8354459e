#include "store_cluster/lease_keeper.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"

namespace doorbuster {

namespace {

// An answer that comes after the lease's own end is worth nothing: no wait is longer than that.
pg::ConnectionOptions bounded(pg::ConnectionOptions connection, milliseconds lasts) {
    connection.connect_max = std::min(connection.connect_max, lasts);
    connection.statement_max = std::min(connection.statement_max, lasts);
    connection.answer_max = std::min(connection.answer_max, lasts);
    return connection;
}

}  // namespace

LeaseKeeper::LeaseKeeper(pg::ConnectionOptions connection, const Options& options, Granted granted)
    : options_(options),
      granted_(std::move(granted)),
      connection_(bounded(std::move(connection), options.lasts)),
      random_(static_cast<std::minstd_rand::result_type>(options.seed + 1)) {
    CHECK(options.asks_per_lease >= 2);  // one question may fail
}

LeaseKeeper::~LeaseKeeper() {
    stop();
}

void LeaseKeeper::start() {
    thread_ = std::thread([this] {
        set_thread_up("lease", -1);
        run();
    });
}

void LeaseKeeper::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void LeaseKeeper::ask_soon() {
    {
        std::lock_guard lock(mutex_);
        asks_now_ = true;
    }
    wake_.notify_all();
}

void LeaseKeeper::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        asks_now_ = false;
        lock.unlock();
        auto lease = epochs_.lease(options_.holder, options_.lasts);
        if (lease) {
            if (is_missing_) log_info("the lease on the epochs is granted again");
            granted_(std::make_shared<const EpochLease>(*std::move(lease)));
        } else if (!is_missing_) {
            log_warn("no lease on the epochs: without one nothing is sold",
                     {{"reason", lease.error().text()}});
        }
        is_missing_ = lease.has_error();
        lock.lock();
        wake_.wait_for(lock, pause(), [&] { return stopping_ || asks_now_; });
    }
}

milliseconds LeaseKeeper::pause() {
    const int64_t most = options_.lasts.count() / options_.asks_per_lease;
    return milliseconds(std::uniform_int_distribution<int64_t>(most / 2, most)(random_));
}

}  // namespace doorbuster
