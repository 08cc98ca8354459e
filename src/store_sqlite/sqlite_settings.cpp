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

std::optional<std::string> SqliteSettings::read(std::string_view name) {
    Rows rows(get_.bind(1, name));
    return rows.next() ? std::optional(std::string(get_.blob(0))) : std::nullopt;
}

std::optional<std::string> SqliteSettings::read_unless(std::string_view name, const Digest& seen) {
    auto text = read(name);
    return text && sha256(*text) == seen ? std::nullopt : std::move(text);
}

void SqliteSettings::write(std::string_view name, std::string_view text) {
    // SQLite takes a null pointer for NULL, and an empty view may have one.
    put_.bind(1, name).bind_blob(2, text.empty() ? "" : text.data(), text.size()).run();
}

StoreResult<std::optional<std::string>> SqliteSettings::get(std::string_view name) {
    return guarded("reading a setting", [&] { return read(name); });
}

StoreResult<std::optional<std::string>> SqliteSettings::get_unless(std::string_view name,
                                                                   const Digest& seen) {
    return guarded("reading a setting", [&] { return read_unless(name, seen); });
}

StoreResult<void> SqliteSettings::put(std::string_view name, std::string_view text) {
    return written(failure_, "writing a setting", [&] {
        Transaction transaction(connection_);
        write(name, text);
        transaction.commit();
    });
}

StoreResult<void> SqliteSettings::change(std::string_view name, const std::optional<Digest>& seen,
                                         const Edit& edit) {
    return written(failure_, "writing a setting", [&]() -> void {
        Transaction transaction(connection_);
        const auto edited = edit(seen ? read_unless(name, *seen) : read(name));
        if (!edited) throw sqlite::Failure(edited.error());
        write(name, *edited);
        transaction.commit();
    });
}

}  // namespace doorbuster
