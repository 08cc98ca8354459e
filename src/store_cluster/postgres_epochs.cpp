#include "store_cluster/postgres_epochs.hpp"

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

using pg::attempted;
using pg::guarded;
using pg::Params;
using pg::Row;
using pg::Rows;
using pg::Transaction;

namespace {

ItemEpoch epoch_of(const Row& row) {
    return {.sale = pg::required(SaleId::from(row.text(0)), "sale id"),
            .item = pg::required(ItemId::from(row.text(1)), "item id"),
            .epoch = static_cast<uint64_t>(row.integer(2)),
            .pin = row.is_null(3) ? std::nullopt : std::optional(std::string(row.text(3)))};
}

Stock stock_of(const Row& row) {
    const auto units = [&](int column) { return static_cast<uint32_t>(row.integer(column)); };
    return {
        .units_total = units(0), .units_available = units(1), .units_held = units(2), .units_sold = units(3)};
}

const std::string purchases_of_item =
    pg::select_purchases + "WHERE p.sale = $1 AND p.item = $2 ORDER BY p.partition, p.position";
constexpr int epoch_column = 12;
// For all purchases of an item: where that took longer each time, the item would never be sold again.
constexpr std::chrono::minutes cut_read_max{5};

}  // namespace

StoreResult<EpochLease> PostgresEpochs::lease(const std::string& holder, milliseconds lasts) {
    return guarded("taking a lease on the epochs", [&] {
        const pg::BootTime asked_at = pg::boot_time();
        Transaction transaction(connection_);
        connection_.queue(
            "INSERT INTO epoch_leases(holder, expires_at) "
            "VALUES($1, clock_timestamp() + $2 * interval '1 ms') "
            "ON CONFLICT(holder) DO UPDATE SET expires_at = excluded.expires_at",
            Params().add(holder).add(lasts.count()));
        // Holders that are gone. Whoever is busy with a row is not gone.
        connection_.queue(
            "DELETE FROM epoch_leases WHERE holder IN (SELECT holder FROM epoch_leases "
            "WHERE expires_at < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED)");
        const Rows rows = connection_.run(
            "SELECT i.sale, i.id, i.epoch, i.pin, i.pin IS NULL AND (i.epoch = 0 OR s.state = 'closed' AND "
            "EXISTS "
            "(SELECT 1 FROM seals WHERE seals.sale = i.sale AND item = i.id AND seals.epoch >= i.epoch - 1)) "
            "FROM items i JOIN sales s ON s.id = i.sale "
            "WHERE s.state <> 'reconciled' ORDER BY i.sale, i.ordinal");
        std::vector<ItemEpoch> items = pg::all_of(rows, [](const Row& row) {
            ItemEpoch item = epoch_of(row);
            item.is_at_rest = row.flag(4);
            return item;
        });
        transaction.commit();
        return EpochLease(pg::LeaseTime(asked_at, lasts), std::move(items));
    });
}

bool PostgresEpochs::has_new_books(pg::Connection& connection, const EpochLease& lease) {
    pg::Texts sales, items;
    for (const ItemEpoch& item : lease.items()) {
        if (item.epoch == 0) continue;
        sales.push(item.sale.view());
        items.push(item.item.view());
    }
    return connection
        .run(
            "SELECT EXISTS (SELECT 1 FROM items i JOIN sales s ON s.id = i.sale "
            "WHERE i.epoch > 0 AND s.state <> 'reconciled' AND NOT EXISTS (SELECT 1 "
            "FROM unnest($1::text[], $2::text[]) known(sale, item) "
            "WHERE known.sale = i.sale AND known.item = i.id))",
            Params().add(sales).add(items))
        .front()
        .flag(0);
}

StoreResult<std::optional<uint64_t>> PostgresEpochs::close(const SaleId& sale, const ItemId& item,
                                                           uint64_t epoch) {
    return attempted("closing an epoch", [&]() -> std::optional<uint64_t> {
        Transaction transaction(connection_);
        const Rows closed = connection_.run(
            "UPDATE items SET epoch = epoch + 1, epoch_state = 'rebuilding', pin = NULL, "
            "version = version + 1 WHERE sale = $1 AND id = $2 AND epoch = $3 RETURNING epoch",
            Params().add(sale.view()).add(item.view()).add(epoch));
        if (closed.empty()) return std::nullopt;
        const auto next = static_cast<uint64_t>(closed.front().integer(0));
        transaction.commit();
        return next;
    });
}

StoreResult<std::optional<EpochCut>> PostgresEpochs::cut(const SaleId& sale, const ItemId& item,
                                                         uint64_t epoch) {
    return attempted("cutting an epoch", [&]() -> std::optional<EpochCut> {
        Transaction transaction(connection_);
        // From here on whoever moves units of the item waits for this transaction: what is read below
        // is what stands beside these units.
        const Rows moved = connection_.run(
            "UPDATE items SET epoch = epoch + 1, version = version + 1 "
            "WHERE sale = $1 AND id = $2 AND epoch = $3 AND epoch_state = 'rebuilding' "
            "RETURNING units_total, units_available, units_held, units_sold, epoch",
            Params().add(sale.view()).add(item.view()).add(epoch));
        if (moved.empty()) return std::nullopt;
        EpochCut cut{.epoch = static_cast<uint64_t>(moved.front().integer(4)),
                     .sale = {},
                     .stock = stock_of(moved.front()),
                     .purchases = {}};
        auto sales = pg::read_sales(connection_, sale);
        if (sales.empty()) throw pg::Failure(StoreErrc::damaged, "an item without its sale");
        cut.sale = std::move(sales.front());
        transaction.allow(cut_read_max);
        const Rows records = connection_.run(purchases_of_item, Params().add(sale.view()).add(item.view()));
        transaction.commit();
        cut.purchases.reserve(records.size());
        for (size_t i = 0; i < records.size(); ++i) {
            cut.purchases.push_back(
                {pg::purchase_of(records[i]), static_cast<uint64_t>(records[i].integer(epoch_column))});
        }
        return cut;
    });
}

StoreResult<bool> PostgresEpochs::open(const SaleId& sale, const ItemId& item, uint64_t epoch,
                                       const std::string& pin) {
    return attempted("opening an epoch", [&] {
        Transaction transaction(connection_);
        const Rows opened = connection_.run(
            "UPDATE items SET epoch_state = 'open', pin = $4, version = version + 1 "
            "WHERE sale = $1 AND id = $2 AND epoch = $3 AND epoch_state = 'rebuilding'",
            Params().add(sale.view()).add(item.view()).add(epoch).add(pin));
        if (opened.changed() != 1) return false;
        transaction.commit();
        return true;
    });
}

StoreResult<std::vector<WatchedItem>> PostgresEpochs::watch() {
    return guarded("watching the epochs", [&] {
        const Rows rows = connection_.run(
            "SELECT i.sale, i.id, i.epoch, i.pin, s.state, s.version, coalesce(r.reason, ''), "
            "EXISTS (SELECT 1 FROM late_records l WHERE l.sale = i.sale AND l.item = i.id) "
            "FROM items i "
            "JOIN sales s ON s.id = i.sale "
            "LEFT JOIN rebuild_requests r ON r.sale = i.sale AND r.item = i.id AND r.epoch = i.epoch "
            "WHERE s.state <> 'reconciled' ORDER BY i.sale, i.ordinal");
        return pg::all_of(rows, [](const Row& row) {
            return WatchedItem{.now = epoch_of(row),
                               .state = pg::required(sale_state_of(row.text(4)), "sale state"),
                               .sale_version = static_cast<uint64_t>(row.integer(5)),
                               .asked_for = std::string(row.text(6)),
                               .has_late = row.flag(7)};
        });
    });
}

StoreResult<ItemEpoch> PostgresEpochs::ask_for_rebuild(const SaleId& sale, const ItemId& item,
                                                       const std::string& reason) {
    return attempted("asking for a rebuild", [&] {
        Transaction transaction(connection_);
        const Rows now = connection_.run(
            "WITH now AS (SELECT sale, id, epoch, pin FROM items WHERE sale = $1 AND id = $2), "
            "asked AS (INSERT INTO rebuild_requests(sale, item, epoch, reason) "
            "SELECT sale, id, epoch, $3 FROM now "
            "ON CONFLICT(sale, item, epoch) DO UPDATE SET reason = rebuild_requests.reason) "
            "SELECT * FROM now",
            Params().add(sale.view()).add(item.view()).add(reason));
        if (now.empty()) throw pg::Failure(StoreErrc::not_found, "there is no such item");
        ItemEpoch asked = epoch_of(now.front());
        transaction.commit();
        return asked;
    });
}

StoreResult<std::vector<ItemEpoch>> PostgresEpochs::items_of(const SaleId& sale) {
    return guarded("reading the epochs of a sale", [&] {
        const Rows rows =
            connection_.run("SELECT sale, id, epoch, pin FROM items WHERE sale = $1 ORDER BY ordinal",
                            Params().add(sale.view()));
        return pg::all_of(rows, epoch_of);
    });
}

StoreResult<void> PostgresEpochs::doubt(const ItemEpoch& item, const std::string& reason) {
    return attempted("doubting a book", [&] {
        Transaction transaction(connection_);
        connection_.queue(
            "INSERT INTO rebuild_requests(sale, item, epoch, reason) "
            "SELECT sale, id, epoch, $4 FROM items WHERE sale = $1 AND id = $2 AND epoch = $3 "
            "ON CONFLICT(sale, item, epoch) DO NOTHING",
            Params().add(item.sale.view()).add(item.item.view()).add(item.epoch).add(reason));
        transaction.commit();
    });
}

StoreResult<SaleRecord> PostgresEpochs::sale(const SaleId& id) {
    return guarded("reading a sale", [&] {
        auto found = pg::read_sales(connection_, id);
        if (found.empty()) throw pg::Failure(StoreErrc::not_found, "there is no sale " + id.str());
        return std::move(found.front());
    });
}

StoreResult<bool> PostgresEpochs::is_sealed(const SaleId& sale, const ItemId& item, uint64_t epoch,
                                            std::span<const int64_t> partitions) {
    return guarded("reading the seals", [&] {
        pg::Integers wanted;
        for (const int64_t partition : partitions) wanted.push(partition);
        const int64_t passed = connection_.read_integer(
            "SELECT count(*) FROM seals WHERE sale = $1 AND item = $2 AND epoch >= $3 AND partition = "
            "ANY($4)",
            Params().add(sale.view()).add(item.view()).add(epoch).add(wanted));
        return passed == static_cast<int64_t>(partitions.size());
    });
}

}  // namespace doorbuster
