// The statements of the cluster's tables, by how they begin. A condition that a statement no longer has is
// not judged, either: that is read from its text.
#include <algorithm>

#include "base/check.hpp"
#include "sim/cluster_postgres.hpp"
#include "sim/cluster_rows.hpp"
#include "store/row_words.hpp"
#include "store_cluster/pg_schema.hpp"

namespace doorbuster::sim::cluster {

namespace {

using pg::Rows;

struct Asked {
    PgSession& session;
    std::string_view sql;
    PgArguments arguments;

    const PgTables& tables() const { return session.tables(); }
    bool says(std::string_view words) const { return sql.find(words) != std::string_view::npos; }
    int64_t now_us() const { return session.world().now_us(); }
    void write(std::function<void(PgTables&)> what) const { session.write(std::move(what)); }
    ItemName item(size_t first) const { return {arguments.text(first), arguments.text(first + 1)}; }
};

Rows updated(size_t changed) {
    return command_done("UPDATE", changed);
}
Rows inserted(size_t changed) {
    return command_done("INSERT", changed);
}

std::string row_of(const ItemName& item) {
    return "item " + item.first + "/" + item.second;
}

// Of an item that somebody changes: locked, and as it is then.
const PgItem* locked_item(const Asked& asked, const ItemName& name) {
    asked.session.lock(row_of(name));
    const auto found = asked.tables().items.find(name);
    return found == asked.tables().items.end() ? nullptr : &found->second;
}

// The worker's position and lease

Rows move_position(const Asked& asked) {
    const auto& a = asked.arguments;
    const int64_t partition = a.integer(1), to = a.integer(3);
    asked.session.lock("offset " + std::to_string(partition));
    const auto found = asked.tables().partitions.find(partition);
    if (found == asked.tables().partitions.end()) return updated(0);
    const bool is_there = !asked.says("position = $2") || found->second.position == a.integer(2);
    const bool is_mine = !asked.says("generation = $4") || found->second.generation == a.integer(4);
    if (!is_there || !is_mine) return updated(0);
    asked.write([=](PgTables& tables) { tables.partitions[partition].position = to; });
    return updated(1);
}

Rows read_position(const Asked& asked) {
    PgAnswer answer(1);
    const auto found = asked.tables().partitions.find(asked.arguments.integer(1));
    if (found != asked.tables().partitions.end()) answer.add(found->second.position);
    return answer.rows();
}

Rows take_partition(const Asked& asked) {
    const int64_t partition = asked.arguments.integer(1);
    const int64_t until_us = asked.now_us() + asked.arguments.integer(3) * 1000;
    asked.session.lock("lease " + std::to_string(partition));
    PgAnswer answer(1);
    const auto found = asked.tables().partitions.find(partition);
    const PgPartition before = found == asked.tables().partitions.end() ? PgPartition{} : found->second;
    if (before.is_leased && before.expires_us > asked.now_us()) return answer.rows(0);
    asked.write([=](PgTables& tables) {
        PgPartition& row = tables.partitions[partition];
        row.is_leased = true;
        row.lease_generation = before.lease_generation + 1;
        row.expires_us = until_us;
    });
    answer.add(before.lease_generation + 1);
    return answer.rows(1);
}

Rows raise_offset_generation(const Asked& asked) {
    const int64_t partition = asked.arguments.integer(1), generation = asked.arguments.integer(2);
    asked.session.lock("offset " + std::to_string(partition));
    asked.write([=](PgTables& tables) { tables.partitions[partition].generation = generation; });
    return inserted(1);
}

Rows renew_partition(const Asked& asked) {
    const auto& a = asked.arguments;
    const int64_t partition = a.integer(1);
    const bool gives_back = !asked.says("$3");
    const int64_t until_us = asked.now_us() + (gives_back ? 0 : a.integer(3) * 1000);
    asked.session.lock("lease " + std::to_string(partition));
    const auto found = asked.tables().partitions.find(partition);
    if (found == asked.tables().partitions.end() || found->second.lease_generation != a.integer(2)) {
        asked.session.world().coverage.did(ClusterDeed::worker_overtaken);
        return updated(0);
    }
    asked.write([=](PgTables& tables) { tables.partitions[partition].expires_us = until_us; });
    return updated(1);
}

Rows announce_worker(const Asked& asked) {
    const std::string owner = asked.arguments.text(1);
    const int64_t until_us = asked.now_us() + asked.arguments.integer(2) * 1000;
    asked.write([=](PgTables& tables) { tables.workers[owner] = until_us; });
    return inserted(1);
}

Rows count_workers(const Asked& asked) {
    int64_t count = 0;  // without the row that this transaction has just written, where it is the first
    for (const auto& [owner, until_us] : asked.tables().workers) count += until_us > asked.now_us() ? 1 : 0;
    PgAnswer answer(1);
    answer.add(count);
    return answer.rows();
}

Rows free_partitions(const Asked& asked) {
    PgAnswer answer(1);
    for (int64_t one = 0; one < asked.arguments.integer(1); ++one) {
        const auto found = asked.tables().partitions.find(one);
        const bool is_held = found != asked.tables().partitions.end() && found->second.is_leased &&
                             found->second.expires_us > asked.now_us();
        if (!is_held) answer.add(one);
    }
    return answer.rows();
}

// Placing: what the records rest on

Rows known_purchases(const Asked& asked) {
    PgAnswer answer(4);
    for (const auto& id : asked.arguments.purchases(1)) {
        const auto found = asked.tables().purchases.find(*id);
        if (found == asked.tables().purchases.end()) continue;
        asked.session.world().coverage.did(ClusterDeed::duplicate);
        answer.add(*id).add(found->second.epoch).add(found->second.bucket).add(found->second.sequence);
    }
    return answer.rows();
}

Rows sealed_epoch(const Asked& asked) {
    PgAnswer answer(1);
    const auto found = asked.tables().seals.find({asked.item(2), asked.arguments.integer(1)});
    if (found != asked.tables().seals.end()) answer.add(found->second);
    return answer.rows();
}

Rows late_records(const Asked& asked) {
    PgAnswer answer(9);
    const ItemName item = asked.item(2);
    for (const auto& [at, late] : asked.tables().late) {
        if (at.first != asked.arguments.integer(1) || ItemName{late.sale, late.item} != item) continue;
        if (asked.tables().purchases.contains(late.purchase)) continue;
        answer.add(at.second).add(late.purchase).add(std::string_view(late.buyer)).add(late.units);
        answer.add(late.bucket).add(late.epoch).add(late.sequence).add(late.accepted_at_ms);
        late.replaces ? answer.add(*late.replaces) : answer.add_null();
    }
    return answer.rows();
}

Rows terms(const Asked& asked) {
    const ItemName name = asked.item(1);
    if (asked.says("FOR UPDATE")) asked.session.lock(row_of(name));
    PgAnswer answer(10);
    const auto found = asked.tables().items.find(name);
    if (found == asked.tables().items.end()) return answer.rows();
    const PgItem& item = found->second;
    const PgSale& sale = asked.tables().sale;
    answer.add(item.price_minor).add(item.units_per_buyer_max).add(int64_t{sale.sale.payment_window.count()});
    answer.add("TWD").add(name_of(sale.sale.stock_policy)).add(item.version).add(item.units_available);
    answer.add(item.epoch).add_flag(item.is_open);
    answer.add_flag(sale.state == SaleState::closed || sale.state == SaleState::reconciled);
    return answer.rows();
}

Rows active_units(const Asked& asked) {
    const ItemName item = asked.item(1);
    std::set<std::string> buyers;
    for (const auto& buyer : asked.arguments.texts(3)) buyers.insert(*buyer);
    PgAnswer answer(2);
    for (const auto& [id, order] : asked.tables().orders) {
        if (ItemName{order.sale, order.item} != item || order.hold == "finished") continue;
        if (buyers.contains(order.buyer)) answer.add(std::string_view(order.buyer)).add(order.units);
    }
    return answer.rows();
}

Rows known_takes(const Asked& asked) {
    const auto epochs = asked.arguments.integers(3), buckets = asked.arguments.integers(4),
               sequences = asked.arguments.integers(5);
    PgAnswer answer(4);
    for (const auto& [id, one] : asked.tables().purchases) {
        if (ItemName{one.sale, one.item} != asked.item(1)) continue;
        for (size_t i = 0; i < epochs.size(); ++i) {
            if (one.epoch != epochs[i] || one.bucket != buckets[i] || one.sequence != sequences[i]) continue;
            answer.add(one.epoch).add(one.bucket).add(one.sequence).add(id);
        }
    }
    return answer.rows();
}

// Placing: what is written

Rows ask_for_rebuilds(const Asked& asked) {
    if (!asked.says("unnest")) {  // the item's epoch of now
        const PgItem& item = asked.tables().items.at(asked.item(1));
        const std::pair key(asked.item(1), item.epoch);
        asked.write([=, why = asked.arguments.text(3)](PgTables& tables) {
            tables.rebuild_requests.try_emplace(key, why);
        });
        return inserted(1);
    }
    const auto sales = asked.arguments.texts(1), items = asked.arguments.texts(2),
               reasons = asked.arguments.texts(4);
    const auto epochs = asked.arguments.integers(3);
    for (size_t i = 0; i < sales.size(); ++i) {
        const std::pair key(ItemName{*sales[i], *items[i]}, *epochs[i]);
        asked.write(
            [=, why = *reasons[i]](PgTables& tables) { tables.rebuild_requests.try_emplace(key, why); });
    }
    return inserted(sales.size());
}

Rows insert_purchases(const Asked& asked) {
    const auto& a = asked.arguments;
    const auto ids = a.purchases(2);
    const auto sales = a.texts(3), items = a.texts(4), buyers = a.texts(5), states = a.texts(12),
               reasons = a.texts(13);
    const auto units = a.integers(6), epochs = a.integers(7), buckets = a.integers(8),
               sequences = a.integers(9), accepted = a.integers(10), positions = a.integers(11),
               orders = a.integers(14);
    for (size_t i = 0; i < ids.size(); ++i) {
        asked.session.lock("purchase " + ids[i]->hex());
        if (asked.tables().purchases.contains(*ids[i])) {
            pg::Failure failure(StoreErrc::not_allowed, "duplicate key value violates unique constraint");
            failure.constraint = "purchases_pkey";
            throw failure;
        }
        if (reasons[i].value_or("") == reason_late)
            asked.session.world().coverage.did(ClusterDeed::late_cancelled);
        const PgPurchase row{.sale = *sales[i],
                             .item = *items[i],
                             .buyer = *buyers[i],
                             .state = *states[i],
                             .reason = reasons[i].value_or(""),
                             .units = *units[i],
                             .epoch = *epochs[i],
                             .bucket = *buckets[i],
                             .sequence = *sequences[i],
                             .accepted_at_ms = *accepted[i],
                             .partition = a.integer(1),
                             .position = *positions[i],
                             .order = orders[i]};
        asked.write([id = *ids[i], row](PgTables& tables) { tables.purchases.emplace(id, row); });
    }
    return inserted(ids.size());
}

Rows insert_orders(const Asked& asked) {
    const auto& a = asked.arguments;
    const auto ids = a.integers(2), units = a.integers(7), amounts = a.integers(8), pay_by = a.integers(10);
    const auto purchases = a.purchases(3);
    const auto sales = a.texts(4), items = a.texts(5), buyers = a.texts(6), currencies = a.texts(9),
               holds = a.texts(11);
    for (size_t i = 0; i < ids.size(); ++i) {
        const PgOrder row{.purchase = *purchases[i],
                          .sale = *sales[i],
                          .item = *items[i],
                          .buyer = *buyers[i],
                          .currency = *currencies[i],
                          .state = "pending_payment",
                          .hold = *holds[i],
                          .falls_to = {},
                          .reason = {},
                          .units = *units[i],
                          .amount_minor = *amounts[i],
                          .version = 1,
                          .created_at_ms = a.integer(1),
                          .pay_by_ms = *pay_by[i]};
        asked.write([id = *ids[i], row](PgTables& tables) { tables.orders.emplace(id, row); });
    }
    return inserted(ids.size());
}

Rows take_units(const Asked& asked) {
    const auto& a = asked.arguments;
    const ItemName name = asked.item(1);
    const int64_t held = a.integer(4), sold = a.integer(5);
    const PgItem* item = locked_item(asked, name);
    const bool is_seen = !asked.says("version = $3") || (item != nullptr && item->version == a.integer(3));
    const bool suffices =
        !asked.says("units_available >= $4") || (item != nullptr && item->units_available >= held + sold);
    if (item == nullptr || !is_seen || !suffices) return updated(0);
    asked.write([=](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        row.units_available -= held + sold;
        row.units_held += held;
        row.units_sold += sold;
        ++row.version;
    });
    return updated(1);
}

Rows insert_events(const Asked& asked) {
    const auto kinds = asked.arguments.texts(2);
    const auto purchases = asked.arguments.purchases(5);
    for (size_t i = 0; i < kinds.size(); ++i) {
        if (*kinds[i] != name_of(EventKind::purchase_cancelled)) continue;
        asked.write([id = *purchases[i]](PgTables& tables) { tables.cancellations_told.insert(id); });
    }
    return inserted(kinds.size());
}

Rows insert_releases(const Asked& asked) {
    const auto& a = asked.arguments;
    const auto sales = a.texts(2), items = a.texts(3);
    const auto purchases = a.purchases(4);
    const auto units = a.integers(5);
    const auto kinds = a.texts(6);
    for (size_t i = 0; i < sales.size(); ++i) {
        const ItemName name{*sales[i], *items[i]};
        const PgRelease row{.sale = name.first,
                            .item = name.second,
                            .epoch = asked.tables().items.at(name).epoch,
                            .units = *units[i],
                            .purchase = purchases[i],
                            .is_sold = *kinds[i] == "sold",
                            .is_applied = false};
        asked.write([row](PgTables& tables) {
            tables.releases.emplace(static_cast<int64_t>(tables.releases.size()) + 1, row);
        });
    }
    return inserted(sales.size());
}

Rows delete_late(const Asked& asked) {
    const int64_t partition = asked.arguments.integer(1);
    const ItemName item = asked.item(2);
    for (const auto& [at, late] : asked.tables().late) {
        const bool is_of_item = at.first == partition && ItemName{late.sale, late.item} == item;
        if (is_of_item && asked.tables().purchases.contains(late.purchase))
            asked.session.world().coverage.did(ClusterDeed::late_won);
    }
    asked.write([=](PgTables& tables) {
        std::erase_if(tables.late, [&](const auto& one) {
            return one.first.first == partition && ItemName{one.second.sale, one.second.item} == item;
        });
    });
    return command_done("DELETE");
}

Rows insert_seal(const Asked& asked) {
    const std::pair key(asked.item(2), asked.arguments.integer(1));
    asked.write([=, epoch = asked.arguments.integer(4)](PgTables& tables) { tables.seals[key] = epoch; });
    return inserted(1);
}

Rows insert_late(const Asked& asked) {
    const auto& a = asked.arguments;
    const auto positions = a.integers(2), units = a.integers(7), buckets = a.integers(8),
               epochs = a.integers(9), sequences = a.integers(10), accepted = a.integers(11);
    const auto purchases = a.purchases(3), replaced = a.purchases(12);
    const auto sales = a.texts(4), items = a.texts(5), buyers = a.texts(6);
    for (size_t i = 0; i < positions.size(); ++i) {
        const PgLate row{.purchase = *purchases[i],
                         .sale = *sales[i],
                         .item = *items[i],
                         .buyer = *buyers[i],
                         .units = *units[i],
                         .bucket = *buckets[i],
                         .epoch = *epochs[i],
                         .sequence = *sequences[i],
                         .accepted_at_ms = *accepted[i],
                         .replaces = replaced[i]};
        asked.session.world().coverage.did(ClusterDeed::late);
        asked.write([at = std::pair(a.integer(1), *positions[i]), row](PgTables& tables) {
            tables.late.emplace(at, row);
        });
    }
    return inserted(positions.size());
}

// Epochs

Rows leased_items(const Asked& asked) {
    PgAnswer answer(5);
    for (const auto& [name, item] : asked.tables().items) {
        answer.add(std::string_view(item.sale)).add(std::string_view(item.id)).add(item.epoch).add(item.pin);
        answer.add_flag(item.epoch == 0);  // nobody looks purchases up here
    }
    return answer.rows();
}

Rows watched_items(const Asked& asked) {
    PgAnswer answer(8);
    const PgSale& sale = asked.tables().sale;
    for (const auto& [name, item] : asked.tables().items) {
        const auto asked_for = asked.tables().rebuild_requests.find({name, item.epoch});
        answer.add(std::string_view(item.sale)).add(std::string_view(item.id)).add(item.epoch).add(item.pin);
        answer.add(name_of(sale.state)).add(sale.version);
        answer.add(
            std::string_view(asked_for == asked.tables().rebuild_requests.end() ? "" : asked_for->second));
        answer.add_flag(std::ranges::any_of(asked.tables().late, [&](const auto& one) {
            return ItemName{one.second.sale, one.second.item} == name;
        }));
    }
    return answer.rows();
}

Rows close_epoch(const Asked& asked) {
    const ItemName name = asked.item(1);
    const PgItem* item = locked_item(asked, name);
    PgAnswer answer(1);
    const bool is_same =
        !asked.says("epoch = $3") || (item != nullptr && item->epoch == asked.arguments.integer(3));
    if (item == nullptr || !is_same) return answer.rows(0);
    asked.write([=](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        ++row.epoch;
        ++row.version;
        row.is_open = false;
        row.pin.reset();
    });
    answer.add(item->epoch + 1);
    return answer.rows(1);
}

Rows cut_epoch(const Asked& asked) {
    const ItemName name = asked.item(1);
    const PgItem* item = locked_item(asked, name);
    PgAnswer answer(5);
    if (item == nullptr || item->epoch != asked.arguments.integer(3) || item->is_open) return answer.rows(0);
    asked.write([=](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        ++row.epoch;
        ++row.version;
    });
    answer.add(item->units_total).add(item->units_available).add(item->units_held).add(item->units_sold);
    answer.add(item->epoch + 1);
    return answer.rows(1);
}

Rows open_epoch(const Asked& asked) {
    const ItemName name = asked.item(1);
    const PgItem* item = locked_item(asked, name);
    if (item == nullptr || item->epoch != asked.arguments.integer(3) || item->is_open) return updated(0);
    asked.write([=, pin = asked.arguments.text(4)](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        row.is_open = true;
        row.pin = pin;
        ++row.version;
    });
    return updated(1);
}

Rows read_sales(const Asked& asked) {
    const auto& [sale, state, version] = asked.tables().sale;
    PgAnswer answer(26);
    for (const auto& [name, item] : asked.tables().items) {
        answer.add(sale.id.view()).add(name_of(state)).add(version).add(std::string_view(sale.title));
        answer.add(to_ms(sale.opens_at)).add(to_ms(sale.closes_at)).add(int64_t{sale.warm_before.count()});
        answer.add(int64_t{sale.payment_window.count()}).add(name_of(sale.human_check)).add(int64_t{0});
        answer.add(int64_t{0}).add(int64_t{0}).add(name_of(sale.stock_policy)).add(int64_t{0});
        answer.add(std::string_view(item.sale)).add(std::string_view(item.id)).add(std::string_view(item.id));
        answer.add(item.price_minor).add(item.price_minor).add("TWD").add(item.units_per_buyer_max);
        answer.add(item.units_total).add(item.units_available).add(item.units_held).add(item.units_sold);
        answer.add(item.orders_max);
    }
    return answer.rows();
}

template <class Visit>
void each_purchase_of(const Asked& asked, Visit visit) {
    std::map<std::pair<int64_t, int64_t>, const std::pair<const PurchaseId, PgPurchase>*> sorted;
    for (const auto& one : asked.tables().purchases) {
        if (ItemName{one.second.sale, one.second.item} == asked.item(1))
            sorted[{one.second.partition, one.second.position}] = &one;
    }
    for (const auto& [at, one] : sorted) visit(one->first, one->second);
}

Rows purchases_of_item(const Asked& asked) {
    PgAnswer answer(13);
    each_purchase_of(asked, [&](const PurchaseId& id, const PgPurchase& one) {
        answer.add(id).add(std::string_view(one.sale)).add(std::string_view(one.item));
        answer.add(std::string_view(one.buyer)).add(one.units).add(one.sequence).add(one.accepted_at_ms);
        answer.add(std::string_view(one.state)).add(std::string_view(one.reason)).add(one.order);
        if (!one.order) {
            answer.add_null().add_null().add(one.epoch);
            return;
        }
        const PgOrder& order = asked.tables().orders.at(*one.order);
        answer.add(std::string_view(order.hold)).add_flag(order.purchase == id).add(one.epoch);
    });
    return answer.rows();
}

Rows count_seals(const Asked& asked) {
    int64_t count = 0;
    for (const auto& partition : asked.arguments.integers(4)) {
        const auto found = asked.tables().seals.find({asked.item(1), *partition});
        count += found != asked.tables().seals.end() && found->second >= asked.arguments.integer(3) ? 1 : 0;
    }
    PgAnswer answer(1);
    answer.add(count);
    return answer.rows();
}

// Releases

Rows waiting_releases(const Asked& asked) {
    PgAnswer answer(8);
    for (const auto& [number, row] : asked.tables().releases) {
        const auto& item = asked.tables().items.at({row.sale, row.item});
        if (row.is_applied || (item.epoch <= row.epoch && !item.pin)) continue;
        answer.add(number).add(std::string_view(row.sale)).add(std::string_view(row.item)).add(row.epoch);
        row.purchase ? answer.add(*row.purchase) : answer.add_null();
        answer.add(row.units).add_flag(item.epoch > row.epoch).add_flag(row.is_sold);
    }
    return answer.rows();
}

Rows mark_releases(const Asked& asked) {
    const auto numbers = asked.arguments.integers(1);
    asked.write([numbers](PgTables& tables) {
        for (const auto& number : numbers) tables.releases.at(*number).is_applied = true;
    });
    return updated(numbers.size());
}

// Orders that end, units that are added

Rows orders_in_state(const Asked& asked) {
    PgAnswer answer(19);
    int64_t count = 0;
    for (const auto& [id, order] : asked.tables().orders) {
        if (order.state != asked.arguments.text(1) || count++ == asked.arguments.integer(2)) continue;
        answer.add(id)
            .add(order.purchase)
            .add(std::string_view(order.sale))
            .add(std::string_view(order.item));
        answer.add(std::string_view(order.buyer)).add(order.units).add(order.amount_minor);
        answer.add(std::string_view(order.currency)).add(std::string_view(order.state)).add(order.version);
        answer.add(order.created_at_ms).add(order.pay_by_ms).add(order.created_at_ms);
        answer.add(std::string_view(order.hold)).add_null().add_null().add_null();
        answer.add(std::string_view(order.reason)).add(name_of(asked.tables().sale.sale.stock_policy));
    }
    return answer.rows();
}

Rows locked_orders(const Asked& asked) {
    PgAnswer answer(3);
    for (const auto& id : asked.arguments.integers(1)) {
        asked.session.lock("order " + std::to_string(*id));
        const auto found = asked.tables().orders.find(*id);
        if (found == asked.tables().orders.end()) continue;
        answer.add(*id).add(found->second.version).add(std::string_view(found->second.state));
    }
    return answer.rows();
}

Rows locked_stock(const Asked& asked) {
    const auto sales = asked.arguments.texts(1), items = asked.arguments.texts(2);
    PgAnswer answer(5);
    for (size_t i = 0; i < sales.size(); ++i) {
        const PgItem* item = locked_item(asked, {*sales[i], *items[i]});
        if (item == nullptr) continue;
        answer.add(std::string_view(item->sale)).add(std::string_view(item->id)).add(item->units_available);
        answer.add(item->units_held).add(item->units_sold);
    }
    return answer.rows();
}

Rows move_orders(const Asked& asked) {
    const auto& a = asked.arguments;
    const auto ids = a.integers(2), versions = a.integers(6);
    const auto states = a.texts(7), holds = a.texts(8), reasons = a.texts(11);
    for (size_t i = 0; i < ids.size(); ++i) {
        asked.write([id = *ids[i], version = *versions[i], state = *states[i], hold = *holds[i],
                     reason = reasons[i].value_or("")](PgTables& tables) {
            PgOrder& order = tables.orders.at(id);
            order.version = version;
            order.state = state;
            order.hold = hold;
            order.reason = reason;
        });
    }
    return updated(ids.size());
}

Rows move_stock(const Asked& asked) {
    const auto& a = asked.arguments;
    const ItemName name = asked.item(1);
    if (locked_item(asked, name) == nullptr) return updated(0);
    asked.write([=, available = a.integer(3), held = a.integer(4), sold = a.integer(5)](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        row.units_available += available;
        row.units_held += held;
        row.units_sold += sold;
        ++row.version;
    });
    return updated(1);
}

Rows update_sale(const Asked& asked) {
    asked.session.lock("sale");
    if (asked.tables().sale.version != asked.arguments.integer(2)) return updated(0);
    const auto state = sale_state_of(asked.arguments.text(3));
    CHECK(state.has_value());
    asked.write([state](PgTables& tables) {
        tables.sale.state = *state;
        ++tables.sale.version;
    });
    return updated(1);
}

Rows add_units(const Asked& asked) {
    const ItemName name = asked.item(1);
    if (locked_item(asked, name) == nullptr) return updated(0);
    asked.write([=, units = asked.arguments.integer(3)](PgTables& tables) {
        PgItem& row = tables.items.at(name);
        row.units_total += units;
        row.units_available += units;
        ++row.version;
    });
    return updated(1);
}

Rows nothing(const Asked&) {
    return updated(0);
}

Rows one_flag(const Asked&) {
    PgAnswer answer(1);
    answer.add_flag(true);
    return answer.rows();
}

Rows schema_version(const Asked&) {
    PgAnswer answer(1);
    answer.add(static_cast<int64_t>(pg::migrations.size()));
    return answer.rows();
}

Rows no_payments(const Asked&) {
    return PgAnswer(2).rows();
}

struct Known {
    std::string_view begins;
    Rows (*run)(const Asked&);
};

// The first that fits counts.
constexpr Known known[] = {
    {"UPDATE partition_offsets SET position", move_position},
    {"SELECT position FROM partition_offsets", read_position},
    {"INSERT INTO partition_leases", take_partition},
    {"INSERT INTO partition_offsets", raise_offset_generation},
    {"UPDATE partition_leases", renew_partition},
    {"INSERT INTO workers", announce_worker},
    {"DELETE FROM workers", nothing},
    {"SELECT count(*) FROM workers", count_workers},
    {"SELECT one::bigint", free_partitions},
    {"SELECT id, epoch, bucket, sequence FROM purchases", known_purchases},
    {"SELECT epoch FROM seals", sealed_epoch},
    {"SELECT position, purchase, buyer, units", late_records},
    {"SELECT i.price_minor", terms},
    {"SELECT buyer, units FROM orders", active_units},
    {"SELECT p.epoch, p.bucket, p.sequence, p.id FROM purchases", known_takes},
    {"INSERT INTO rebuild_requests", ask_for_rebuilds},
    {"INSERT INTO purchases", insert_purchases},
    {"INSERT INTO orders", insert_orders},
    {"UPDATE items SET units_available = units_available - ", take_units},
    {"INSERT INTO events", insert_events},
    {"INSERT INTO stock_moves", nothing},
    {"INSERT INTO releases", insert_releases},
    {"DELETE FROM late_records", delete_late},
    {"INSERT INTO seals", insert_seal},
    {"INSERT INTO late_records", insert_late},
    {"INSERT INTO epoch_leases", nothing},
    {"DELETE FROM epoch_leases", nothing},
    {"SELECT i.sale, i.id, i.epoch, i.pin, i.pin IS NULL", leased_items},
    {"SELECT i.sale, i.id, i.epoch, i.pin, s.state", watched_items},
    {"UPDATE items SET epoch = epoch + 1, epoch_state = 'rebuilding'", close_epoch},
    {"UPDATE items SET epoch = epoch + 1, version", cut_epoch},
    {"UPDATE items SET epoch_state = 'open'", open_epoch},
    {"SELECT s.id, s.state, s.version, s.title", read_sales},
    {"SELECT p.id, p.sale, p.item, p.buyer", purchases_of_item},
    {"SELECT count(*) FROM seals", count_seals},
    {"SELECT r.number, r.sale", waiting_releases},
    {"UPDATE releases SET applied_at_ms", mark_releases},
    {"SELECT o.id, o.purchase, o.sale", orders_in_state},
    {"SELECT o.id, o.version, o.state FROM unnest", locked_orders},
    {"SELECT id, version FROM payments", no_payments},
    {"SELECT i.sale, i.id, i.units_available", locked_stock},
    {"UPDATE orders o SET state = t.state", move_orders},
    {"UPDATE items SET units_available = units_available + ", move_stock},
    {"UPDATE sales SET state", update_sale},
    {"UPDATE items SET units_total", add_units},
    {"SELECT to_regclass", one_flag},
    {"SELECT set_config('statement_timeout'", one_flag},
    {"SELECT coalesce(max(version), 0)::bigint FROM doorbuster.migrations", schema_version},
};

}  // namespace

pg::Rows command_done(std::string tag, size_t changed) {
    return {PQmakeEmptyPGresult(nullptr, PGRES_COMMAND_OK), std::move(tag), changed};
}

pg::Rows run_statement(PgSession& session, const pg::SimulatedServer::Statement& statement) {
    for (const Known& one : known) {
        if (statement.sql.starts_with(one.begins))
            return one.run({session, statement.sql, PgArguments(statement.params)});
    }
    std::fprintf(stderr, "doorbuster-sim: a statement that the simulation does not know: %s\n",
                 std::string(statement.sql).c_str());
    CHECK(false);
}

}  // namespace doorbuster::sim::cluster
