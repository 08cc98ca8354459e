// The outbox beside the orders in memory, on the same disk. Passes the outbox's contract.
#pragma once

#include "sim/memory_orders.hpp"

namespace doorbuster::sim {

class MemoryOutbox final : public Outbox {
public:
    MemoryOutbox(OrdersState& state, Disk& disk) : state_(state), disk_(disk) {}

    StoreResult<size_t> take_events(size_t count_max, bool deliver, Instant now) override;
    StoreResult<uint64_t> position() override { return read(state_.events_taken); }
    StoreResult<std::vector<Delivery>> due(Instant now, size_t count_max) override;
    StoreResult<void> note(std::span<const DeliveryNote>, Instant now) override;
    StoreResult<Delivery> resend(uint64_t event, Instant now) override;
    StoreResult<std::vector<Delivery>> deliveries(std::optional<DeliveryState>,
                                                  std::optional<uint64_t> before, size_t count_max) override;
    StoreResult<std::optional<Delivery>> find_delivery(uint64_t event) override;
    StoreResult<std::vector<DeliveryAttempt>> attempts_of(uint64_t event) override;
    StoreResult<DeliveryBacklog> backlog() override;

private:
    template <class Value>
    StoreResult<Value> read(Value value) {
        const auto done = disk_.read(Fault::failed_outbox_read, "reading the outbox");
        if (!done) return done.error();
        return value;
    }
    void put(Change&, uint64_t event, Instant now);

    OrdersState& state_;
    Disk& disk_;
};

}  // namespace doorbuster::sim
