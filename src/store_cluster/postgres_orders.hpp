// Sales, stock and orders in PostgreSQL: the authority of the cluster.
//
// Read Committed and conditional updates: nothing rests on SERIALIZABLE. Any number of these write at
// the same time, from any number of machines; each has a connection of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/orders.hpp"
#include "store_cluster/pg_placing.hpp"
#include "store_cluster/pg_pool.hpp"
#include "store_cluster/postgres_audit.hpp"
#include "store_cluster/postgres_outbox.hpp"
#include "store_cluster/postgres_settings.hpp"

namespace doorbuster {

class PostgresOrdersReader final : public OrdersReader {
public:
    // Borrows a connection for each call, and one for all of at_one_moment().
    // `partition`: of the ledger, whose position it reads.
    explicit PostgresOrdersReader(pg::Pool& pool, uint64_t partition = 0)
        : pool_(&pool), partition_(partition) {}
    // Reads through a connection that lives elsewhere.
    explicit PostgresOrdersReader(pg::Connection& connection, uint64_t partition = 0)
        : connection_(&connection), partition_(partition) {}

    StoreResult<std::vector<SaleRecord>> sales() override;
    StoreResult<std::optional<OrderRecord>> find_order(OrderId) override;
    StoreResult<std::optional<PurchaseRecord>> find_purchase(const PurchaseId&) override;
    StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&, std::optional<OrderId> before,
                                                    size_t count_max) override;
    StoreResult<std::vector<DeadLetter>> dead_letters(uint64_t after_position, size_t count_max) override;
    StoreResult<void> each_purchase(const std::function<void(const PurchaseRecord&)>& visit) override;
    StoreResult<void> each_purchase_of(const SaleId&,
                                       const std::function<void(const PurchaseRecord&)>& visit) override;
    StoreResult<void> at_one_moment(const std::function<StoreResult<void>()>& body) override;
    StoreResult<void> each_order(const std::function<void(const OrderRecord&)>& visit) override;
    StoreResult<void> each_holding(const std::function<void(const Holding&)>& visit) override;
    StoreResult<std::optional<PaymentRecord>> find_payment(PaymentId) override;
    StoreResult<std::vector<PaymentRecord>> payments_of(OrderId) override;
    StoreResult<void> each_payment(const std::function<void(const PaymentRecord&)>& visit) override;
    StoreResult<void> each_stock_move(const std::function<void(const StockMove&)>& visit) override;
    StoreResult<void> each_late(const std::function<void(uint64_t position)>& visit) override;
    StoreResult<std::vector<OrderRecord>> due_orders(const DueBy& by, size_t count_max,
                                                     size_t passed_over) override;
    StoreResult<std::vector<PaymentRecord>> due_payments(DuePayments which, Instant now,
                                                         size_t count_max) override;
    StoreResult<std::vector<OrderRecord>> orders_in(OrderState, size_t count_max) override;
    StoreResult<std::vector<EventRecord>> events_after(uint64_t number, size_t count_max) override;
    StoreResult<OrderCounts> count_orders() override;
    StoreResult<Backlog> backlog(const DueBy& by) override;
    StoreResult<uint64_t> unsettled(const SaleId&) override;
    StoreResult<PaymentId> last_payment() override;
    StoreResult<uint64_t> position() override;
    StoreResult<LedgerCut> cut() override;
    StoreResult<OrderId> last_order() override;

private:
    template <class Body>
    auto reading(std::string_view operation, Body&& body) {
        return pg::guarded(operation, [&] {
            if (connection_ != nullptr) return body(*connection_);
            const pg::Pool::Handle borrowed = pool_->take();
            return body(*borrowed);
        });
    }

    pg::Pool* const pool_ = nullptr;
    pg::Connection* connection_ = nullptr;  // the one that lives elsewhere, or the one of the moment
    const uint64_t partition_;
};

class PostgresOrders final : public Orders {
public:
    // Migrates the schema where that is needed.
    [[nodiscard]] static StoreResult<std::unique_ptr<PostgresOrders>> open(pg::ConnectionOptions options,
                                                                           pg::WorkerPlace place = {});

    OrdersReader& reader() override { return reader_; }
    Settings& settings() { return settings_; }
    Outbox& outbox() { return outbox_; }
    AuditStore& audit() { return audit_; }
    StoreResult<SaleRecord> create_sale(const Sale&, SaleState, Instant now) override;
    StoreResult<SaleRecord> change_sale(const SaleRecord& changed, bool with_items, Instant now) override;
    StoreResult<SaleRecord> restock(const SaleId&, const ItemId&, uint32_t units, uint64_t version,
                                    Instant now) override;
    // conflict, too, if another worker has taken the partition over.
    StoreResult<std::vector<Placed>> place(uint64_t expected_position, std::span<const Placement>,
                                           Instant now) override;
    StoreResult<void> bury(uint64_t expected_position, const LedgerRecord&, const std::string& reason,
                           Instant now) override;
    StoreResult<std::vector<Moved>> move(std::span<const OrderMove>, Instant now) override;
    StoreResult<void> change_payment(const PaymentChange&, std::optional<EventKind>, Instant now) override;
    StoreResult<bool> hint(std::string_view event, PaymentId, Instant now, milliseconds keep) override;
    StoreResult<void> tell_sold_out(const SaleId&, bool sold_out, Instant now) override;
    StoreResult<void> close_letter(uint64_t position, LetterState, Instant now) override;  // of any partition
    StoreResult<void> idle() override { return {}; }
    const std::optional<StoreError>& failure() const override { return failure_; }

    // After a failure: it may be written to again, over a new connection. What may have landed shows by the
    // next conditional write.
    void mend() { failure_.reset(); }
    // A number that is another as soon as any sale has changed.
    [[nodiscard]] StoreResult<int64_t> sales_mark();

private:
    PostgresOrders(pg::ConnectionOptions options, pg::WorkerPlace place);

    SaleRecord read_sale(const SaleId&);

    pg::Connection connection_;
    const pg::WorkerPlace place_;
    std::optional<StoreError> failure_;
    PostgresOrdersReader reader_;
    PostgresSettings settings_;
    PostgresOutbox outbox_;
    PostgresAudit audit_;
};

}  // namespace doorbuster
