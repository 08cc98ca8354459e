#include "shard/rebuild.hpp"

namespace doorbuster {

StoreResult<Rebuilt> rebuild(Shard& shard, OrdersReader& orders, LedgerReader& ledger) {
    constexpr size_t records_per_read = 4096;
    Rebuilt rebuilt;
    const auto visited = orders.each_purchase([&](const PurchaseRecord& purchase) {
        shard.restore(purchase);
        ++rebuilt.purchases;
    });
    if (!visited) return visited.error();

    const auto position = orders.position();
    if (!position) return position.error();
    rebuilt.ledger_position = *position;
    for (;;) {
        const auto records = ledger.read_after(rebuilt.ledger_position, records_per_read);
        if (!records) return records.error();
        for (const LedgerRecord& record : *records) shard.restore(record);
        rebuilt.ledger_records += records->size();
        if (records->empty()) return rebuilt;
        rebuilt.ledger_position = records->back().position;
    }
}

}  // namespace doorbuster
