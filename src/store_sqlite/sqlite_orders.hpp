// Sales, stock and orders in orders.db.
#pragma once

#include <memory>
#include <string>

#include "store/orders.hpp"
#include "store_sqlite/batch_table.hpp"
#include "store_sqlite/sqlite.hpp"
#include "store_sqlite/sqlite_audit.hpp"
#include "store_sqlite/sqlite_outbox.hpp"
#include "store_sqlite/sqlite_settings.hpp"

namespace doorbuster {

class SqliteOrdersReader final : public OrdersReader {
public:
    // A connection of its own, read only.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteOrdersReader>> open(const std::string& path);
    // Reads through a connection that lives elsewhere.
    explicit SqliteOrdersReader(sqlite::Connection& connection);

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
    StoreResult<OrderId> last_order() override;

private:
    explicit SqliteOrdersReader(std::unique_ptr<sqlite::Connection> own);

    std::unique_ptr<sqlite::Connection> own_;  // none if it lives elsewhere
    sqlite::Connection& connection_;
    sqlite::Statement order_, purchase_, orders_of_, payment_, payments_of_, due_orders_, due_payments_,
        watched_payments_, position_;
};

class SqliteOrders final : public Orders {
public:
    // Creates or migrates the database.
    [[nodiscard]] static StoreResult<std::unique_ptr<SqliteOrders>> open(const std::string& path);
    ~SqliteOrders() override;

    OrdersReader& reader() override { return *reader_; }
    Settings& settings() { return *settings_; }
    Outbox& outbox() { return *outbox_; }
    AuditStore& audit() { return *audit_; }
    StoreResult<SaleRecord> create_sale(const Sale&, SaleState, Instant now) override;
    StoreResult<SaleRecord> change_sale(const SaleRecord& changed, bool with_items, Instant now) override;
    StoreResult<SaleRecord> restock(const SaleId&, const ItemId&, uint32_t units, uint64_t version,
                                    Instant now) override;
    StoreResult<std::vector<Placed>> place(uint64_t expected_position, std::span<const Placement>,
                                           Instant now) override;
    StoreResult<void> bury(uint64_t expected_position, const LedgerRecord&, const std::string& reason,
                           Instant now) override;
    StoreResult<std::vector<Moved>> move(std::span<const OrderMove>, Instant now) override;
    StoreResult<void> change_payment(const PaymentChange&, std::optional<EventKind>, Instant now) override;
    StoreResult<bool> hint(std::string_view event, PaymentId, Instant now, milliseconds keep) override;
    StoreResult<void> tell_sold_out(const SaleId&, bool sold_out, Instant now) override;
    StoreResult<void> close_letter(uint64_t position, LetterState, Instant now) override;
    StoreResult<void> idle() override;
    const std::optional<StoreError>& failure() const override { return failure_; }

private:
    struct Statements;
    struct ItemTerms;
    enum class Way : uint8_t { together, one_by_one };

    explicit SqliteOrders(const std::string& path);

    SaleRecord read_sale(const SaleId&);
    void move_position(uint64_t expected, uint64_t to);
    ItemTerms terms_of(const LedgerEntry&);
    std::optional<std::vector<Placed>> place_batch(uint64_t expected_position, std::span<const Placement>,
                                                   Way, Instant now);
    Placed place_one(const Placement&, ItemTerms&, Instant now);
    void tell_cancelled(const LedgerEntry&, Instant now);
    bool place_together(std::span<const Placement>, std::span<ItemTerms* const>, Instant now);
    Placed place_alone(const Placement&, Instant now);  // inside a transaction
    bool take_units(std::string_view sale, std::string_view item, int64_t units, HoldState to);

    template <class Body>
    auto writing(std::string_view operation, Body&& body) {
        return sqlite::written(failure_, operation, std::forward<Body>(body));
    }

    sqlite::BatchTable batch_;
    sqlite::Connection connection_;
    std::unique_ptr<SqliteOrdersReader> reader_;
    std::unique_ptr<Statements> statements_;
    std::unique_ptr<SqliteSettings> settings_;
    std::unique_ptr<SqliteOutbox> outbox_;
    std::unique_ptr<SqliteAudit> audit_;
    std::optional<StoreError> failure_;
};

}  // namespace doorbuster
