// Settings in orders.db, on the connection that writes the orders.
#pragma once

#include "store/settings.hpp"
#include "store_sqlite/sqlite.hpp"

namespace doorbuster {

class SqliteSettings final : public Settings {
public:
    // `failure` remembers the first write whose outcome is unknown, together with the orders': both
    // share one connection, and after it nothing is tried again.
    // REQUIRES: the connection is prepared with orders_schema; both outlive this.
    SqliteSettings(sqlite::Connection& connection, std::optional<StoreError>& failure);

    StoreResult<std::optional<std::string>> get(std::string_view name) override;
    StoreResult<std::optional<std::string>> get_unless(std::string_view name, const Digest& seen) override;
    StoreResult<void> put(std::string_view name, std::string_view text) override;
    StoreResult<void> change(std::string_view name, const std::optional<Digest>& seen,
                             const Edit& edit) override;

private:
    std::optional<std::string> read(std::string_view name);
    std::optional<std::string> read_unless(std::string_view name, const Digest& seen);
    void write(std::string_view name, std::string_view text);

    sqlite::Connection& connection_;
    std::optional<StoreError>& failure_;
    sqlite::Statement get_, put_;
};

}  // namespace doorbuster
