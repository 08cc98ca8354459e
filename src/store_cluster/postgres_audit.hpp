// The audit's history and repairs in PostgreSQL.
#pragma once

#include <string>

#include "store/audit_store.hpp"
#include "store_cluster/pg_placing.hpp"
#include "store_cluster/pg_pool.hpp"

namespace doorbuster {

class PostgresAuditReader final : public AuditReader {
public:
    explicit PostgresAuditReader(pg::Pool& pool) : pool_(pool) {}

    StoreResult<std::vector<ReconcileRun>> runs(const SaleId&, std::optional<uint64_t> before,
                                                size_t count_max) override;
    StoreResult<std::optional<std::string>> report(const SaleId&, uint64_t run) override;
    StoreResult<std::vector<RunDifference>> differences(uint64_t run) override;
    StoreResult<std::set<std::string>> acknowledged() override;

private:
    pg::Pool& pool_;
};

class PostgresAudit final : public AuditStore {
public:
    // On the connection that writes the orders; `failure` is shared with them.
    // REQUIRES: the connection's schema is prepared; both outlive this.
    PostgresAudit(pg::Connection& connection, std::optional<StoreError>& failure, pg::WorkerPlace place)
        : connection_(connection), failure_(failure), place_(place) {}

    StoreResult<uint64_t> begin(const SaleId&, Instant now) override;
    StoreResult<void> record(const ReconcileRun&, std::span<const RunDifference>,
                             const std::string& report) override;
    StoreResult<RepairOutcome> repair(const Repair&, Instant now) override;

private:
    RepairOutcome carry_out(const Acknowledge&, Instant now);
    RepairOutcome carry_out(const ShiftUnits&, Instant now);
    RepairOutcome carry_out(const PlaceRecord&, Instant now);
    RepairOutcome carry_out(const CancelPurchase&, Instant now);
    RepairOutcome carry_out(const OrderMove&, Instant now);
    RepairOutcome carry_out(const PaymentChange&, Instant now);
    void ask_for_rebuild(std::string_view sale, std::string_view item, std::string_view reason);

    pg::Connection& connection_;
    std::optional<StoreError>& failure_;
    const pg::WorkerPlace place_;
};

}  // namespace doorbuster
