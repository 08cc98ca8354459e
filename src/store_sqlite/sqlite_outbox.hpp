// Outbox in orders.db, on the connection that writes the orders.
#pragma once

#include "store/outbox.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster {

class SqliteOutbox final : public Outbox {
public:
    // `failure` remembers the first write whose outcome is unknown, together with the orders': both
    // share one connection, and after it nothing is tried again.
    // REQUIRES: the connection is prepared with orders_schema, and nobody writes events but through it; both
    // outlive this.
    SqliteOutbox(sqlite::Connection& connection, std::optional<StoreError>& failure);

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
    void write_note(const DeliveryNote&, Instant now);

    template <class Body>
    auto writing(std::string_view operation, Body&& body) {
        return sqlite::written(failure_, operation, std::forward<Body>(body));
    }

    sqlite::Connection& connection_;
    int64_t looked_at_changes_ = -1;  // there were no new events when it had changed so much
    std::optional<StoreError>& failure_;
    sqlite::Statement position_, last_, take_, move_, due_, change_, log_, trim_, ask_again_, one_;
    sqlite::Statement newest_, newest_pending_, newest_failed_, newest_delivered_, attempts_, oldest_,
        pending_;
};

}  // namespace doorbuster
