#include "sim/cluster_judge.hpp"

namespace doorbuster::sim::cluster {

void ClusterJudge::answered(const BookBucket& item, const ReserveEntry& entry, const Gate::Answer& answer) {
    using enum ClusterHeard;
    ++world_.coverage.heard_count[static_cast<size_t>(answer.heard)];
    world_.note(fmt::format("{} of {} hears {} for {} ({})", entry.buyer.view(), item.item.view(),
                            cluster_heard_names[static_cast<size_t>(answer.heard)], entry.purchase.hex(),
                            answer.book.sequence));
    const bool was_told = told_.contains(entry.purchase);
    switch (answer.heard) {
        case accepted:
            // Its repeat may have been answered first.
            if (!accepted_.insert(entry.purchase).second) {
                world_.broke("P5: accepted a second time: " + entry.purchase.hex());
            }
            said_yes(entry.purchase, answer.book.sequence);
            break;
        case repeated_finished:
            world_.coverage.did(ClusterDeed::winner_released);
            // No yes by itself: one that came behind its SEAL was cancelled, and is told so.
            if (was_told) said_yes(entry.purchase, answer.book.sequence);
            break;
        case repeated:
            said_yes(entry.purchase, answer.book.sequence);
            break;
        case sold_out:
        case shown_sold_out:
        case limit_reached:
            if (was_told) {
                world_.broke(fmt::format("P5: a winner who repeats heard {}: {}",
                                         cluster_heard_names[static_cast<size_t>(answer.heard)],
                                         entry.purchase.hex()));
            }
            break;
        case rebuilding:
        case unknown:
        case nothing:
            break;
    }
}

void ClusterJudge::said_yes(const PurchaseId& purchase, uint64_t sequence) {
    const auto [told, is_first] = told_.try_emplace(purchase, sequence);
    if (is_first || told->second == sequence) return;
    world_.broke(fmt::format("P6: {} was number {}, and is {} now", purchase.hex(), told->second, sequence));
}

void ClusterJudge::check_stock(const PgItem& item, int64_t units_of_orders) {
    const bool is_sound = item.units_available >= 0 && item.units_held >= 0 && item.units_sold >= 0 &&
                          item.units_available + item.units_held + item.units_sold == item.units_total;
    if (is_sound && item.units_held + item.units_sold == units_of_orders) return;
    world_.broke(fmt::format("P1: {}: {} available, {} held, {} sold of {}; the orders have {}", item.id,
                             item.units_available, item.units_held, item.units_sold, item.units_total,
                             units_of_orders));
}

void ClusterJudge::committed() {
    const PgTables& tables = stores_.postgres.tables;
    std::map<ItemName, int64_t> units;
    std::map<std::pair<ItemName, std::string>, int64_t> units_of_buyer;
    std::set<PurchaseId> ordered;
    for (const auto& [id, order] : tables.orders) {
        if (!ordered.insert(order.purchase).second) {
            world_.broke("P5: a second order for " + order.purchase.hex());
        }
        if (order.hold == "finished") continue;
        const ItemName name{order.sale, order.item};
        units[name] += order.units;
        units_of_buyer[{name, order.buyer}] += order.units;
    }
    for (const auto& [name, item] : tables.items) check_stock(item, units[name]);
    for (const auto& [whose, count] : units_of_buyer) {
        if (count <= tables.items.at(whose.first).units_per_buyer_max) continue;
        world_.broke(fmt::format("P4: {} holds {} of {}", whose.second, count, whose.first.second));
    }
    std::set<std::tuple<ItemName, int64_t, int64_t, int64_t>> takes;
    for (const auto& [id, one] : tables.purchases) {
        const bool is_own =
            takes.insert({ItemName{one.sale, one.item}, one.epoch, one.bucket, one.sequence}).second;
        if (!is_own) world_.broke(fmt::format("P6: take {}-{} twice", one.epoch, one.sequence));
    }
}

std::optional<BookPeek> ClusterJudge::peek(const BookBucket& item) {
    if (stores_.redis.is_away()) return std::nullopt;
    const auto reply = redis_reply_of(stores_.redis.primary()->execute(peek_call(item)));
    const auto peeked = read_peek(*reply);
    if (!peeked || !peeked->book) return std::nullopt;
    return *peeked;
}

bool ClusterJudge::is_at_rest() {
    const PgTables& tables = stores_.postgres.tables;
    if (stores_.kafka.under_way() > 0) return false;
    for (int32_t partition = 0; partition < stores_.kafka.count(); ++partition) {
        const auto found = tables.partitions.find(partition);
        const int64_t position = found == tables.partitions.end() ? 0 : found->second.position;
        if (position != static_cast<int64_t>(stores_.kafka.size(static_cast<uint64_t>(partition))))
            return false;
    }
    for (const auto& [number, row] : tables.releases) {
        if (!row.is_applied) return false;
    }
    for (const BookBucket& item : items_) {
        const PgItem& row = row_of(item);
        if (!row.is_open || tables.rebuild_requests.contains({{row.sale, row.id}, row.epoch})) return false;
        const auto there = peek(item);
        if (!there || there->pin != row.pin || there->book->outbox_entries > 0) return false;
    }
    return true;
}

void ClusterJudge::check_item(const BookBucket& item) {
    const PgItem& row = row_of(item);
    const auto there = peek(item);
    if (!there) return world_.broke("P2: Redis has no book of " + row.id);
    const Stock& stock = there->book->figures.stock;
    if (stock.units_available != row.units_available || stock.units_total != row.units_total) {
        world_.broke(fmt::format("P2: {}: Redis has {} of {}, PostgreSQL {} of {}", row.id,
                                 stock.units_available, stock.units_total, row.units_available,
                                 row.units_total));
    }
    uint64_t known = 0;
    std::set<int64_t> sequences;
    for (const auto& [id, one] : stores_.postgres.tables.purchases) {
        if (one.item != row.id) continue;
        ++known;
        if (one.epoch == row.epoch) sequences.insert(one.sequence);
    }
    if (known != there->book->purchases_known) {
        world_.broke(fmt::format("P2: {}: Redis knows {} purchases, PostgreSQL {}", row.id,
                                 there->book->purchases_known, known));
    }
    const auto count = static_cast<int64_t>(sequences.size());
    const bool is_dense = sequences.empty() || (*sequences.begin() == 1 && *sequences.rbegin() == count);
    if (!is_dense || there->book->figures.sequence_last != sequences.size()) {
        world_.broke(fmt::format("P6: {}: {} takes in epoch {}, up to {}", row.id, count, row.epoch,
                                 there->book->figures.sequence_last));
    }
}

void ClusterJudge::check_at_rest() {
    const PgTables& tables = stores_.postgres.tables;
    committed();
    for (const BookBucket& item : items_) check_item(item);
    for (const auto& [at, late] : tables.late) {
        if (!tables.purchases.contains(late.purchase)) {
            world_.broke("P3: a late record is left: " + late.purchase.hex());
        }
    }
    for (const auto& [id, sequence] : told_) {
        const auto found = tables.purchases.find(id);
        if (found == tables.purchases.end()) {
            world_.broke("P3: a yes was forgotten: " + id.hex());
        } else if (found->second.state == "cancelled") {
            world_.broke(fmt::format("P3: a yes found no unit: {} ({})", id.hex(), found->second.reason));
        }
    }
    for (const auto& [id, one] : tables.purchases) {
        if (one.state == "cancelled" && !tables.cancellations_told.contains(id)) {
            world_.broke("P3: a cancellation that nobody was told of: " + id.hex());
        }
        if ((one.state == "ordered") != one.order.has_value()) {
            world_.broke("P3: a purchase without its order: " + id.hex());
        }
    }
}

}  // namespace doorbuster::sim::cluster
