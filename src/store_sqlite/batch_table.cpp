#include "store_sqlite/batch_table.hpp"

#include <new>

#include "base/check.hpp"

namespace doorbuster::sqlite {

namespace {

enum Column : int {
    purchase,
    sale,
    item,
    buyer,
    key_of_buyer,
    units,
    sequence,
    accepted_at_ms,
    position,
    order_id,
    amount_minor,
    currency,
    payment_window_ms,
    hold,
};

struct Table : sqlite3_vtab {
    const BatchTable* batch;
};

struct Cursor : sqlite3_vtab_cursor {
    size_t at;
};

const BatchTable& batch_of(const sqlite3_vtab_cursor* cursor) {
    return *static_cast<const Table*>(cursor->pVtab)->batch;
}

void give(sqlite3_context* to, std::string_view text) {
    sqlite3_result_text(to, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}

void give(sqlite3_context* to, int64_t number) {
    sqlite3_result_int64(to, number);
}

int connect(sqlite3* database, void* batch, int, const char* const*, sqlite3_vtab** made, char**) {
    if (const int code = sqlite3_declare_vtab(database, BatchTable::columns); code != SQLITE_OK) return code;
    auto* table = new (std::nothrow) Table{};
    if (table == nullptr) return SQLITE_NOMEM;
    table->batch = static_cast<const BatchTable*>(batch);
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
    return static_cast<Cursor*>(cursor)->at >= batch_of(cursor).placements().size() ? 1 : 0;
}

int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
    *number = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->at);
    return SQLITE_OK;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* to, int which) {
    const size_t at = static_cast<Cursor*>(cursor)->at;
    const BatchTable& batch = batch_of(cursor);
    const Placement& placement = batch.placements()[at];
    const BatchTable::Terms& terms = batch.terms(at);
    const LedgerEntry& entry = *placement.record.entry;
    const Acceptance& acceptance = entry.acceptance;
    switch (which) {
        case purchase:
            sqlite3_result_blob(to, acceptance.purchase.bytes.data(),
                                static_cast<int>(acceptance.purchase.bytes.size()), SQLITE_STATIC);
            break;
        case sale:
            give(to, entry.sale.view());
            break;
        case item:
            give(to, entry.item.view());
            break;
        case buyer:
            give(to, acceptance.buyer.view());
            break;
        case key_of_buyer:
            give(to, buyer_key(acceptance.buyer.view()));
            break;
        case units:
            give(to, static_cast<int64_t>(acceptance.units));
            break;
        case sequence:
            give(to, static_cast<int64_t>(acceptance.sequence));
            break;
        case accepted_at_ms:
            give(to, to_ms(acceptance.accepted_at));
            break;
        case position:
            give(to, static_cast<int64_t>(placement.record.position));
            break;
        case order_id:
            give(to, static_cast<int64_t>(placement.order));
            break;
        case amount_minor:
            give(to, terms.price_minor * static_cast<int64_t>(acceptance.units));
            break;
        case currency:
            give(to, terms.currency);
            break;
        case payment_window_ms:
            give(to, terms.payment_window_ms);
            break;
        case hold:
            give(to, terms.hold);
            break;
        default:
            break;
    }
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

void BatchTable::attach(Connection& connection) {
    const int code = sqlite3_create_module(connection.raw(), "batch", &module, this);
    if (code != SQLITE_OK) connection.fail(code);
}

void BatchTable::show(std::span<const Placement> placements, std::span<const Terms* const> terms) {
    CHECK(placements.size() == terms.size());
    placements_ = placements;
    terms_ = terms;
}

// FNV-1a, folded.
int64_t buyer_key(std::string_view buyer) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : buyer) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return static_cast<int32_t>(static_cast<uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace doorbuster::sqlite
