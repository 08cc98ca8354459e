// Settings in PostgreSQL, on the connection that writes the orders.
#pragma once

#include "store/settings.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

class PostgresSettings final : public Settings {
public:
    // `failure` is shared with the orders.
    // REQUIRES: the connection's schema is prepared; both outlive this.
    PostgresSettings(pg::Connection& connection, std::optional<StoreError>& failure)
        : connection_(connection), failure_(failure) {}

    StoreResult<std::optional<std::string>> get(std::string_view name) override;
    StoreResult<std::optional<std::string>> get_unless(std::string_view name, const Digest& seen) override;
    StoreResult<void> put(std::string_view name, std::string_view text) override;
    StoreResult<void> change(std::string_view name, const std::optional<Digest>& seen,
                             const Edit& edit) override;

private:
    std::optional<std::string> read(std::string_view name);
    std::optional<std::string> read_unless(std::string_view name, const Digest& seen);
    void queue_write(std::string_view name, std::string_view text);

    pg::Connection& connection_;
    std::optional<StoreError>& failure_;
};

}  // namespace doorbuster
