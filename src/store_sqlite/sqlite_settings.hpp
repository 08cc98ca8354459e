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
    StoreResult<void> put(std::string_view name, std::string_view text) override;

private:
    sqlite::Connection& connection_;
    std::optional<StoreError>& failure_;
    sqlite::Statement get_, put_;
};

}  // namespace doorbuster
