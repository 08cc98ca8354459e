#include "audit/records.hpp"

namespace doorbuster::audit {

StoreResult<Records> read_records(LedgerReader& ledger, OrdersReader& orders) {
    constexpr size_t per_read = 4096;
    Records records;
    // The position first: the ledger is then never behind it.
    const auto position = orders.position();
    if (!position) return position.error();
    records.position = *position;
    auto sales = orders.sales();
    if (!sales) return sales.error();
    records.sales = *std::move(sales);
    const auto purchases = orders.each_purchase([&](const auto& one) { records.purchases.push_back(one); });
    if (!purchases) return purchases.error();
    const auto placed = orders.each_order([&](const auto& one) { records.orders.push_back(one); });
    if (!placed) return placed.error();
    const auto holdings = orders.each_holding([&](const auto& one) { records.holdings.push_back(one); });
    if (!holdings) return holdings.error();

    for (uint64_t after = 0;;) {
        auto letters = orders.dead_letters(after, per_read);
        if (!letters) return letters.error();
        if (letters->empty()) break;
        after = letters->back().position;
        records.dead_letters.insert(records.dead_letters.end(), letters->begin(), letters->end());
    }
    for (uint64_t after = 0;;) {
        auto some = ledger.read_after(after, per_read);
        if (!some) return some.error();
        if (some->empty()) return records;
        after = some->back().position;
        records.ledger.insert(records.ledger.end(), some->begin(), some->end());
    }
}

}  // namespace doorbuster::audit
