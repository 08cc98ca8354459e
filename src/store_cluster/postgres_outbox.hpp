// Outbox in PostgreSQL, on the connection that writes the orders.
#pragma once

#include "store/outbox.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

class PostgresOutbox final : public Outbox {
public:
    // `failure` is shared with the orders.
    // REQUIRES: the connection's schema is prepared; both outlive this.
    PostgresOutbox(pg::Connection& connection, std::optional<StoreError>& failure)
        : connection_(connection), failure_(failure) {}

    StoreResult<size_t> take_events(size_t count_max, bool deliver, Instant now) override;
    StoreResult<uint64_t> position() override;
    StoreResult<std::vector<Delivery>> due(Instant now, size_t count_max) override;
    StoreResult<void> note(std::span<const DeliveryNote>, Instant now) override;
    StoreResult<Delivery> resend(uint64_t event, Instant now) override;
    StoreResult<std::vector<Delivery>> deliveries(std::optional<DeliveryState>,
                                                  std::optional<uint64_t> before, size_t count_max) override;
    StoreResult<std::optional<Delivery>> find_delivery(uint64_t event) override;
    StoreResult<std::vector<DeliveryAttempt>> attempts_of(uint64_t event) override;
    StoreResult<DeliveryBacklog> backlog() override;

private:
    void queue_note(const DeliveryNote&, Instant now);

    pg::Connection& connection_;
    std::optional<StoreError>& failure_;
};

}  // namespace doorbuster
