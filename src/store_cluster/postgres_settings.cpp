#include "store_cluster/postgres_settings.hpp"

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

namespace {

std::optional<std::string> text_in(const pg::Rows& rows) {
    return pg::first_of(rows, [](const pg::Row& row) { return std::string(row.bytes(0)); });
}

}  // namespace

std::optional<std::string> PostgresSettings::read(std::string_view name) {
    return text_in(connection_.run("SELECT text FROM settings WHERE name = $1", pg::Params().add(name)));
}

std::optional<std::string> PostgresSettings::read_unless(std::string_view name, const Digest& seen) {
    return text_in(connection_.run("SELECT text FROM settings WHERE name = $1 AND sha256(text) <> $2",
                                   pg::Params().add(name).add_bytes(bytes_of(seen))));
}

void PostgresSettings::queue_write(std::string_view name, std::string_view text) {
    connection_.queue(
        "INSERT INTO settings(name, text) VALUES($1, $2) ON CONFLICT(name) DO UPDATE SET text = $2",
        pg::Params().add(name).add_bytes(text));
}

StoreResult<std::optional<std::string>> PostgresSettings::get(std::string_view name) {
    return pg::guarded("reading a setting", [&] { return read(name); });
}

StoreResult<std::optional<std::string>> PostgresSettings::get_unless(std::string_view name,
                                                                     const Digest& seen) {
    return pg::guarded("reading a setting", [&] { return read_unless(name, seen); });
}

StoreResult<void> PostgresSettings::put(std::string_view name, std::string_view text) {
    return pg::transacted(failure_, "writing a setting", [&] {
        pg::Transaction transaction(connection_);
        queue_write(name, text);
        transaction.commit();
    });
}

StoreResult<void> PostgresSettings::change(std::string_view name, const std::optional<Digest>& seen,
                                           const Edit& edit) {
    return pg::transacted(failure_, "writing a setting", [&] {
        pg::Transaction transaction(connection_);
        // Of the table, not of the row, which may not be there yet. Readers pass; writers wait their turn,
        // for statement_max at most.
        connection_.queue("LOCK TABLE settings IN SHARE ROW EXCLUSIVE MODE");
        const auto edited = edit(seen ? read_unless(name, *seen) : read(name));
        if (!edited) throw StoreFailure(edited.error());
        queue_write(name, *edited);
        transaction.commit();
    });
}

}  // namespace doorbuster
