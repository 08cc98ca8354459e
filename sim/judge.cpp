#include "sim/judge.hpp"

#include "audit/recount.hpp"

namespace doorbuster::sim {

const Item& Judge::terms(const ItemId& item) const {
    for (const Item& one : sale().sale.items) {
        if (one.id == item) return one;
    }
    CHECK(false);
    return sale().sale.items.front();
}

Judge::Counted Judge::count(const ItemId& item, const BuyerId& buyer) const {
    Counted counted;
    const bool takes_at_payment = sale().sale.stock_policy == StockPolicy::at_payment;
    for (const LedgerRecord& record : world_.ledger.records) {
        const LedgerEntry& entry = *record.entry;
        if (entry.item != item) continue;
        const auto placed = world_.orders.purchase(entry.acceptance.purchase);
        if (placed && placed->hold == HoldState::finished) continue;
        const bool has_unit = !takes_at_payment || (placed && placed->hold == HoldState::sold);
        (has_unit ? counted.taken : counted.open) += entry.acceptance.units;
        if (entry.acceptance.buyer == buyer) counted.of_buyer += entry.acceptance.units;
    }
    return counted;
}

int64_t Judge::units_free(const ItemId& item) const {
    return terms(item).units_total - count(item, BuyerId("nobody")).taken;
}

int64_t Judge::slots_free(const ItemId& item) const {
    const Item& of = terms(item);
    const int64_t slots_max = of.orders_max != 0 ? of.orders_max : 2 * int64_t{of.units_total};
    return slots_max - count(item, BuyerId("nobody")).open;
}

void Judge::broke(const Ask& ask, const Answer& answer, const std::string& why) {
    world_.broke(fmt::format("{} {} heard {}: {}", ask.buyer.view(), ask.purchase.hex().substr(0, 8),
                             heard_names[static_cast<size_t>(answer.heard)], why));
}

void Judge::answered(const Ask& ask, const Answer& answer) {
    const auto recorded = world_.ledger.by_purchase.find(ask.purchase);
    const bool is_recorded = recorded != world_.ledger.by_purchase.end();
    const Counted counted = count(ask.item, ask.buyer);
    const Item& item = terms(ask.item);
    if (counted.taken > item.units_total) broke(ask, answer, "P1: more units promised than there are");
    if (world_.ledger.purchases_twice > 0) broke(ask, answer, "P5: a purchase was recorded twice");
    if (counted.of_buyer > item.units_per_buyer_max)
        broke(ask, answer, "P4: the buyer has more than allowed");

    switch (answer.heard) {
        case Heard::accepted:
        case Heard::repeated:
        case Heard::cancelled: {
            if (!is_recorded) return broke(ask, answer, "P3: a yes that is not durable");
            const Acceptance& acceptance = world_.ledger.records[recorded->second].entry->acceptance;
            if (acceptance.sequence != answer.sequence || acceptance.buyer != ask.buyer ||
                acceptance.units != ask.units) {
                broke(ask, answer, "P5: not the purchase that was recorded");
            }
            const auto [promise, is_first] = promised_.emplace(ask.purchase, answer.sequence);
            if (promise->second != answer.sequence) broke(ask, answer, "P5: another sequence than before");
            if (!is_first && answer.heard == Heard::accepted) broke(ask, answer, "P5: accepted twice");
            const Sale& terms_now = sale().sale;
            if (answer.heard == Heard::accepted && (acceptance.accepted_at < terms_now.opens_at ||
                                                    acceptance.accepted_at >= terms_now.closes_at)) {
                broke(ask, answer, "accepted outside the window");
            }
            return;
        }
        case Heard::sold_out: {
            if (is_recorded) return broke(ask, answer, "P5: a winner who repeats");
            const int64_t returning = world_.process()->units_returning(ask.item, {});
            if (units_free(ask.item) - returning >= ask.units) broke(ask, answer, "P2: units are free");
            return;
        }
        case Heard::sold_out_for_now: {
            if (is_recorded) return broke(ask, answer, "P5: a winner who repeats");
            const int64_t returning = world_.process()->slots_returning(ask.item);
            if (slots_free(ask.item) - returning >= ask.units) broke(ask, answer, "P2: there is room");
            return;
        }
        case Heard::limit_reached: {
            if (is_recorded) return broke(ask, answer, "P5: a winner who repeats");
            const int64_t returning = world_.process()->units_returning(ask.item, ask.buyer);
            if (counted.of_buyer + returning + ask.units <= item.units_per_buyer_max) {
                broke(ask, answer, "P4: the buyer's right is free");
            }
            return;
        }
        case Heard::not_open:
        case Heard::ended:
        case Heard::paused: {
            if (is_recorded) return broke(ask, answer, "P5: a winner who repeats");
            const bool is_paused = sale().state == SaleState::paused || world_.process()->has_words_pending();
            if (answer.heard == Heard::paused && !is_paused) broke(ask, answer, "nobody paused the sale");
            return;
        }
        case Heard::key_mismatch:
            if (!is_recorded) broke(ask, answer, "no purchase has this key");
            return;
        case Heard::overloaded:
        case Heard::rebuilding:
        case Heard::unknown:
        case Heard::nothing:
            return;
    }
}

void Judge::at_rest() {
    Process& process = *world_.process();
    Random no_faults(0);
    Disk sound(no_faults, {});
    MemoryLedgerReader ledger(world_.ledger, sound);
    MemoryOrdersReader orders(world_.orders, sound);
    const auto records = audit::read_records(ledger, orders);
    for (const audit::Difference& one : audit::recount(*records)) {
        world_.broke(fmt::format("audit: {} {} {}", audit::name_of(one.kind), one.where, one.detail));
    }
    if (world_.orders.position != world_.ledger.records.size())
        world_.broke("P3: the worker did not catch up");
    for (const auto& [purchase, sequence] : promised_) {
        if (!world_.orders.purchases.contains(purchase)) {
            world_.broke(fmt::format("P3: {} was promised and is nowhere", purchase.hex().substr(0, 8)));
        }
    }
    for (size_t i = 0; i < sale().sale.items.size(); ++i) {
        const ItemId& item = sale().sale.items[i].id;
        const Stock& row = sale().stock[i];
        if (process.book(item).stock() != row)
            world_.broke("P1: book and stock row differ for " + item.str());
        if (process.book(item).slots_used() != count(item, BuyerId("nobody")).open)
            world_.broke("the book counts other open orders than there are of " + item.str());
        if (process.listed().items[i].board->stock() != row) {
            world_.broke("P1: board and stock row differ for " + item.str());
        }
        if (process.listed().items[i].board->sold_out() != (row.units_available == 0)) {
            world_.broke("P2: the sold-out flag is wrong for " + item.str());
        }
    }
}

}  // namespace doorbuster::sim
