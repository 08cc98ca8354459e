#include "store_sqlite/sqlite_settings.hpp"

namespace doorbuster {

using sqlite::guarded;
using sqlite::Rows;
using sqlite::Transaction;
using sqlite::written;

SqliteSettings::SqliteSettings(sqlite::Connection& connection, std::optional<StoreError>& failure)
    : connection_(connection),
      failure_(failure),
      get_(connection, "SELECT text FROM settings WHERE name = ?"),
      put_(connection,
           "INSERT INTO settings(name, text) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET text = ?2") {}

StoreResult<std::optional<std::string>> SqliteSettings::get(std::string_view name) {
    return guarded("reading a setting", [&] {
        Rows rows(get_.bind(1, name));
        return rows.next() ? std::optional(std::string(get_.blob(0))) : std::nullopt;
    });
}

StoreResult<void> SqliteSettings::put(std::string_view name, std::string_view text) {
    return written(failure_, "writing a setting", [&] {
        Transaction transaction(connection_);
        // SQLite takes a null pointer for NULL, and an empty view may have one.
        put_.bind(1, name).bind_blob(2, text.empty() ? "" : text.data(), text.size()).run();
        transaction.commit();
    });
}

}  // namespace doorbuster
