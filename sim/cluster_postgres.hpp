// SimulatedPostgres: the tables of the cluster, transactions on them, and connections that break.
//
// Knows the statements of the product by how they begin (cluster_statements.cpp); one that it does not know
// stops the run. Transactions are PostgreSQL's `read committed` as far as these statements can tell: writes
// appear with the commit, whoever changes a row or asks for it FOR UPDATE locks it until then, and a
// condition is judged when the lock is had. No statement here reads what its own transaction wrote.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/cluster_world.hpp"
#include "store/orders.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster::sim::cluster {

struct PgItem {
    std::string sale, id;
    int64_t ordinal = 0, price_minor = 0, units_per_buyer_max = 0, orders_max = 0;
    int64_t units_total = 0, units_available = 0, units_held = 0, units_sold = 0;
    int64_t version = 1, epoch = 0;
    bool is_open = false;
    std::optional<std::string> pin{};
};
struct PgSale {
    Sale sale;
    SaleState state = SaleState::open;
    int64_t version = 1;
};
struct PgPurchase {
    std::string sale, item, buyer, state, reason;
    int64_t units = 0, epoch = 0, bucket = 0, sequence = 0, accepted_at_ms = 0, partition = 0, position = 0;
    std::optional<int64_t> order;
};
struct PgOrder {
    PurchaseId purchase;
    std::string sale, item, buyer, currency, state, hold, falls_to, reason;
    int64_t units = 0, amount_minor = 0, version = 1, created_at_ms = 0, pay_by_ms = 0;
};
struct PgLate {
    PurchaseId purchase;
    std::string sale, item, buyer;
    int64_t units = 0, bucket = 0, epoch = 0, sequence = 0, accepted_at_ms = 0;
    std::optional<PurchaseId> replaces;
};
struct PgRelease {
    std::string sale, item;
    int64_t epoch = 0, units = 0;
    std::optional<PurchaseId> purchase;
    bool is_sold = false, is_applied = false;
};
struct PgPartition {
    int64_t position = 0, generation = 0;  // of the offset
    int64_t lease_generation = 0, expires_us = 0;
    bool is_leased = false, has_offset = false;
};
using ItemName = std::pair<std::string, std::string>;  // sale, item

struct PgTables {
    PgSale sale;
    std::map<ItemName, PgItem> items;
    std::map<PurchaseId, PgPurchase> purchases;
    std::map<int64_t, PgOrder> orders;
    std::map<std::pair<ItemName, int64_t>, int64_t> seals;  // by partition: the epoch
    std::map<std::pair<int64_t, int64_t>, PgLate> late;     // by partition and position
    std::map<int64_t, PgRelease> releases;
    std::map<std::pair<ItemName, int64_t>, std::string> rebuild_requests;  // by epoch
    std::map<int64_t, PgPartition> partitions;
    std::map<std::string, int64_t> workers;  // until when
    std::set<PurchaseId> cancellations_told;
};

class PgSession;

class SimulatedPostgres {
public:
    explicit SimulatedPostgres(ClusterWorld& world);

    pg::ConnectionOptions options();

    // Faults that come over it by themselves.
    void turn();

    // Called behind every commit.
    std::function<void()> committed;

    PgTables tables;

private:
    friend class PgSession;
    using Write = std::function<void(PgTables&)>;

    void apply(const std::vector<Write>& writes);
    void unlock(uint64_t transaction);

    ClusterWorld& world_;
    std::map<std::string, uint64_t> locks_;  // row -> transaction
    std::set<uint64_t> landing_;             // transactions that commit without their client
    uint64_t transactions_ = 0, starts_ = 1;
};

// One connection, as its server side.
class PgSession final : public pg::SimulatedServer {
public:
    explicit PgSession(SimulatedPostgres& postgres) : postgres_(postgres), start_(postgres.starts_) {}
    ~PgSession() override { roll_back(); }

    std::vector<pg::Rows> answer(const std::vector<Statement>& statements) override;
    bool is_broken() const override { return is_lost_ || start_ != postgres_.starts_; }

    // What the statements work with.
    ClusterWorld& world() { return postgres_.world_; }
    const PgTables& tables() const { return postgres_.tables; }
    void lock(const std::string& row);
    void write(SimulatedPostgres::Write write) { writes_.push_back(std::move(write)); }

private:
    pg::Rows run(const Statement& statement);
    void commit();
    void roll_back();
    [[noreturn]] void lose(bool outcome_unknown);

    SimulatedPostgres& postgres_;
    const uint64_t start_;
    bool is_lost_ = false, in_transaction_ = false;
    uint64_t transaction_ = 0;
    std::vector<SimulatedPostgres::Write> writes_;
};

// cluster_statements.cpp
pg::Rows run_statement(PgSession& session, const pg::SimulatedServer::Statement& statement);
pg::Rows command_done(std::string tag, size_t changed = 0);

}  // namespace doorbuster::sim::cluster
