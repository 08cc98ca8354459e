#include "audit/records.hpp"

#include <algorithm>
#include <unordered_set>

namespace doorbuster::audit {

namespace {

constexpr size_t per_read = 4096;

class Reading {
public:
    Reading(OrdersReader& orders, const std::optional<SaleId>& only) : orders_(orders), only_(only) {}

    StoreResult<void> read_orders() {
        auto cut = orders_.cut();
        if (!cut) return cut.error();
        records.position = *std::move(cut);
        auto sales = orders_.sales();
        if (!sales) return sales.error();
        records.sales = *std::move(sales);
        std::erase_if(records.sales, [&](const SaleRecord& one) { return !is_meant(one.sale.id); });

        const auto keep_purchase = [&](const PurchaseRecord& one) { records.purchases.push_back(one); };
        const auto purchases =
            only_ ? orders_.each_purchase_of(*only_, keep_purchase) : orders_.each_purchase(keep_purchase);
        if (!purchases) return purchases;
        // Orders of a missing row are known by the purchases that name them.
        std::unordered_set<int64_t> order_ids;
        for (const PurchaseRecord& one : records.purchases) {
            if (one.order) order_ids.insert(static_cast<int64_t>(*one.order));
        }
        const auto orders = orders_.each_order([&](const OrderRecord& one) {
            if (!is_meant(one.sale)) return;
            order_ids.insert(static_cast<int64_t>(one.id));
            records.orders.push_back(one);
        });
        if (!orders) return orders;
        const auto payments = orders_.each_payment([&](const PaymentRecord& one) {
            if (!only_ || order_ids.contains(static_cast<int64_t>(one.order)))
                records.payments.push_back(one);
        });
        if (!payments) return payments;
        return read_journals();
    }

    StoreResult<void> read_ledger(LedgerReader& ledger) {
        for (uint64_t after = 0;;) {
            auto some = ledger.read_after(after, per_read);
            if (!some) return some.error();
            if (some->empty()) return {};
            after = some->back().position;
            for (LedgerRecord& one : *some) {
                const bool belongs = one.entry  ? is_meant(one.entry->sale)
                                     : one.seal ? is_meant(one.seal->sale)
                                                : !only_;
                if (belongs) records.ledger.push_back(std::move(one));
            }
        }
    }

    Records records;

private:
    bool is_meant(const SaleId& sale) const { return !only_ || *only_ == sale; }

    StoreResult<void> read_journals() {
        const auto holdings = orders_.each_holding([&](const Holding& one) {
            if (is_meant(one.sale)) records.holdings.push_back(one);
        });
        if (!holdings) return holdings;
        const auto moves = orders_.each_stock_move([&](const StockMove& one) {
            if (is_meant(one.sale)) records.stock_moves.push_back(one);
        });
        if (!moves) return moves;
        const auto late = orders_.each_late([&](uint64_t position) { records.late.insert(position); });
        if (!late) return late;
        std::sort(records.stock_moves.begin(), records.stock_moves.end(),
                  [](const StockMove& a, const StockMove& b) { return a.number < b.number; });

        for (uint64_t after = 0;;) {
            auto events = orders_.events_after(after, per_read);
            if (!events) return events.error();
            if (events->empty()) break;
            after = events->back().number;
            for (const EventRecord& one : *events) {
                if (one.kind == EventKind::purchase_cancelled && one.purchase && is_meant(one.sale))
                    records.cancellations.push_back(*one.purchase);
            }
        }
        for (uint64_t after = 0;;) {
            auto letters = orders_.dead_letters(after, per_read);
            if (!letters) return letters.error();
            if (letters->empty()) return {};
            after = letters->back().position;
            records.dead_letters.insert(records.dead_letters.end(), letters->begin(), letters->end());
        }
    }

    OrdersReader& orders_;
    const std::optional<SaleId>& only_;
};

}  // namespace

StoreResult<Records> read_records(LedgerReader& ledger, OrdersReader& orders,
                                  const std::optional<SaleId>& only) {
    Reading reading(orders, only);
    auto end = ledger.end();
    if (!end) return end.error();
    reading.records.end_before = *std::move(end);
    const auto read = orders.at_one_moment([&] { return reading.read_orders(); });
    if (!read) return read.error();
    const auto appended = reading.read_ledger(ledger);
    if (!appended) return appended.error();
    return std::move(reading.records);
}

}  // namespace doorbuster::audit
