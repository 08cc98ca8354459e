#include "store_cluster/pg_sealing.hpp"

#include <utility>

namespace doorbuster::pg {

namespace {

LedgerRecord late_of(const ItemKey& item, const Row& row) {
    return {.position = static_cast<uint64_t>(row.integer(0)),
            .entry = LedgerEntry{.sale = required(SaleId::from(item.first), "sale id"),
                                 .item = required(ItemId::from(item.second), "item id"),
                                 .acceptance = {.purchase = row.purchase(1),
                                                .buyer = required(BuyerId::from(row.text(2)), "buyer id"),
                                                .units = static_cast<uint32_t>(row.integer(3)),
                                                .sequence = static_cast<uint64_t>(row.integer(6)),
                                                .accepted_at = from_ms(row.integer(7))},
                                 .replaces = row.is_null(8) ? std::nullopt : std::optional(row.purchase(8)),
                                 .epoch = static_cast<uint64_t>(row.integer(5)),
                                 .bucket = static_cast<uint32_t>(row.integer(4))}};
}

}  // namespace

void Sealing::queue_reads(Connection& connection) {
    for (const auto& [key, item] : items_) {
        const Params of_item = Params().add(partition_).add(key.first).add(key.second);
        connection.queue("SELECT epoch FROM seals WHERE partition = $1 AND sale = $2 AND item = $3", of_item);
        if (!item.has_seal) continue;
        connection.queue(
            "SELECT position, purchase, buyer, units, bucket, epoch, sequence, accepted_at_ms, replaces "
            "FROM late_records l WHERE partition = $1 AND sale = $2 AND item = $3 "
            "AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.id = l.purchase) ORDER BY position",
            of_item);
    }
}

size_t Sealing::take_in(const std::vector<Rows>& answers, size_t first) {
    size_t at = first;
    for (auto& [key, item] : items_) {
        const Rows& seals = answers[at++];
        item.epoch = seals.empty() ? -1 : seals.front().integer(0);
        if (!item.has_seal) continue;
        const Rows& late = answers[at++];
        for (size_t i = 0; i < late.size(); ++i) item.late.push_back(late_of(key, late[i]));
    }
    return at;
}

void Sealing::add_late(const LedgerRecord& record) {
    items_.at({record.entry->sale.view(), record.entry->item.view()}).late.push_back(record);
}

std::vector<LedgerRecord> Sealing::pass(const Seal& seal) {
    ItemSeals& item = items_.at({seal.sale.view(), seal.item.view()});
    // One that was produced twice closes nothing more.
    if (static_cast<int64_t>(seal.epoch) <= item.epoch) return {};
    item.epoch = static_cast<int64_t>(seal.epoch);
    item.has_passed = true;
    return std::exchange(item.late, {});
}

void Sealing::queue_writes(Connection& connection) const {
    Uuids purchases, replaced;
    Texts sales, items, buyers;
    Integers positions, units, buckets, epochs, sequences, accepted;
    for (const auto& [key, item] : items_) {
        if (item.has_passed) {
            const Params of_item = Params().add(partition_).add(key.first).add(key.second);
            connection.queue("DELETE FROM late_records WHERE partition = $1 AND sale = $2 AND item = $3",
                             of_item);
            connection.queue(
                "INSERT INTO seals(partition, sale, item, epoch) VALUES($1, $2, $3, $4) "
                "ON CONFLICT(sale, item, partition) DO UPDATE SET epoch = excluded.epoch",
                Params(of_item).add(item.epoch));
        }
        for (const LedgerRecord& record : item.late) {
            const Acceptance& acceptance = record.entry->acceptance;
            positions.push(record.position);
            purchases.push(acceptance.purchase);
            sales.push(key.first);
            items.push(key.second);
            buyers.push(acceptance.buyer.view());
            units.push(acceptance.units);
            buckets.push(record.entry->bucket);
            epochs.push(record.entry->epoch);
            sequences.push(acceptance.sequence);
            accepted.push(to_ms(acceptance.accepted_at));
            replaced.push(record.entry->replaces);
        }
    }
    if (positions.size() == 0) return;
    // Those that were read and not passed stand there already.
    connection.queue(
        "INSERT INTO late_records(partition, position, purchase, sale, item, buyer, units, bucket, epoch, "
        "sequence, accepted_at_ms, replaces) SELECT $1, * FROM unnest($2::bigint[], $3::uuid[], $4::text[], "
        "$5::text[], "
        "$6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::uuid[]) "
        "ON CONFLICT DO NOTHING",
        Params()
            .add(partition_)
            .add(positions)
            .add(purchases)
            .add(sales)
            .add(items)
            .add(buyers)
            .add(units)
            .add(buckets)
            .add(epochs)
            .add(sequences)
            .add(accepted)
            .add(replaced));
}

}  // namespace doorbuster::pg
