#include "store_sqlite/sqlite.hpp"

#include <cstring>

#include "base/check.hpp"

namespace doorbuster::sqlite {

namespace {

StoreErrc errc_of(int code) {
    switch (code & 0xff) {
        case SQLITE_FULL:
            return StoreErrc::full;
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return StoreErrc::read_only;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
            return StoreErrc::damaged;
        case SQLITE_CONSTRAINT:
            return StoreErrc::not_allowed;
        default:
            return StoreErrc::unavailable;
    }
}

}  // namespace

Connection::Connection(const std::string& path, Access access) {
    // Counting every allocation takes a lock that all threads share: a tenth of an order's
    // time. Refused once somebody else has used SQLite in this process, which is no harm.
    [[maybe_unused]] static const int uncounted = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE |
                      (access == Access::write ? SQLITE_OPEN_CREATE : 0);
    if (const int code = sqlite3_open_v2(path.c_str(), &database_, flags, nullptr); code != SQLITE_OK) {
        const Failure failure(errc_of(code), database_ ? sqlite3_errmsg(database_) : sqlite3_errstr(code));
        sqlite3_close(database_);
        throw failure;
    }
    sqlite3_busy_timeout(database_, 5000);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    // Closing must not write into a database that was only looked at.
    sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    // The owner decides when to checkpoint; this only counts what waits for one.
    sqlite3_wal_hook(
        database_,
        [](void* frames, sqlite3*, const char*, int count) {
            *static_cast<int*>(frames) = count;
            return SQLITE_OK;
        },
        &log_frames_);
}

Connection::~Connection() {
    const int code = sqlite3_close(database_);
    CHECK(code == SQLITE_OK);  // a statement outlived its connection
}

void Connection::execute(const char* sql) {
    if (const int code = sqlite3_exec(database_, sql, nullptr, nullptr, nullptr); code != SQLITE_OK)
        fail(code);
}

int64_t Connection::read_integer(const char* sql) {
    Statement statement(*this, sql);
    Rows rows(statement);
    return rows.next() ? rows->integer(0) : 0;
}

int Connection::changes() const {
    return sqlite3_changes(database_);
}

int64_t Connection::changes_total() const {
    return sqlite3_total_changes64(database_);
}

void Connection::checkpoint() {
    if (log_frames_ == 0) return;
    const int code =
        sqlite3_wal_checkpoint_v2(database_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED) fail(code);
    log_frames_ = 0;
}

void Connection::fail(int code, bool outcome_unknown) const {
    std::string detail = sqlite3_errmsg(database_);
    if (const int number = sqlite3_system_errno(database_); number != 0) {
        detail += " (";
        detail += std::strerror(number);
        detail += ')';
    }
    throw Failure(errc_of(code), std::move(detail), outcome_unknown);
}

Statement::Statement(Connection& connection, std::string_view sql) : connection_(&connection) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(connection.raw(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    statement_.reset(statement);
    if (code != SQLITE_OK) connection.fail(code);
}

Statement& Statement::bind(int at, int64_t value) {
    CHECK(sqlite3_bind_int64(statement_.get(), at, value) == SQLITE_OK);
    return *this;
}

Statement& Statement::bind(int at, std::string_view text) {
    // STATIC: what is bound outlives the run, which every caller does in the same expression.
    CHECK(sqlite3_bind_text(statement_.get(), at, text.data(), static_cast<int>(text.size()),
                            SQLITE_STATIC) == SQLITE_OK);
    return *this;
}

Statement& Statement::bind_blob(int at, const void* bytes, size_t size) {
    CHECK(sqlite3_bind_blob(statement_.get(), at, bytes, static_cast<int>(size), SQLITE_STATIC) == SQLITE_OK);
    return *this;
}

Statement& Statement::bind_null(int at) {
    CHECK(sqlite3_bind_null(statement_.get(), at) == SQLITE_OK);
    return *this;
}

bool Statement::step() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    sqlite3_reset(statement_.get());
    if (code != SQLITE_DONE) connection_->fail(code);
    return false;
}

int Statement::run() {
    const bool has_row = step();
    CHECK(!has_row);
    return connection_->changes();
}

bool Statement::try_to_run() {
    const int code = sqlite3_step(statement_.get());
    CHECK(code != SQLITE_ROW);
    sqlite3_reset(statement_.get());
    if ((code & 0xff) == SQLITE_CONSTRAINT) return false;
    if (code != SQLITE_DONE) connection_->fail(code);
    return true;
}

void Statement::reset() {
    sqlite3_reset(statement_.get());
}

int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return bytes == nullptr
               ? std::string_view()
               : std::string_view(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

std::string_view Statement::blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
    return bytes == nullptr
               ? std::string_view()
               : std::string_view(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
    connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
    // A failed statement may have rolled back already; then there is nothing to undo.
    if (open_ && sqlite3_get_autocommit(connection_.raw()) == 0) {
        sqlite3_exec(connection_.raw(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Transaction::commit() {
    const int code = sqlite3_exec(connection_.raw(), "COMMIT", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) connection_.fail(code, true);
    open_ = false;
    if (connection_.after_commit_) connection_.after_commit_();
}

}  // namespace doorbuster::sqlite
