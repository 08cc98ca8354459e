#include "sim/cluster_postgres.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr int64_t turn_us = 100'000;
constexpr int64_t lock_us_max = 2'000'000;

}  // namespace

SimulatedPostgres::SimulatedPostgres(ClusterWorld& world) : world_(world) {
    world_.after(turn_us, [this] { turn(); });
}

pg::ConnectionOptions SimulatedPostgres::options() {
    pg::ConnectionOptions options;
    options.simulated = [this] { return std::make_unique<PgSession>(*this); };
    return options;
}

// What was committed stays; whoever has no answer knows nothing.
void SimulatedPostgres::turn() {
    world_.after(turn_us, [this] { turn(); });
    if (!world_.strikes(ClusterFault::postgres_restarted, 5)) return;
    ++starts_;
    std::erase_if(locks_, [&](const auto& lock) { return !landing_.contains(lock.second); });
}

void SimulatedPostgres::apply(const std::vector<Write>& writes) {
    for (const Write& write : writes) write(tables);
    if (!writes.empty() && committed) committed();
}

void SimulatedPostgres::unlock(uint64_t transaction) {
    std::erase_if(locks_, [&](const auto& lock) { return lock.second == transaction; });
}

void PgSession::lock(const std::string& row) {
    const int64_t until_us = world().now_us() + lock_us_max;
    for (;;) {
        const auto [held, is_free] = postgres_.locks_.try_emplace(row, transaction_);
        if (is_free || held->second == transaction_) return;
        if (world().now_us() >= until_us) {
            throw pg::Failure(StoreErrc::unavailable, "canceling statement due to lock timeout");
        }
        world().sleep(1'000);
        if (is_broken()) lose(false);
    }
}

void PgSession::lose(bool outcome_unknown) {
    is_lost_ = true;
    roll_back();
    throw pg::Failure(StoreErrc::unavailable, "the connection was lost", outcome_unknown);
}

void PgSession::roll_back() {
    writes_.clear();
    postgres_.unlock(transaction_);
    in_transaction_ = false;
}

void PgSession::commit() {
    using enum ClusterFault;
    if (in_transaction_ && !writes_.empty()) {
        if (world().strikes(commit_unknown_never, 6)) lose(true);
        if (world().strikes(commit_lands_later, 6)) {
            postgres_.landing_.insert(transaction_);
            world().after(world().random.between(10'000, 600'000),
                          [&postgres = postgres_, id = transaction_, writes = std::exchange(writes_, {})] {
                              postgres.apply(writes);
                              postgres.landing_.erase(id);
                              postgres.unlock(id);
                          });
            transaction_ = 0;  // its locks are no longer this connection's
            lose(true);
        }
    }
    postgres_.apply(std::exchange(writes_, {}));
    const bool is_heard = !world().strikes(commit_unknown_landed, in_transaction_ ? 6 : 0);
    roll_back();
    if (!is_heard) lose(true);
}

pg::Rows PgSession::run(const Statement& statement) {
    if (statement.sql.starts_with("BEGIN")) {
        in_transaction_ = true;
        transaction_ = ++postgres_.transactions_;
        return command_done("BEGIN");
    }
    if (statement.sql == "COMMIT") {
        commit();
        return command_done("COMMIT");
    }
    if (statement.sql == "ROLLBACK") {
        roll_back();
        return command_done("ROLLBACK");
    }
    if (!in_transaction_) transaction_ = ++postgres_.transactions_;
    pg::Rows rows = run_statement(*this, statement);
    if (!in_transaction_) commit();
    return rows;
}

std::vector<pg::Rows> PgSession::answer(const std::vector<Statement>& statements) {
    if (world().is_crashing()) throw pg::Failure(StoreErrc::unavailable, "the process ends");
    const bool commits = statements.back().sql == "COMMIT";
    int64_t there_us = world().random.between(100, 800);
    if (world().strikes(ClusterFault::postgres_slow, 5)) there_us = world().random.between(20'000, 400'000);
    world().sleep(there_us);
    if (is_broken() || world().strikes(ClusterFault::postgres_connection_lost, 3)) lose(commits);
    std::vector<pg::Rows> rows;
    for (const Statement& one : statements) rows.push_back(run(one));
    return rows;
}

}  // namespace doorbuster::sim::cluster
