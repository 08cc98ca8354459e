#include "store_sqlite/memory_table.hpp"

#include <new>

namespace doorbuster::sqlite {

namespace {

struct Table : sqlite3_vtab {
    const MemoryTable* rows;
};

struct Cursor : sqlite3_vtab_cursor {
    size_t at;
};

const MemoryTable& rows_of(const sqlite3_vtab_cursor* cursor) {
    return *static_cast<const Table*>(cursor->pVtab)->rows;
}

int connect(sqlite3* database, void* rows, int, const char* const*, sqlite3_vtab** made, char**) {
    const auto* table_rows = static_cast<const MemoryTable*>(rows);
    if (const int code = sqlite3_declare_vtab(database, table_rows->columns()); code != SQLITE_OK)
        return code;
    auto* table = new (std::nothrow) Table{};
    if (table == nullptr) return SQLITE_NOMEM;
    table->rows = table_rows;
    *made = table;
    return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) {
    return SQLITE_OK;  // it is always read from the first to the last
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
    auto* cursor = new (std::nothrow) Cursor{};
    if (cursor == nullptr) return SQLITE_NOMEM;
    *made = cursor;
    return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    static_cast<Cursor*>(cursor)->at = 0;
    return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
    ++static_cast<Cursor*>(cursor)->at;
    return SQLITE_OK;
}

int is_at_end(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->at >= rows_of(cursor).size() ? 1 : 0;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->at);
    return SQLITE_OK;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int which) {
    rows_of(cursor).give(to, static_cast<Cursor*>(cursor)->at, which);
    return SQLITE_OK;
}

// Without xCreate it is there once per connection, under its module's name.
const sqlite3_module module = [] {
    sqlite3_module made{};
    made.xConnect = connect;
    made.xBestIndex = best_index;
    made.xDisconnect = disconnect;
    made.xOpen = open;
    made.xClose = close;
    made.xFilter = filter;
    made.xNext = next;
    made.xEof = is_at_end;
    made.xColumn = column;
    made.xRowid = rowid;
    return made;
}();

}  // namespace

void MemoryTable::attach(Connection& connection, const char* name) {
    const int code = sqlite3_create_module(connection.raw(), name, &module, this);
    if (code != SQLITE_OK) connection.fail(code);
}

}  // namespace doorbuster::sqlite
