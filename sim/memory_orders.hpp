// Orders in memory, on a disk that can fail. Passes the orders' contract.
#pragma once

#include <map>

#include "sim/change.hpp"
#include "sim/disk.hpp"
#include "store/orders.hpp"
#include "store/outbox.hpp"

namespace doorbuster::sim {

struct PurchaseRow {
    SaleId sale;
    ItemId item;
    Acceptance acceptance;
    PurchaseState state = PurchaseState::ordered;  // what an order knows of its end it tells itself
    std::string reason;
    std::optional<OrderId> order;
};

struct OrdersState {  // what outlives the process
    std::map<SaleId, SaleRecord> sales;
    std::map<SaleId, bool> sold_out_told;
    std::map<PurchaseId, PurchaseRow> purchases;
    std::map<int64_t, OrderRecord> orders;
    std::map<int64_t, PaymentRecord> payments;
    std::map<std::string, Instant> provider_events;
    std::vector<EventRecord> events;
    std::vector<StockMove> stock_moves;
    std::map<uint64_t, DeadLetter> dead_letters;
    uint64_t position = 0;

    std::map<uint64_t, Delivery> deliveries;
    std::map<uint64_t, std::vector<DeliveryAttempt>> attempts;
    uint64_t events_taken = 0;

    std::optional<PurchaseRecord> purchase(const PurchaseId&) const;
    uint32_t active_units(const SaleId&, const ItemId&, const BuyerId&) const;
};

class MemoryOrdersReader final : public OrdersReader {
public:
    MemoryOrdersReader(const OrdersState& state, Disk& disk) : state_(state), disk_(disk) {}

    StoreResult<std::vector<SaleRecord>> sales() override;
    StoreResult<std::optional<OrderRecord>> find_order(OrderId) override;
    StoreResult<std::optional<PurchaseRecord>> find_purchase(const PurchaseId&) override;
    StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&, std::optional<OrderId> before,
                                                    size_t count_max) override;
    StoreResult<std::vector<DeadLetter>> dead_letters(uint64_t after_position, size_t count_max) override;
    StoreResult<void> each_purchase(const std::function<void(const PurchaseRecord&)>& visit) override;
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
    StoreResult<uint64_t> position() override { return read(state_.position); }
    StoreResult<OrderId> last_order() override;

private:
    template <class Value>
    StoreResult<Value> read(Value value) {
        const auto done = disk_.read(Fault::failed_orders_read, operation);
        if (!done) return done.error();
        return value;
    }
    template <class Rows, class Visit>
    StoreResult<void> scan(const Rows& rows, Visit visit) {
        return disk_.scan(Fault::failed_orders_read, operation, rows, visit);
    }

    static constexpr const char* operation = "reading the orders";
    const OrdersState& state_;
    Disk& disk_;
};

class MemoryOrders final : public Orders {
public:
    struct Hooks {
        // A record that the store refuses to place, however often it is tried: a dead letter.
        std::function<bool(const LedgerEntry&)> refuses{};
        // At the moment a write is durable, with the orders that it changed.
        std::function<void(std::span<const OrderId>)> committed{};
    };

    MemoryOrders(OrdersState& state, Disk& disk, Hooks hooks);
    MemoryOrders(OrdersState& state, Disk& disk) : MemoryOrders(state, disk, Hooks{}) {}

    OrdersReader& reader() override { return reader_; }
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
    StoreResult<void> idle() override { return {}; }
    const std::optional<StoreError>& failure() const override { return failure_; }
    // Batches that it did not take so far, for one of their records.
    uint64_t refusals() const { return refusals_; }

private:
    StoreResult<void> commit(const char* operation, Change& change);
    StoreResult<Placed> place_one(Change&, const Placement&, Instant now);
    void tell_cancelled(Change&, const LedgerEntry&, Instant now);
    Moved move_one(Change&, const OrderMove&, Instant now);
    bool write_payment(Change&, const PaymentChange&, Instant now);
    void tell(Change&, EventRecord event);
    void move_stock(Change&, StockMove moved);

    OrdersState& state_;
    MemoryOrdersReader reader_;
    Disk& disk_;
    const Hooks hooks_;
    std::vector<OrderId> touched_;  // by the transaction under way
    std::optional<StoreError> failure_;
    uint64_t refusals_ = 0;
};

}  // namespace doorbuster::sim
