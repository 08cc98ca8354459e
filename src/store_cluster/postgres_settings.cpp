#include "store_cluster/postgres_settings.hpp"

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

StoreResult<std::optional<std::string>> PostgresSettings::get(std::string_view name) {
    return pg::guarded("reading a setting", [&] {
        return pg::first_of(
            connection_.run("SELECT text FROM settings WHERE name = $1", pg::Params().add(name)),
            [](const pg::Row& row) { return std::string(row.bytes(0)); });
    });
}

StoreResult<void> PostgresSettings::put(std::string_view name, std::string_view text) {
    return pg::transacted(failure_, "writing a setting", [&] {
        pg::Transaction transaction(connection_);
        connection_.queue(
            "INSERT INTO settings(name, text) VALUES($1, $2) ON CONFLICT(name) DO UPDATE SET text = $2",
            pg::Params().add(name).add_bytes(text));
        transaction.commit();
    });
}

}  // namespace doorbuster
