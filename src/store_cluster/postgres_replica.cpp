#include "store_cluster/postgres_replica.hpp"

#include "base/log.hpp"

namespace doorbuster {

using std::chrono::steady_clock;

namespace {

// No row's time is compared: only when the copy last applied a commit, by the primary's clock and its own.
constexpr std::string_view is_fresh =
    "SELECT coalesce(pg_is_in_recovery() AND clock_timestamp() - pg_last_xact_replay_timestamp() "
    "<= interval '1 ms' * $1::bigint, false)";

}  // namespace

StoreResult<std::optional<OrderRecord>> PostgresReplica::find_order(OrderId id) {
    std::optional<OrderRecord> found;
    const bool is_asked = ask_replica([&](OrdersReader& reader) {
        auto read = reader.find_order(id);
        if (read) found = *std::move(read);
        return read.has_value();
    });
    if (is_asked && found) return found;
    return primary_.find_order(id);
}

StoreResult<std::vector<OrderRecord>> PostgresReplica::orders_of(const BuyerId& buyer,
                                                                 std::optional<OrderId> before,
                                                                 size_t count_max) {
    std::vector<OrderRecord> orders;
    const bool is_asked = ask_replica([&](OrdersReader& reader) {
        auto read = reader.orders_of(buyer, before, count_max);
        if (read) orders = *std::move(read);
        return read.has_value();
    });
    if (is_asked) return orders;
    return primary_.orders_of(buyer, before, count_max);
}

bool PostgresReplica::ask_replica(const std::function<bool(OrdersReader&)>& read) {
    if (steady_clock::now() < asks_again_at_) return false;
    const auto asked = pg::guarded("reading from the replica", [&] {
        const pg::Pool::Handle connection = replica_.take();
        const pg::Rows fresh = connection->run(is_fresh, pg::Params().add(options_.behind_max.count()));
        if (!fresh.front().flag(0)) return false;
        PostgresOrdersReader reader(*connection);
        if (!read(reader)) throw pg::Failure(StoreErrc::unavailable, "it did not answer");
        return true;
    });
    if (asked) return *asked;
    asks_again_at_ = steady_clock::now() + options_.away_for;
    log_warn("orders are read from the primary", {{"error", asked.error().text()}});
    return false;
}

}  // namespace doorbuster
