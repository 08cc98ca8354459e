// Orders in memory, on a disk that can fail. Passes the orders' contract.
//
// A transaction works on a copy of the whole state that replaces it at the commit:
// slow, and without any way to leave half a change behind.
#pragma once

#include <map>

#include "sim/disk.hpp"
#include "store/orders.hpp"

namespace doorbuster::sim {

struct OrdersState {  // what outlives the process
    std::map<SaleId, SaleRecord> sales;
    std::map<PurchaseId, PurchaseRecord> purchases;
    std::map<int64_t, OrderRecord> orders;
    std::map<std::pair<std::pair<SaleId, ItemId>, BuyerId>, uint32_t> holdings;
    std::map<uint64_t, DeadLetter> dead_letters;
    uint64_t position = 0;
};

class MemoryOrdersReader final : public OrdersReader {
public:
    explicit MemoryOrdersReader(const OrdersState& state) : state_(state) {}

    StoreResult<std::vector<SaleRecord>> sales() override;
    StoreResult<std::optional<OrderRecord>> find_order(OrderId) override;
    StoreResult<std::optional<PurchaseRecord>> find_purchase(const PurchaseId&) override;
    StoreResult<std::vector<OrderRecord>> orders_of(const BuyerId&, std::optional<OrderId> before,
                                                    size_t count_max) override;
    StoreResult<std::vector<DeadLetter>> dead_letters(uint64_t after_position, size_t count_max) override;
    StoreResult<void> each_purchase(const std::function<void(const PurchaseRecord&)>& visit) override;
    StoreResult<void> each_order(const std::function<void(const OrderRecord&)>& visit) override;
    StoreResult<void> each_holding(const std::function<void(const Holding&)>& visit) override;
    StoreResult<uint64_t> position() override { return state_.position; }
    StoreResult<OrderId> last_order() override;

private:
    const OrdersState& state_;
};

class MemoryOrders final : public Orders {
public:
    MemoryOrders(OrdersState& state, Disk& disk) : state_(state), reader_(state), disk_(disk) {}

    OrdersReader& reader() override { return reader_; }
    StoreResult<SaleRecord> create_sale(const Sale&, SaleState, Instant now) override;
    StoreResult<SaleRecord> change_sale(const SaleRecord& changed, bool with_items, Instant now) override;
    StoreResult<SaleRecord> restock(const SaleId&, const ItemId&, uint32_t units, uint64_t version,
                                    Instant now) override;
    StoreResult<std::vector<Placed>> place(uint64_t expected_position, std::span<const Placement>,
                                           Instant now) override;
    StoreResult<void> bury(uint64_t expected_position, const LedgerRecord&, const std::string& reason,
                           Instant now) override;
    StoreResult<OrderRecord> cancel(OrderId, const BuyerId&, Instant now) override;
    StoreResult<void> idle() override { return {}; }
    const std::optional<StoreError>& failure() const override { return failure_; }

private:
    StoreResult<void> commit(const char* operation, OrdersState&& next);

    OrdersState& state_;
    MemoryOrdersReader reader_;
    Disk& disk_;
    std::optional<StoreError> failure_;
};

}  // namespace doorbuster::sim
