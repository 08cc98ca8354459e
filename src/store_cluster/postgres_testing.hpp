// A database of its own for a test, and the store over it.
#pragma once

#include <chrono>
#include <memory>

#include "base/check.hpp"
#include "store_cluster/pg_test_server.hpp"
#include "store_cluster/postgres_orders.hpp"

namespace doorbuster::testing {

class TestDatabase {
public:
    TestDatabase() : name_(postgres().take_database()) {}
    ~TestDatabase() {
        if (!is_spoilt_) postgres().give_back(name_);
    }
    TestDatabase(const TestDatabase&) = delete;
    TestDatabase& operator=(const TestDatabase&) = delete;

    // Its schema is not the one of the migrations any more: nobody else uses it.
    void spoil() { is_spoilt_ = true; }
    pg::ConnectionOptions options() const { return postgres().options(name_); }
    std::unique_ptr<PostgresOrders> open(pg::WorkerPlace place = {}) const {
        auto opened = PostgresOrders::open(options(), place);
        CHECK(opened.has_value());
        return *std::move(opened);
    }

private:
    const std::string name_;
    bool is_spoilt_ = false;
};

// The server's process that waits for a lock in the watcher's database, as soon as there is one; 0: there
// was none for very long.
inline int64_t await_blocked(pg::Connection& watcher) {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + std::chrono::seconds(60);
    while (steady_clock::now() < deadline) {
        const auto waiting = watcher.read_integer(
            "SELECT pid::bigint FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'");
        if (waiting != 0) return waiting;
    }
    return 0;
}

// Every port over one database, as the contracts want them.
class PostgresFixture {
public:
    PostgresFixture() { wipe(); }
    Orders& orders() { return *orders_; }
    OrdersReader& reader() { return *reader_; }
    Settings& settings() { return orders_->settings(); }
    Outbox& outbox() { return orders_->outbox(); }
    AuditStore& audit() { return orders_->audit(); }
    AuditReader& audit_reader() { return *audit_reader_; }
    void reopen() {
        close();
        pool_ = std::make_unique<pg::Pool>(
            pg::PoolOptions{.connection = database_->options(), .connections = 1, .overflow_max = 1});
        orders_ = database_->open();
        reader_ = std::make_unique<PostgresOrdersReader>(*pool_);
        audit_reader_ = std::make_unique<PostgresAuditReader>(*pool_);
    }
    void wipe() {
        close();
        database_.reset();
        database_ = std::make_unique<TestDatabase>();
        reopen();
    }
    const TestDatabase& database() const { return *database_; }

private:
    void close() {
        audit_reader_.reset();
        reader_.reset();
        orders_.reset();
        pool_.reset();
    }

    std::unique_ptr<TestDatabase> database_;
    std::unique_ptr<pg::Pool> pool_;
    std::unique_ptr<PostgresOrders> orders_;
    std::unique_ptr<PostgresOrdersReader> reader_;
    std::unique_ptr<PostgresAuditReader> audit_reader_;
};

}  // namespace doorbuster::testing
