#include "store_cluster/pg_schema.hpp"

namespace doorbuster::pg {

namespace {

// Names and ids are compared byte by byte (COLLATE "C"): no locale's order, and none that changes with
// the system's libraries. Times are milliseconds, except where the server's own clock judges (leases).
constexpr const char* migration_steps[] = {
    // Sales and stock. What is accepted but not placed yet is still available here.
    R"sql(
    CREATE TABLE sales(
        id                       text    COLLATE "C" PRIMARY KEY,
        state                    text    NOT NULL,
        version                  bigint  NOT NULL,
        title                    text    NOT NULL,
        opens_at_ms              bigint  NOT NULL,
        closes_at_ms             bigint  NOT NULL,
        warm_before_s            bigint  NOT NULL,
        stock_policy             text    NOT NULL CHECK(stock_policy IN ('reserve', 'at_order', 'at_payment')),
        payment_window_s         bigint  NOT NULL,
        human_check              text    NOT NULL,
        pow_number_max           bigint  NOT NULL,
        purchases_per_second_max bigint  NOT NULL,
        buyers_per_address_max   bigint  NOT NULL,
        start_jitter_ms          bigint  NOT NULL,
        sold_out_told            boolean NOT NULL DEFAULT false,
        created_at_ms            bigint  NOT NULL,
        updated_at_ms            bigint  NOT NULL,
        CHECK(closes_at_ms > opens_at_ms)
    );

    -- The stock row. Whoever changes units, or what they rest on, raises its version.
    -- Epoch, state and pin are the fence of section "Rebuild": units are sold from the Redis that is
    -- pinned, under the epoch that is open, and from no other.
    CREATE TABLE items(
        sale                 text   COLLATE "C" NOT NULL,
        id                   text   COLLATE "C" NOT NULL,
        ordinal              bigint NOT NULL,
        name                 text   NOT NULL,
        price_minor          bigint NOT NULL CHECK(price_minor >= 0),
        original_price_minor bigint NOT NULL,
        currency             text   NOT NULL,
        units_per_buyer_max  bigint NOT NULL CHECK(units_per_buyer_max >= 1),
        orders_max           bigint NOT NULL CHECK(orders_max >= 0),
        units_total          bigint NOT NULL CHECK(units_total BETWEEN 1 AND 4000000000),
        units_available      bigint NOT NULL CHECK(units_available >= 0),
        units_held           bigint NOT NULL CHECK(units_held >= 0),
        units_sold           bigint NOT NULL CHECK(units_sold >= 0),
        version              bigint NOT NULL,
        epoch                bigint NOT NULL DEFAULT 0 CHECK(epoch >= 0),
        epoch_state          text   NOT NULL DEFAULT 'rebuilding' CHECK(epoch_state IN ('open', 'rebuilding')),
        pin                  text,
        PRIMARY KEY(sale, id),
        CHECK(units_available + units_held + units_sold = units_total),
        CHECK((epoch_state = 'open') = (pin IS NOT NULL))
    ) PARTITION BY HASH(sale, id);
    )sql"
    // Purchases and orders.
    R"sql(
    -- The worker's inbox: every purchase that left the ledger, with its take. It outlives the ledger's
    -- retention. A take may stand here twice: that is how a Redis that rolled back is found out.
    CREATE TABLE purchases(
        id             uuid   NOT NULL CONSTRAINT purchases_pkey PRIMARY KEY,
        sale           text   COLLATE "C" NOT NULL,
        item           text   COLLATE "C" NOT NULL,
        buyer          text   COLLATE "C" NOT NULL,
        units          bigint NOT NULL,
        bucket         bigint NOT NULL DEFAULT 0,
        epoch          bigint NOT NULL DEFAULT 0,
        sequence       bigint NOT NULL,
        accepted_at_ms bigint NOT NULL,
        partition      bigint NOT NULL,
        position       bigint NOT NULL,
        state          text   NOT NULL CHECK(state IN ('ordered', 'cancelled')),
        reason         text,
        order_id       bigint,
        CHECK((state = 'ordered') = (order_id IS NOT NULL)),
        CONSTRAINT purchases_by_position UNIQUE(partition, position)
    );
    CREATE INDEX purchases_by_take ON purchases(sale, item, epoch, bucket, sequence);

    -- No foreign key to the stock row: each order of a rush would lock that one row to see that it is
    -- there, and the worker has read and updated it in the same transaction anyway. An id is unique in
    -- each partition (below), and over all of them because no two nodes make the same.
    CREATE TABLE orders(
        id            bigint NOT NULL,
        purchase      uuid   NOT NULL,
        sale          text   COLLATE "C" NOT NULL,
        item          text   COLLATE "C" NOT NULL,
        buyer         text   COLLATE "C" NOT NULL,
        units         bigint NOT NULL CHECK(units >= 1),
        amount_minor  bigint NOT NULL CHECK(amount_minor >= 0),
        currency      text   NOT NULL,
        state         text   NOT NULL,
        version       bigint NOT NULL,
        created_at_ms bigint NOT NULL,
        pay_by_ms     bigint NOT NULL,
        updated_at_ms bigint NOT NULL,
        hold          text   NOT NULL CHECK(hold IN ('held', 'sold', 'open', 'finished')),
        holder        uuid,
        payment       bigint,
        falls_to      text,
        reason        text,
        CHECK(state != 'paid' OR hold = 'sold')
    ) PARTITION BY HASH(sale, item);
    CREATE INDEX orders_by_buyer ON orders(buyer, sale, item);
    CREATE INDEX orders_due ON orders(pay_by_ms) WHERE state IN ('pending_payment', 'paying');
    CREATE INDEX orders_between ON orders(state) WHERE state IN ('voiding', 'reinstating', 'refunding');
    CREATE VIEW buyer_holdings AS
        SELECT sale, item, buyer, sum(units)::bigint AS units FROM orders WHERE hold != 'finished'
        GROUP BY sale, item, buyer;

    DO $partitions$ BEGIN
        FOR at IN 0..7 LOOP
            EXECUTE format('CREATE TABLE items_%s PARTITION OF items FOR VALUES WITH (MODULUS 8, '
                           'REMAINDER %s) WITH (fillfactor = 50)', at, at);
            EXECUTE format('CREATE TABLE orders_%s PARTITION OF orders FOR VALUES WITH (MODULUS 8, '
                           'REMAINDER %s) WITH (fillfactor = 80)', at, at);
            EXECUTE format('CREATE UNIQUE INDEX orders_%s_by_id ON orders_%s(id)', at, at);
        END LOOP;
    END $partitions$;

    CREATE TABLE payments(
        id                bigint PRIMARY KEY,
        order_id          bigint NOT NULL,
        state             text   NOT NULL,
        version           bigint NOT NULL,
        amount_minor      bigint NOT NULL,
        currency          text   NOT NULL,
        captured_minor    bigint NOT NULL,
        captured_currency text   NOT NULL,
        url               text   NOT NULL,
        created_at_ms     bigint NOT NULL,
        updated_at_ms     bigint NOT NULL,
        look_at_ms        bigint,
        looks             bigint NOT NULL
    );
    CREATE INDEX payments_by_order ON payments(order_id);
    CREATE INDEX payments_due ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL;
    CREATE UNIQUE INDEX payments_that_pay ON payments(order_id) WHERE state = 'captured';

    -- The provider's events that came, for longer than it repeats them.
    CREATE TABLE provider_events(
        id         text   COLLATE "C" PRIMARY KEY,
        came_at_ms bigint NOT NULL
    );
    CREATE INDEX provider_events_by_age ON provider_events(came_at_ms);

    -- Every change of a stock row but those that the ledger tells. Numbered while the row is locked,
    -- so that the numbers of one item rise with its commits.
    CREATE TABLE stock_moves(
        number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind      text   NOT NULL CHECK(kind IN ('sold', 'released', 'restocked', 'repaired')),
        sale      text   COLLATE "C" NOT NULL,
        item      text   COLLATE "C" NOT NULL,
        purchase  uuid,
        units     bigint NOT NULL,
        at_ms     bigint NOT NULL,
        partition bigint NOT NULL,
        position  bigint NOT NULL
    );
    CREATE INDEX stock_moves_repaired ON stock_moves(sale, item, number) WHERE kind = 'repaired';
    )sql"
    // The protocol between Redis, Kafka and here.
    R"sql(
    -- Units on their way back into Redis: written with what returns them, applied by the relay under
    -- exactly this epoch. Without a purchase: a restock, known by its number.
    CREATE TABLE releases(
        number        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        sale          text   COLLATE "C" NOT NULL,
        item          text   COLLATE "C" NOT NULL,
        epoch         bigint NOT NULL,
        purchase      uuid,
        units         bigint NOT NULL CHECK(units >= 1),
        made_at_ms    bigint NOT NULL,
        applied_at_ms bigint
    );
    CREATE INDEX releases_waiting ON releases(number) WHERE applied_at_ms IS NULL;

    -- Who reads a partition of the ledger. Apart from the offset, so that renewing a lease does not
    -- wait for the batch that is being placed.
    CREATE TABLE partition_leases(
        partition  bigint PRIMARY KEY,
        owner      text   NOT NULL,
        generation bigint NOT NULL,
        expires_at timestamptz NOT NULL
    );
    -- How far a partition has been placed: moves with the orders, under the generation of its owner.
    CREATE TABLE partition_offsets(
        partition  bigint PRIMARY KEY,
        position   bigint NOT NULL CHECK(position >= 0),
        generation bigint NOT NULL
    );
    INSERT INTO partition_offsets VALUES(0, 0, 0);

    -- How many partitions the ledger has. Pinned, because an item's records must stay in one order.
    CREATE TABLE ledger_pin(
        only_row   boolean PRIMARY KEY DEFAULT true CHECK(only_row),
        partitions bigint  NOT NULL CHECK(partitions >= 1)
    );

    -- Up to which epoch an item is closed in a partition: the SEAL that its worker has passed.
    CREATE TABLE seals(
        sale      text   COLLATE "C" NOT NULL,
        item      text   COLLATE "C" NOT NULL,
        partition bigint NOT NULL,
        epoch     bigint NOT NULL,
        PRIMARY KEY(sale, item, partition)
    );
    -- Records that came behind the SEAL of their epoch. Those still without a purchase at the next
    -- one become explicit cancellations.
    CREATE TABLE late_records(
        partition      bigint NOT NULL,
        position       bigint NOT NULL,
        purchase       uuid   NOT NULL,
        sale           text   COLLATE "C" NOT NULL,
        item           text   COLLATE "C" NOT NULL,
        buyer          text   COLLATE "C" NOT NULL,
        units          bigint NOT NULL,
        bucket         bigint NOT NULL,
        epoch          bigint NOT NULL,
        sequence       bigint NOT NULL,
        accepted_at_ms bigint NOT NULL,
        PRIMARY KEY(partition, position)
    );
    CREATE INDEX late_records_by_item ON late_records(sale, item, epoch);

    CREATE TABLE dead_letters(
        partition    bigint NOT NULL,
        position     bigint NOT NULL,
        reason       text   NOT NULL,
        record       bytea  NOT NULL,
        buried_at_ms bigint NOT NULL,
        state        text   NOT NULL DEFAULT 'open' CHECK(state IN ('open', 'retried', 'dropped')),
        closed_at_ms bigint,
        PRIMARY KEY(partition, position)
    );

    -- Which node makes order ids with which number.
    CREATE TABLE node_leases(
        node       bigint PRIMARY KEY CHECK(node BETWEEN 0 AND 1023),
        owner      text   NOT NULL,
        generation bigint NOT NULL,
        expires_at timestamptz NOT NULL
    );
    )sql"
    // What is told, what was decided, what was counted.
    R"sql(
    -- The outbox. Numbers are given before the commit, so they may become visible out of order: what
    -- nobody has taken yet is told by the flag, not by a position.
    CREATE TABLE events(
        number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind     text   NOT NULL,
        at_ms    bigint NOT NULL,
        sale     text   COLLATE "C" NOT NULL,
        order_id bigint,
        purchase uuid,
        payment  bigint,
        is_taken boolean NOT NULL DEFAULT false
    ) WITH (fillfactor = 90);
    CREATE INDEX events_waiting ON events(number) WHERE NOT is_taken;
    CREATE TABLE deliveries(
        event         bigint PRIMARY KEY REFERENCES events(number),
        state         text   NOT NULL CHECK(state IN ('pending', 'delivered', 'failed')),
        attempts      bigint NOT NULL,
        tries         bigint NOT NULL,
        next_at_ms    bigint,
        updated_at_ms bigint NOT NULL,
        CHECK((state = 'pending') = (next_at_ms IS NOT NULL))
    );
    CREATE INDEX deliveries_due ON deliveries(next_at_ms) WHERE next_at_ms IS NOT NULL;
    CREATE INDEX deliveries_left ON deliveries(state, event) WHERE state != 'delivered';
    CREATE TABLE delivery_attempts(
        event   bigint NOT NULL REFERENCES deliveries(event),
        number  bigint NOT NULL,
        at_ms   bigint NOT NULL,
        status  bigint NOT NULL,
        error   text   NOT NULL,
        took_ms bigint NOT NULL,
        PRIMARY KEY(event, number)
    );
    -- The last event that was taken. Its row is the lock of those who take.
    CREATE TABLE notifier(
        only_row boolean PRIMARY KEY DEFAULT true CHECK(only_row),
        position bigint  NOT NULL
    );
    INSERT INTO notifier(position) VALUES(0);

    CREATE TABLE settings(
        name text  COLLATE "C" PRIMARY KEY,
        text bytea NOT NULL
    );

    CREATE TABLE reconcile_runs(
        number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        sale        text    COLLATE "C" NOT NULL,
        at_ms       bigint  NOT NULL,
        cause       text    NOT NULL DEFAULT '',
        position    bigint  NOT NULL DEFAULT 0,
        agrees      boolean NOT NULL DEFAULT false,
        differences bigint  NOT NULL DEFAULT 0,
        known       bigint  NOT NULL DEFAULT 0,
        repaired    bigint  NOT NULL DEFAULT 0,
        report      text
    );
    CREATE INDEX reconcile_runs_by_sale ON reconcile_runs(sale, number);
    CREATE TABLE reconcile_differences(
        run     bigint NOT NULL REFERENCES reconcile_runs(number),
        ordinal bigint NOT NULL,
        kind    text   NOT NULL,
        key     text   NOT NULL,
        detail  text   NOT NULL,
        repair  text   NOT NULL,
        outcome text   NOT NULL,
        PRIMARY KEY(run, ordinal)
    );
    CREATE TABLE repairs(
        key          text    COLLATE "C" PRIMARY KEY,
        run          bigint  NOT NULL REFERENCES reconcile_runs(number),
        acknowledges boolean NOT NULL,
        words        text    NOT NULL,
        done_at_ms   bigint  NOT NULL
    );
    )sql",
    // Who may act on Redis. Nothing rests on these rows: writing one is what proves that the primary is one.
    R"sql(
    CREATE TABLE epoch_leases(
        holder     text PRIMARY KEY,
        expires_at timestamptz NOT NULL
    );
    )sql",
    // What is awaited is found without walking over what is only watched; a refund in vain without either.
    R"sql(
    DROP INDEX payments_due;
    CREATE INDEX payments_awaited ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL AND state <> 'voided';
    CREATE INDEX payments_watched ON payments(look_at_ms) WHERE look_at_ms IS NOT NULL AND state = 'voided';
    CREATE INDEX payments_refunding ON payments(looks) WHERE state = 'refunding';
    )sql",
    // What tells that the Redis of an open epoch is not what it was: the coordinator closes that epoch.
    R"sql(
    CREATE TABLE rebuild_requests(
        sale     text   COLLATE "C" NOT NULL,
        item     text   COLLATE "C" NOT NULL,
        epoch    bigint NOT NULL,
        reason   text   NOT NULL,
        asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY(sale, item, epoch)
    );
    )sql",
    // Which workers share the partitions. Nothing rests on these rows.
    R"sql(
    CREATE TABLE workers(
        owner      text PRIMARY KEY,
        expires_at timestamptz NOT NULL
    );
    )sql",
    // Under which epoch units were given back: nobody could take them before it.
    R"sql(
    ALTER TABLE stock_moves ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
    )sql",
    // Which dead letters stand in their topic.
    R"sql(
    ALTER TABLE dead_letters ADD COLUMN told_at_ms bigint;
    CREATE INDEX dead_letters_to_tell ON dead_letters(buried_at_ms, partition, position) WHERE told_at_ms IS NULL;
    )sql",
    // What a late record continues, as it says itself: nobody outside knows the id of such a one.
    R"sql(
    ALTER TABLE late_records ADD COLUMN replaces uuid;
    )sql",
    // Where payment takes the unit, an order that is paid gives its slot back: the row's purchase is sold.
    R"sql(
    ALTER TABLE releases ADD COLUMN kind text NOT NULL DEFAULT 'returned' CHECK(kind IN ('returned', 'sold'));
    )sql",
};

}  // namespace

const std::span<const char* const> migrations(migration_steps);

}  // namespace doorbuster::pg
