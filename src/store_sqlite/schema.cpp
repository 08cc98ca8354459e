#include "store_sqlite/schema.hpp"

#include <fmt/format.h>

#include "store_sqlite/batch_table.hpp"

namespace doorbuster::sqlite {

namespace {

constexpr const char* ledger_migrations[] = {
    R"sql(
    CREATE TABLE ledger(
        position       INTEGER PRIMARY KEY,
        sale           TEXT    NOT NULL,
        item           TEXT    NOT NULL,
        epoch          INTEGER NOT NULL DEFAULT 0,
        bucket         INTEGER NOT NULL DEFAULT 0,
        sequence       INTEGER NOT NULL,
        purchase       BLOB    NOT NULL UNIQUE,
        buyer          TEXT    NOT NULL,
        units          INTEGER NOT NULL,
        accepted_at_ms INTEGER NOT NULL,
        UNIQUE(sale, item, epoch, bucket, sequence)
    );
    )sql",
    // The finished purchase that a record continues, if any.
    "ALTER TABLE ledger ADD COLUMN replaces BLOB",
    // No index on the purchase: its entries land anywhere in the tree, and each dirties a page, which was two
    // thirds of what a record cost and nine tenths of what it wrote. A purchase is unique in the book, which
    // decides, and in `purchases`, where every record goes; until then it is found among the few that wait.
    R"sql(
    CREATE TABLE ledger_in_order(
        position       INTEGER PRIMARY KEY,
        sale           TEXT    NOT NULL,
        item           TEXT    NOT NULL,
        epoch          INTEGER NOT NULL DEFAULT 0,
        bucket         INTEGER NOT NULL DEFAULT 0,
        sequence       INTEGER NOT NULL,
        purchase       BLOB    NOT NULL,
        buyer          TEXT    NOT NULL,
        units          INTEGER NOT NULL,
        accepted_at_ms INTEGER NOT NULL,
        replaces       BLOB,
        UNIQUE(sale, item, epoch, bucket, sequence)
    );
    INSERT INTO ledger_in_order SELECT position, sale, item, epoch, bucket, sequence, purchase, buyer, units,
        accepted_at_ms, replaces FROM ledger;
    DROP TABLE ledger;
    ALTER TABLE ledger_in_order RENAME TO ledger;
    )sql",
    // An index over every record's sequence was half of what a record cost. Numbers only rise, so the last
    // one of each item says as much: whoever appends moves it on, and is refused where it is not below
    // theirs.
    R"sql(
    CREATE TABLE ledger_by_position(
        position       INTEGER PRIMARY KEY,
        sale           TEXT    NOT NULL,
        item           TEXT    NOT NULL,
        epoch          INTEGER NOT NULL DEFAULT 0,
        bucket         INTEGER NOT NULL DEFAULT 0,
        sequence       INTEGER NOT NULL,
        purchase       BLOB    NOT NULL,
        buyer          TEXT    NOT NULL,
        units          INTEGER NOT NULL,
        accepted_at_ms INTEGER NOT NULL,
        replaces       BLOB
    );
    INSERT INTO ledger_by_position SELECT position, sale, item, epoch, bucket, sequence, purchase, buyer, units,
        accepted_at_ms, replaces FROM ledger;
    DROP TABLE ledger;
    ALTER TABLE ledger_by_position RENAME TO ledger;
    CREATE TABLE last_sequences(
        sale     TEXT    NOT NULL,
        item     TEXT    NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY(sale, item)
    ) WITHOUT ROWID;
    INSERT INTO last_sequences SELECT sale, item, max(sequence) FROM ledger GROUP BY sale, item;
    )sql",
};

// What is in flight (in the ledger, behind the worker's position) is still available here.
constexpr const char* orders_migrations[] = {
    R"sql(
    CREATE TABLE sales(
        id               TEXT    PRIMARY KEY,
        state            TEXT    NOT NULL,
        version          INTEGER NOT NULL,
        title            TEXT    NOT NULL,
        opens_at_ms      INTEGER NOT NULL,
        closes_at_ms     INTEGER NOT NULL,
        warm_before_s    INTEGER NOT NULL,
        stock_policy     TEXT    NOT NULL,
        payment_window_s INTEGER NOT NULL,
        human_check      TEXT    NOT NULL,
        created_at_ms    INTEGER NOT NULL,
        updated_at_ms    INTEGER NOT NULL,
        CHECK(closes_at_ms > opens_at_ms)
    ) WITHOUT ROWID;

    CREATE TABLE items(
        sale                 TEXT    NOT NULL REFERENCES sales(id),
        id                   TEXT    NOT NULL,
        ordinal              INTEGER NOT NULL,
        name                 TEXT    NOT NULL,
        price_minor          INTEGER NOT NULL CHECK(price_minor >= 0),
        original_price_minor INTEGER NOT NULL,
        currency             TEXT    NOT NULL,
        units_per_buyer_max  INTEGER NOT NULL CHECK(units_per_buyer_max >= 1),
        units_total          INTEGER NOT NULL CHECK(units_total BETWEEN 1 AND 4000000000),
        units_available      INTEGER NOT NULL CHECK(units_available >= 0),
        units_held           INTEGER NOT NULL CHECK(units_held >= 0),
        units_sold           INTEGER NOT NULL CHECK(units_sold >= 0),
        version              INTEGER NOT NULL,
        PRIMARY KEY(sale, id),
        CHECK(units_available + units_held + units_sold == units_total)
    ) WITHOUT ROWID;

    -- The worker's inbox: every purchase that left the ledger, for as long as the sale is kept.
    CREATE TABLE purchases(
        id             BLOB    PRIMARY KEY,
        sale           TEXT    NOT NULL,
        item           TEXT    NOT NULL,
        buyer          TEXT    NOT NULL,
        units          INTEGER NOT NULL,
        sequence       INTEGER NOT NULL,
        accepted_at_ms INTEGER NOT NULL,
        position       INTEGER NOT NULL,
        state          TEXT    NOT NULL CHECK(state IN ('ordered', 'cancelled')),
        reason         TEXT,
        order_id       INTEGER,
        CHECK(state == 'cancelled' OR order_id IS NOT NULL)
    ) WITHOUT ROWID;

    CREATE TABLE orders(
        id            INTEGER PRIMARY KEY,
        purchase      BLOB    NOT NULL UNIQUE,
        sale          TEXT    NOT NULL,
        item          TEXT    NOT NULL,
        buyer         TEXT    NOT NULL,
        units         INTEGER NOT NULL CHECK(units >= 1),
        amount_minor  INTEGER NOT NULL CHECK(amount_minor >= 0),
        currency      TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        version       INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        pay_by_ms     INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        FOREIGN KEY(sale, item) REFERENCES items(sale, id)
    );
    CREATE INDEX orders_by_buyer ON orders(buyer, id);

    -- Active units of a buyer; no row means none.
    CREATE TABLE buyer_holdings(
        sale  TEXT    NOT NULL,
        item  TEXT    NOT NULL,
        buyer TEXT    NOT NULL,
        units INTEGER NOT NULL CHECK(units >= 1),
        PRIMARY KEY(sale, item, buyer)
    ) WITHOUT ROWID;

    CREATE TABLE dead_letters(
        position     INTEGER PRIMARY KEY,
        reason       TEXT    NOT NULL,
        record       TEXT    NOT NULL,
        buried_at_ms INTEGER NOT NULL
    );

    CREATE TABLE worker(
        only_row INTEGER PRIMARY KEY CHECK(only_row == 1),
        position INTEGER NOT NULL
    );
    INSERT INTO worker VALUES(1, 0);
    )sql",
    // Rows in the order of the ledger: a purchase's id is as good as random, and a whole row
    // at a random place dirties a page of its own, where the id alone shares one.
    R"sql(
    CREATE TABLE purchases_by_position(
        id             BLOB    NOT NULL UNIQUE,
        sale           TEXT    NOT NULL,
        item           TEXT    NOT NULL,
        buyer          TEXT    NOT NULL,
        units          INTEGER NOT NULL,
        sequence       INTEGER NOT NULL,
        accepted_at_ms INTEGER NOT NULL,
        position       INTEGER PRIMARY KEY,
        state          TEXT    NOT NULL CHECK(state IN ('ordered', 'cancelled')),
        reason         TEXT,
        order_id       INTEGER,
        CHECK(state == 'cancelled' OR order_id IS NOT NULL)
    );
    INSERT INTO purchases_by_position SELECT * FROM purchases;
    DROP TABLE purchases;
    ALTER TABLE purchases_by_position RENAME TO purchases;
    )sql",
    R"sql(
    ALTER TABLE sales ADD COLUMN pow_number_max INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sales ADD COLUMN purchases_per_second_max INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sales ADD COLUMN buyers_per_address_max INTEGER NOT NULL DEFAULT 0;
    )sql",
    R"sql(
    CREATE TABLE settings(
        name TEXT PRIMARY KEY,
        text BLOB NOT NULL
    ) WITHOUT ROWID;
    )sql",
    // An index entry of a hash or a name lands anywhere in its tree, and dirties a page nearly
    // every time: that is most of what an order costs. Two of four are needed.
    // - A purchase has one order because it names one, and its id stands in `purchases` once.
    // - A buyer's active units are counted from the orders, in the index that finds them.
    R"sql(
    CREATE UNIQUE INDEX purchases_by_order ON purchases(order_id, id);
    CREATE TABLE orders_by_id(
        id            INTEGER PRIMARY KEY,
        purchase      BLOB    NOT NULL,
        sale          TEXT    NOT NULL,
        item          TEXT    NOT NULL,
        buyer         TEXT    NOT NULL,
        units         INTEGER NOT NULL CHECK(units >= 1),
        amount_minor  INTEGER NOT NULL CHECK(amount_minor >= 0),
        currency      TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        version       INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        pay_by_ms     INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        units_active  INTEGER NOT NULL GENERATED ALWAYS AS
            (CASE WHEN state IN ('pending_payment', 'paying', 'paid', 'voiding') THEN units ELSE 0 END) VIRTUAL,
        FOREIGN KEY(sale, item) REFERENCES items(sale, id),
        FOREIGN KEY(id, purchase) REFERENCES purchases(order_id, id)
    );
    INSERT INTO orders_by_id SELECT * FROM orders;
    DROP TABLE orders;
    ALTER TABLE orders_by_id RENAME TO orders;
    CREATE INDEX orders_by_buyer ON orders(buyer, sale, item, units_active);

    DROP TABLE buyer_holdings;
    CREATE VIEW buyer_holdings AS
        SELECT sale, item, buyer, sum(units_active) AS units FROM orders WHERE units_active > 0
        GROUP BY sale, item, buyer;
    )sql",
    // How many units' worth of orders may be open at once where a unit is taken at payment; zero
    // says twice the units.
    "ALTER TABLE items ADD COLUMN orders_max INTEGER NOT NULL DEFAULT 0",

    // Money and time. What an order has of its units stands in `hold`, under which id the book knows
    // that in `holder` (null: the purchase's own): both change by conditional updates alone.
    R"sql(
    CREATE TABLE orders_with_payment(
        id            INTEGER PRIMARY KEY,
        purchase      BLOB    NOT NULL,
        sale          TEXT    NOT NULL,
        item          TEXT    NOT NULL,
        buyer         TEXT    NOT NULL,
        units         INTEGER NOT NULL CHECK(units >= 1),
        amount_minor  INTEGER NOT NULL CHECK(amount_minor >= 0),
        currency      TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        version       INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        pay_by_ms     INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        hold          TEXT    NOT NULL CHECK(hold IN ('held', 'sold', 'open', 'finished')),
        holder        BLOB,
        payment       INTEGER,
        falls_to      TEXT,
        reason        TEXT,
        units_active  INTEGER NOT NULL GENERATED ALWAYS AS
            (CASE WHEN hold == 'finished' THEN 0 ELSE units END) VIRTUAL,
        CHECK(state != 'paid' OR hold == 'sold'),
        FOREIGN KEY(sale, item) REFERENCES items(sale, id),
        FOREIGN KEY(id, purchase) REFERENCES purchases(order_id, id)
    );
    INSERT INTO orders_with_payment SELECT id, purchase, sale, item, buyer, units, amount_minor, currency,
        state, version, created_at_ms, pay_by_ms, updated_at_ms,
        CASE WHEN state == 'cancelled' THEN 'finished' ELSE 'held' END, NULL, NULL, NULL,
        CASE WHEN state == 'cancelled' THEN 'cancelled by the buyer' END FROM orders;
    DROP VIEW buyer_holdings;
    DROP TABLE orders;
    ALTER TABLE orders_with_payment RENAME TO orders;
    CREATE INDEX orders_by_buyer ON orders(buyer, sale, item, units_active);
    -- Few at any time but in the rush itself, when they arrive in this order.
    CREATE INDEX orders_due ON orders(pay_by_ms) WHERE state IN ('pending_payment', 'paying');
    CREATE INDEX orders_between ON orders(state) WHERE state IN ('voiding', 'reinstating', 'refunding');
    CREATE VIEW buyer_holdings AS
        SELECT sale, item, buyer, sum(units_active) AS units FROM orders WHERE units_active > 0
        GROUP BY sale, item, buyer;
    -- What an order knows of its purchase's end it tells itself.
    UPDATE purchases SET state = 'ordered', reason = NULL WHERE order_id IS NOT NULL;

    CREATE TABLE payments(
        id                INTEGER PRIMARY KEY,
        order_id          INTEGER NOT NULL REFERENCES orders(id),
        state             TEXT    NOT NULL,
        version           INTEGER NOT NULL,
        amount_minor      INTEGER NOT NULL,
        currency          TEXT    NOT NULL,
        captured_minor    INTEGER NOT NULL,
        captured_currency TEXT    NOT NULL,
        url               TEXT    NOT NULL,
        created_at_ms     INTEGER NOT NULL,
        updated_at_ms     INTEGER NOT NULL,
        look_at_ms        INTEGER,
        looks             INTEGER NOT NULL
    );
    CREATE INDEX payments_by_order ON payments(order_id);
    CREATE INDEX payments_due ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL;
    CREATE UNIQUE INDEX payments_that_pay ON payments(order_id) WHERE state == 'captured';

    -- The provider's events that came, for longer than it repeats them.
    CREATE TABLE provider_events(
        id            TEXT    PRIMARY KEY,
        came_at_ms    INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX provider_events_by_age ON provider_events(came_at_ms);

    -- The outbox: written with what it tells, in one transaction.
    CREATE TABLE events(
        number   INTEGER PRIMARY KEY,
        kind     TEXT    NOT NULL,
        at_ms    INTEGER NOT NULL,
        sale     TEXT    NOT NULL,
        order_id INTEGER,
        purchase BLOB,
        payment  INTEGER
    );

    -- Every change of a stock row but those that the ledger tells.
    CREATE TABLE stock_moves(
        number   INTEGER PRIMARY KEY,
        kind     TEXT    NOT NULL CHECK(kind IN ('sold', 'released', 'restocked', 'repaired')),
        sale     TEXT    NOT NULL,
        item     TEXT    NOT NULL,
        purchase BLOB,
        units    INTEGER NOT NULL,
        at_ms    INTEGER NOT NULL
    );

    ALTER TABLE sales ADD COLUMN sold_out_told INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE dead_letters ADD COLUMN state TEXT NOT NULL DEFAULT 'open';
    ALTER TABLE dead_letters ADD COLUMN closed_at_ms INTEGER;
    )sql",

    // What the shop has to be told. One delivery per event; most are delivered, and those that are
    // not are found without looking through them.
    R"sql(
    CREATE TABLE deliveries(
        event         INTEGER PRIMARY KEY REFERENCES events(number),
        state         TEXT    NOT NULL CHECK(state IN ('pending', 'delivered', 'failed')),
        attempts      INTEGER NOT NULL,
        tries         INTEGER NOT NULL,
        next_at_ms    INTEGER,
        updated_at_ms INTEGER NOT NULL,
        CHECK((state == 'pending') == (next_at_ms IS NOT NULL))
    );
    CREATE INDEX deliveries_due ON deliveries(next_at_ms) WHERE next_at_ms IS NOT NULL;
    CREATE INDEX deliveries_left ON deliveries(state, event) WHERE state != 'delivered';

    CREATE TABLE delivery_attempts(
        event   INTEGER NOT NULL REFERENCES deliveries(event),
        number  INTEGER NOT NULL,
        at_ms   INTEGER NOT NULL,
        status  INTEGER NOT NULL,
        error   TEXT    NOT NULL,
        took_ms INTEGER NOT NULL,
        PRIMARY KEY(event, number)
    ) WITHOUT ROWID;

    -- How far the events were taken up.
    CREATE TABLE notifier(
        only_row INTEGER PRIMARY KEY CHECK(only_row == 1),
        position INTEGER NOT NULL
    );
    INSERT INTO notifier VALUES(1, 0);
    )sql",

    // The audit's history, and the log of what it repaired.
    R"sql(
    CREATE TABLE reconcile_runs(
        number      INTEGER PRIMARY KEY,
        sale        TEXT    NOT NULL,
        at_ms       INTEGER NOT NULL,
        cause       TEXT    NOT NULL,
        position    INTEGER NOT NULL,
        agrees      INTEGER NOT NULL,
        differences INTEGER NOT NULL,
        known       INTEGER NOT NULL,
        repaired    INTEGER NOT NULL,
        report      TEXT
    );
    CREATE INDEX reconcile_runs_by_sale ON reconcile_runs(sale, number);
    CREATE TABLE reconcile_differences(
        run     INTEGER NOT NULL REFERENCES reconcile_runs(number),
        ordinal INTEGER NOT NULL,
        kind    TEXT    NOT NULL,
        key     TEXT    NOT NULL,
        detail  TEXT    NOT NULL,
        repair  TEXT    NOT NULL,
        outcome TEXT    NOT NULL,
        PRIMARY KEY(run, ordinal)
    ) WITHOUT ROWID;
    CREATE TABLE repairs(
        key          TEXT    PRIMARY KEY,
        run          INTEGER NOT NULL REFERENCES reconcile_runs(number),
        acknowledges INTEGER NOT NULL,
        words        TEXT    NOT NULL,
        done_at_ms   INTEGER NOT NULL
    ) WITHOUT ROWID;
    )sql",

    // How far the pages spread their buttons' lighting up.
    "ALTER TABLE sales ADD COLUMN start_jitter_ms INTEGER NOT NULL DEFAULT 0",

    // How far the worker had come in the ledger: tells what a move came after, whatever the clock
    // says. Of those before it is not known.
    "ALTER TABLE stock_moves ADD COLUMN position INTEGER NOT NULL DEFAULT 0",

    // Words compared one by one: `IN` with more than two builds a tree of them for every row that is written.
    R"sql(
    CREATE TABLE orders_plain(
        id            INTEGER PRIMARY KEY,
        purchase      BLOB    NOT NULL,
        sale          TEXT    NOT NULL,
        item          TEXT    NOT NULL,
        buyer         TEXT    NOT NULL,
        units         INTEGER NOT NULL CHECK(units >= 1),
        amount_minor  INTEGER NOT NULL CHECK(amount_minor >= 0),
        currency      TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        version       INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        pay_by_ms     INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        hold          TEXT    NOT NULL CHECK(hold == 'held' OR hold == 'sold' OR hold == 'open' OR
                                             hold == 'finished'),
        holder        BLOB,
        payment       INTEGER,
        falls_to      TEXT,
        reason        TEXT,
        units_active  INTEGER NOT NULL GENERATED ALWAYS AS
            (CASE WHEN hold == 'finished' THEN 0 ELSE units END) VIRTUAL,
        CHECK(state != 'paid' OR hold == 'sold'),
        FOREIGN KEY(sale, item) REFERENCES items(sale, id),
        FOREIGN KEY(id, purchase) REFERENCES purchases(order_id, id)
    );
    INSERT INTO orders_plain SELECT id, purchase, sale, item, buyer, units, amount_minor, currency, state, version,
        created_at_ms, pay_by_ms, updated_at_ms, hold, holder, payment, falls_to, reason FROM orders;
    DROP VIEW buyer_holdings;
    DROP TABLE orders;
    ALTER TABLE orders_plain RENAME TO orders;
    CREATE INDEX orders_by_buyer ON orders(buyer, sale, item, units_active);
    CREATE INDEX orders_due ON orders(pay_by_ms) WHERE state IN ('pending_payment', 'paying');
    CREATE INDEX orders_between ON orders(state)
        WHERE state == 'voiding' OR state == 'reinstating' OR state == 'refunding';
    CREATE VIEW buyer_holdings AS
        SELECT sale, item, buyer, sum(units_active) AS units FROM orders WHERE units_active > 0
        GROUP BY sale, item, buyer;

    CREATE TABLE stock_moves_plain(
        number   INTEGER PRIMARY KEY,
        kind     TEXT    NOT NULL CHECK(kind == 'sold' OR kind == 'released' OR kind == 'restocked' OR
                                        kind == 'repaired'),
        sale     TEXT    NOT NULL,
        item     TEXT    NOT NULL,
        purchase BLOB,
        units    INTEGER NOT NULL,
        at_ms    INTEGER NOT NULL,
        position INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO stock_moves_plain SELECT number, kind, sale, item, purchase, units, at_ms, position FROM stock_moves;
    DROP TABLE stock_moves;
    ALTER TABLE stock_moves_plain RENAME TO stock_moves;

    CREATE TABLE deliveries_plain(
        event         INTEGER PRIMARY KEY REFERENCES events(number),
        state         TEXT    NOT NULL CHECK(state == 'pending' OR state == 'delivered' OR state == 'failed'),
        attempts      INTEGER NOT NULL,
        tries         INTEGER NOT NULL,
        next_at_ms    INTEGER,
        updated_at_ms INTEGER NOT NULL,
        CHECK((state == 'pending') == (next_at_ms IS NOT NULL))
    );
    INSERT INTO deliveries_plain SELECT * FROM deliveries;
    DROP TABLE deliveries;
    ALTER TABLE deliveries_plain RENAME TO deliveries;
    CREATE INDEX deliveries_due ON deliveries(next_at_ms) WHERE next_at_ms IS NOT NULL;
    CREATE INDEX deliveries_left ON deliveries(state, event) WHERE state != 'delivered';
    )sql",

    // What is awaited is found without walking over what is only watched; a refund in vain without either.
    R"sql(
    DROP INDEX payments_due;
    CREATE INDEX payments_awaited ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL AND state != 'voided';
    CREATE INDEX payments_watched ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL AND state == 'voided';
    CREATE INDEX payments_refunding ON payments(looks) WHERE state == 'refunding';
    )sql",

    // Names, sale and item made the index of the buyers the largest tree of all, and an order dirties one of
    // its pages. A number of four bytes finds the same few rows, which say themselves whose they are.
    R"sql(
    ALTER TABLE orders ADD COLUMN buyer_key INTEGER NOT NULL DEFAULT 0;
    UPDATE orders SET buyer_key = buyer_key(buyer);
    DROP INDEX orders_by_buyer;
    CREATE INDEX orders_by_buyer ON orders(buyer_key);
    )sql",

    // An order no longer refers to its item and its purchase, and the index that the latter needed is gone:
    // the batch that makes an order has read the item and writes the purchase that names it, in one
    // transaction, and looking both up again was a sixth of an order. Items and purchases with orders still
    // cannot go. Whoever replaces `orders` once more has to drop the two triggers first, as the view.
    R"sql(
    CREATE TABLE orders_lean(
        id            INTEGER PRIMARY KEY,
        purchase      BLOB    NOT NULL,
        sale          TEXT    NOT NULL,
        item          TEXT    NOT NULL,
        buyer         TEXT    NOT NULL,
        units         INTEGER NOT NULL CHECK(units >= 1),
        amount_minor  INTEGER NOT NULL CHECK(amount_minor >= 0),
        currency      TEXT    NOT NULL,
        state         TEXT    NOT NULL,
        version       INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL,
        pay_by_ms     INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        hold          TEXT    NOT NULL CHECK(hold == 'held' OR hold == 'sold' OR hold == 'open' OR
                                             hold == 'finished'),
        holder        BLOB,
        payment       INTEGER,
        falls_to      TEXT,
        reason        TEXT,
        buyer_key     INTEGER NOT NULL DEFAULT 0,
        units_active  INTEGER NOT NULL GENERATED ALWAYS AS
            (CASE WHEN hold == 'finished' THEN 0 ELSE units END) VIRTUAL,
        CHECK(state != 'paid' OR hold == 'sold')
    );
    INSERT INTO orders_lean SELECT id, purchase, sale, item, buyer, units, amount_minor, currency, state, version,
        created_at_ms, pay_by_ms, updated_at_ms, hold, holder, payment, falls_to, reason, buyer_key FROM orders;
    DROP VIEW buyer_holdings;
    DROP TABLE orders;
    ALTER TABLE orders_lean RENAME TO orders;
    DROP INDEX purchases_by_order;
    CREATE INDEX orders_by_buyer ON orders(buyer_key);
    CREATE INDEX orders_due ON orders(pay_by_ms) WHERE state IN ('pending_payment', 'paying');
    CREATE INDEX orders_between ON orders(state)
        WHERE state == 'voiding' OR state == 'reinstating' OR state == 'refunding';
    CREATE VIEW buyer_holdings AS
        SELECT sale, item, buyer, sum(units_active) AS units FROM orders WHERE units_active > 0
        GROUP BY sale, item, buyer;
    CREATE TRIGGER an_item_with_orders_stays BEFORE DELETE ON items
        WHEN EXISTS (SELECT 1 FROM orders WHERE sale == old.sale AND item == old.id)
        BEGIN SELECT RAISE(ABORT, 'there are orders for this item'); END;
    CREATE TRIGGER a_purchase_with_an_order_stays BEFORE DELETE ON purchases
        WHEN EXISTS (SELECT 1 FROM orders WHERE id == old.order_id)
        BEGIN SELECT RAISE(ABORT, 'there is an order for this purchase'); END;
    )sql",
};

// For migrations.
void buyer_key_function(sqlite3_context* to, int, sqlite3_value** values) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    const auto size = static_cast<size_t>(sqlite3_value_bytes(values[0]));
    sqlite3_result_int64(to, buyer_key({name == nullptr ? "" : name, size}));
}

}  // namespace

// The ledger's cache is smaller: SQLite 3.40 looks through the whole of it in many a commit, and the
// ledger commits often. So is its log: while it is copied every purchase waits. The ledger only grows at
// its end, so that copying it often copies hardly more.
const Schema ledger_schema{"ledger.db", 0x44424c31, ledger_migrations, 16 * 1024, 4 * 1024};
// The orders' pages are large: a batch changes nearly every page of the trees whose keys are as good as
// random, so that fewer pages are fewer of everything that is done by the page, and hardly more bytes.
const Schema orders_schema{"orders.db", 0x44424f31, orders_migrations, 64 * 1024, 64 * 1024, 16 * 1024};

void prepare(Connection& connection, const Schema& schema) {
    const auto newest = static_cast<int64_t>(schema.migrations.size());
    const int64_t version = connection.read_integer("PRAGMA user_version");
    const int64_t application = connection.read_integer("PRAGMA application_id");
    const bool is_new = connection.read_integer("SELECT count(*) FROM sqlite_master") == 0 && version == 0;
    if (!is_new && application != schema.application_id) {
        throw Failure(
            StoreErrc::damaged,
            fmt::format("{} is not a Doorbuster database; move it away or choose another store.path",
                        schema.name));
    }
    if (version > newest) {
        throw Failure(
            StoreErrc::newer_schema,
            fmt::format("{} has schema version {}, this program knows versions up to {}; run the newer "
                        "doorbuster that wrote it",
                        schema.name, version, newest));
    }

    if (is_new) connection.execute(fmt::format("PRAGMA page_size = {}", schema.page_bytes).c_str());
    connection.execute("PRAGMA journal_mode = WAL");
    connection.execute("PRAGMA synchronous = FULL");
    const auto frames_max = int64_t{schema.log_kib_max} * 1024 / connection.read_integer("PRAGMA page_size");
    connection.set_log_frames_max(static_cast<int>(frames_max));
    connection.execute("PRAGMA temp_store = MEMORY");
    // Taken only as it fills: with the default of 2 MiB most inserts of a long sale read a page
    // of an index back from the disk's cache.
    connection.execute(fmt::format("PRAGMA cache_size = -{}", schema.cache_kib).c_str());
    // A table that others refer to can only be replaced without them.
    connection.execute("PRAGMA foreign_keys = OFF");
    sqlite3_create_function(connection.raw(), "buyer_key", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                            buyer_key_function, nullptr, nullptr);
    if (is_new) connection.execute(fmt::format("PRAGMA application_id = {}", schema.application_id).c_str());
    for (int64_t at = version; at < newest; ++at) {
        Transaction transaction(connection);
        connection.execute(schema.migrations[static_cast<size_t>(at)]);
        if (connection.read_integer("SELECT count(*) FROM pragma_foreign_key_check") != 0) {
            throw Failure(StoreErrc::damaged,
                          fmt::format("{} has rows that refer to others that are not there", schema.name));
        }
        connection.execute(fmt::format("PRAGMA user_version = {}", at + 1).c_str());
        transaction.commit();
    }
    connection.execute("PRAGMA foreign_keys = ON");
}

}  // namespace doorbuster::sqlite
