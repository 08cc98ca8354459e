// The audit's history and repairs in orders.db.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/audit_store.hpp"
#include "store_sqlite/order_moves.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster {

class SqliteAuditReader final : public AuditReader {
public:
    // A connection of its own, read only.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteAuditReader>> open(const std::string& path);

    StoreResult<std::vector<ReconcileRun>> runs(const SaleId&, std::optional<uint64_t> before,
                                                size_t count_max) override;
    StoreResult<std::optional<std::string>> report(const SaleId&, uint64_t run) override;
    StoreResult<std::vector<RunDifference>> differences(uint64_t run) override;
    StoreResult<std::set<std::string>> acknowledged() override;

private:
    explicit SqliteAuditReader(const std::string& path);

    sqlite::Connection connection_;
};

class SqliteAudit final : public AuditStore {
public:
    // Places one record inside the transaction that is open.
    using Place = std::function<Placed(const Placement&, Instant now)>;

    // On the connection that writes the orders; `failure` is shared with them.
    // REQUIRES: the connection is prepared with orders_schema; both outlive this.
    SqliteAudit(sqlite::Connection& connection, std::optional<StoreError>& failure, Place place);

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

    template <class Body>
    auto writing(std::string_view operation, Body&& body) {
        return sqlite::written(failure_, operation, std::forward<Body>(body));
    }

    sqlite::Connection& connection_;
    std::optional<StoreError>& failure_;
    const Place place_;
    sqlite::Journal journal_;
    sqlite::OrderMoves moves_;
};

}  // namespace doorbuster
