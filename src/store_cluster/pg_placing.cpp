#include "store_cluster/pg_placing.hpp"

#include <fmt/format.h>

namespace doorbuster::pg {

namespace {

const LedgerEntry& entry_of(const Placement& placement) {
    if (!placement.record.entry) throw Failure(StoreErrc::not_allowed, "the record cannot be read");
    return *placement.record.entry;
}

const std::string select_terms =
    "SELECT i.price_minor, i.units_per_buyer_max, s.payment_window_s, i.currency, s.stock_policy, i.version, "
    "i.units_available, i.epoch, i.epoch_state = 'open', s.state IN ('closed', 'reconciled') "
    "FROM items i JOIN sales s ON s.id = i.sale WHERE i.sale = $1 AND i.id = $2";
const std::string select_terms_locked = select_terms + " FOR UPDATE OF i";

constexpr std::string_view update_position =
    "UPDATE partition_offsets SET position = $3 WHERE partition = $1 AND position = $2 AND generation = $4";

Params position_params(WorkerPlace place, uint64_t expected, uint64_t to) {
    return Params().add(place.partition).add(expected).add(to).add(place.generation);
}

void expect_moved(const Rows& answer) {
    if (answer.changed() == 1) return;
    throw Failure(StoreErrc::conflict,
                  "the worker's position is not the one expected, or another worker has its partition");
}

// A fresh id is nobody's outside: what becomes of the purchase that it continues is told by that one's
// own events. Only the unit that the book gave it is on record.
void tell_cancelled(Journal& journal, const LedgerEntry& entry) {
    const Acceptance& acceptance = entry.acceptance;
    const std::string_view sale = entry.sale.view();
    if (entry.replaces) {
        journal.stock_moved(StockMoveKind::released,
                            {sale, entry.item.view(), acceptance.purchase, acceptance.units});
    } else {
        journal.tell(EventKind::purchase_cancelled, {.sale = sale, .purchase = acceptance.purchase});
    }
}

}  // namespace

void move_position(Connection& connection, WorkerPlace place, uint64_t expected, uint64_t to) {
    expect_moved(connection.run(update_position, position_params(place, expected, to)));
}

void cancel_unplaceable(Connection& connection, WorkerPlace place, const LedgerRecord& record, Instant now) {
    const LedgerEntry& entry = *record.entry;
    const Acceptance& acceptance = entry.acceptance;
    const std::string_view sale = entry.sale.view(), item = entry.item.view();
    connection.queue("SELECT version FROM items WHERE sale = $1 AND id = $2 FOR UPDATE",
                     Params().add(sale).add(item));
    const Rows inserted = connection.run(
        "INSERT INTO purchases(id, sale, item, buyer, units, epoch, bucket, sequence, accepted_at_ms, "
        "partition, position, state, reason) "
        "VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'cancelled', $12) "
        "ON CONFLICT(id) DO NOTHING",
        Params()
            .add(acceptance.purchase)
            .add(sale)
            .add(item)
            .add(acceptance.buyer.view())
            .add(acceptance.units)
            .add(entry.epoch)
            .add(entry.bucket)
            .add(acceptance.sequence)
            .add(to_ms(acceptance.accepted_at))
            .add(place.partition)
            .add(record.position)
            .add(reason_unplaceable));
    if (inserted.changed() != 1) return;
    Journal journal(place.partition, now);
    if (acceptance.units > 0) journal.give_back({sale, item, acceptance.purchase, acceptance.units});
    tell_cancelled(journal, *record.entry);
    journal.queue(connection);
    connection.settle();
}

Placing::Placing(Connection& connection, WorkerPlace place, std::span<const Placement> placements,
                 Instant now, bool locked)
    : connection_(connection),
      place_(place),
      placements_(placements),
      now_(now),
      locked_(locked),
      sealing_(place.partition),
      journal_(place.partition, now) {
    for (const Placement& placement : placements_) {
        if (const auto& seal = placement.record.seal) {
            items_[{seal->sale.view(), seal->item.view()}];
            sealing_.expect_seal({seal->sale.view(), seal->item.view()});
            continue;
        }
        const LedgerEntry& entry = entry_of(placement);
        const ItemKey key{entry.sale.view(), entry.item.view()};
        ItemBatch& item = items_[key];
        sealing_.expect(key);
        item.active_units[entry.acceptance.buyer.view()] = 0;
        item.takes[take_of(entry)];
        if (entry.replaces) continued_[*entry.replaces];
    }
}

std::vector<Placed> Placing::run_from(uint64_t expected_position) {
    const size_t moved = connection_.queue(
        update_position, position_params(place_, expected_position, placements_.back().record.position));
    queue_reads();
    const auto answers = connection_.settle();
    expect_moved(answers[moved]);
    return finish(answers, moved + 1);
}

std::vector<Placed> Placing::run() {
    const size_t first = queue_reads();
    return finish(connection_.settle(), first);
}

std::vector<Placed> Placing::finish(const std::vector<Rows>& answers, size_t first) {
    take_in(answers, first);
    std::vector<Placed> outcomes;
    outcomes.reserve(placements_.size());
    for (const Placement& placement : placements_) outcomes.push_back(decide(placement));
    write();
    return outcomes;
}

// Where the first of the answers will be. Item by item, sorted: where rows are locked, in this order.
size_t Placing::queue_reads() {
    Uuids ids;
    for (const Placement& placement : placements_) {
        if (!placement.record.seal) ids.push(entry_of(placement).acceptance.purchase);
    }
    const size_t first = connection_.queue(
        "SELECT id, epoch, bucket, sequence FROM purchases WHERE id = ANY($1::uuid[])", Params().add(ids));
    sealing_.queue_reads(connection_);
    for (const auto& [key, item] : items_) {
        connection_.queue(locked_ ? select_terms_locked : select_terms,
                          Params().add(key.first).add(key.second));
        Texts buyers;
        for (const auto& [buyer, units] : item.active_units) buyers.push(buyer);
        connection_.queue(
            "SELECT buyer, units FROM orders "
            "WHERE sale = $1 AND item = $2 AND buyer = ANY($3::text[]) AND hold != 'finished'",
            Params().add(key.first).add(key.second).add(buyers));
        Integers epochs, buckets, sequences;
        for (const auto& [take, id] : item.takes) {
            epochs.push(take.epoch);
            buckets.push(take.bucket);
            sequences.push(take.sequence);
        }
        connection_.queue(
            "SELECT p.epoch, p.bucket, p.sequence, p.id FROM purchases p "
            "JOIN unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS t(epoch, bucket, sequence) "
            "USING (epoch, bucket, sequence) WHERE p.sale = $1 AND p.item = $2",
            Params().add(key.first).add(key.second).add(epochs).add(buckets).add(sequences));
    }
    if (continued_.empty()) return first;
    Uuids replaced;
    for (const auto& [id, continued] : continued_) replaced.push(id);
    connection_.queue(
        "SELECT p.id, p.order_id, o.state FROM purchases p "
        "LEFT JOIN orders o ON o.id = p.order_id AND o.sale = p.sale AND o.item = p.item "
        "WHERE p.id = ANY($1::uuid[])",
        Params().add(replaced));
    return first;
}

void Placing::take_in(const std::vector<Rows>& answers, size_t first) {
    const Rows& known = answers[first];
    auto take_in_row = [](const Row& row) {
        const auto number = [&](int column) { return static_cast<uint64_t>(row.integer(column)); };
        return Take{number(0), number(1), number(2)};
    };
    for (size_t i = 0; i < known.size(); ++i) known_[known[i].purchase(0)] = take_in_row(known[i].from(1));
    size_t at = sealing_.take_in(answers, first + 1);
    for (auto& [key, item] : items_) {
        const Rows &terms = answers[at], &active = answers[at + 1], &taken = answers[at + 2];
        at += 3;
        if (terms.empty()) {
            throw Failure(StoreErrc::not_allowed,
                          fmt::format("there is no item {} in a sale {}", key.second, key.first));
        }
        const Row row = terms.front();
        item.price_minor = row.integer(0);
        item.units_per_buyer_max = row.integer(1);
        item.payment_window_s = row.integer(2);
        item.currency = row.text(3);
        item.policy = required(stock_policy_of(row.text(4)), "stock policy");
        item.version = row.integer(5);
        item.units_available = row.integer(6);
        item.epoch = row.integer(7);
        item.is_epoch_open = row.flag(8);
        item.is_closed = row.flag(9);
        for (size_t i = 0; i < active.size(); ++i) {
            item.active_units.at(active[i].text(0)) += active[i].integer(1);
        }
        item.takes.clear();
        for (size_t i = 0; i < taken.size(); ++i) item.takes[take_in_row(taken[i])] = taken[i].purchase(3);
    }
    if (continued_.empty()) return;
    continued_.clear();  // what is not found stays out
    const Rows& replaced = answers[at];
    for (size_t i = 0; i < replaced.size(); ++i) {
        const Row row = replaced[i];
        Continued& one = continued_[row.purchase(0)];
        one.order = row.integer_or_none<OrderId>(1);
        if (!row.is_null(2)) one.state = required(order_state_of(row.text(2)), "order state");
    }
}

bool Placing::take_units(ItemBatch& item, int64_t units, HoldState to) {
    if (to == HoldState::open) return true;  // it takes none until it is paid
    if (item.units_available < units) return false;
    item.units_available -= units;
    (to == HoldState::sold ? item.units_sold : item.units_held) += units;
    return true;
}

Placed Placing::decide(const Placement& placement) {
    if (const auto& seal = placement.record.seal) return pass(*seal);
    const LedgerEntry& entry = entry_of(placement);
    const PurchaseId& purchase = entry.acceptance.purchase;
    ItemBatch& item = items_.at({entry.sale.view(), entry.item.view()});
    const Take take = take_of(entry);
    if (const auto known = known_.find(purchase); known != known_.end()) {
        if (known->second != take && has_lost_writes(entry, item)) {
            ask_for_rebuild(entry, "a purchase was accepted a second time");
        }
        return Placed::known_before;
    }
    if (sealing_.is_sealed(entry)) {
        if (has_ended(entry, item)) {
            cancel_late(placement.record);
        } else {
            sealing_.add_late(placement.record);
        }
        return Placed::late;
    }
    const auto [taken, is_new] = item.takes.emplace(take, purchase);
    if (!is_new && taken->second != purchase && has_lost_writes(entry, item)) {
        ask_for_rebuild(entry, "a unit was given to a second purchase");
    }
    known_[purchase] = take;
    return place(placement, item);
}

// The SEAL that ends the sale has passed here, and no other will come. Until then a purchase that is late may
// be further on once more, under an epoch that was open: its buyer asked again, and heard yes.
bool Placing::has_ended(const LedgerEntry& entry, const ItemBatch& item) const {
    return item.is_closed && !item.is_epoch_open && sealing_.sealed_up_to(entry) + 1 >= item.epoch;
}

// What Redis had acknowledged it does not know any more. In an epoch that is over, that is over, too. Without
// an epoch there is no Redis.
bool Placing::has_lost_writes(const LedgerEntry& entry, const ItemBatch& item) const {
    return entry.epoch != 0 && item.is_epoch_open && item.epoch == static_cast<int64_t>(entry.epoch);
}

void Placing::ask_for_rebuild(const LedgerEntry& entry, std::string_view reason) {
    rebuilds_.sales.push(entry.sale.view());
    rebuilds_.items.push(entry.item.view());
    rebuilds_.epochs.push(entry.epoch);
    rebuilds_.reasons.push(reason);
}

Placed Placing::pass(const Seal& seal) {
    for (const LedgerRecord& record : sealing_.pass(seal)) {
        if (!known_.contains(record.entry->acceptance.purchase)) cancel_late(record);
    }
    return Placed::sealed;
}

// No unit comes back for it: the cut has counted it as never taken.
void Placing::cancel_late(const LedgerRecord& record) {
    const LedgerEntry& entry = *record.entry;
    const PurchaseId& purchase = entry.acceptance.purchase;
    known_[purchase] = take_of(entry);
    items_.at({entry.sale.view(), entry.item.view()}).is_touched = true;
    add_purchase(record, reason_late, {});
    // A fresh id is nobody's outside, and this one had no unit that would have to be on record.
    if (entry.replaces) return;
    journal_.tell(EventKind::purchase_cancelled, {.sale = entry.sale.view(), .purchase = purchase});
}

Placed Placing::place(const Placement& placement, ItemBatch& item) {
    const LedgerEntry& entry = entry_of(placement);
    const Acceptance& acceptance = entry.acceptance;
    item.is_touched = true;
    int64_t& active = item.active_units.at(acceptance.buyer.view());
    if (active + acceptance.units > item.units_per_buyer_max) return cancel(placement, reason_limit);
    if (entry.replaces) {
        const auto continued = continued_.find(*entry.replaces);
        if (continued == continued_.end()) return cancel(placement, reason_not_continued);
        if (continued->second.order) return reinstate(placement, item, continued->second);
    }
    const HoldState hold = first_hold(item.policy);
    if (!take_units(item, acceptance.units, hold)) return cancel(placement, reason_no_unit);
    active += acceptance.units;
    add_purchase(placement.record, "", placement.order);
    if (entry.replaces) {  // a dead letter that was tried again
        given_.purchases.push(*entry.replaces);
        given_.orders.push(static_cast<int64_t>(placement.order));
        continued_[*entry.replaces] = {placement.order, OrderState::pending_payment};
    }
    add_order(placement, item);
    journal_.tell(EventKind::order_created, {.sale = entry.sale.view(), .order = placement.order});
    return Placed::ordered;
}

// A late payment has found its unit.
Placed Placing::reinstate(const Placement& placement, ItemBatch& item, Continued& continued) {
    const LedgerEntry& entry = entry_of(placement);
    const Acceptance& acceptance = entry.acceptance;
    const std::string_view sale = entry.sale.view();
    if (!take_units(item, acceptance.units, HoldState::sold)) return cancel(placement, reason_no_unit);
    if (continued.state != OrderState::reinstating) {
        throw Failure(StoreErrc::not_allowed, "the order is not reinstating");
    }
    continued.state = OrderState::paid;
    item.active_units.at(acceptance.buyer.view()) += acceptance.units;
    add_purchase(placement.record, "", continued.order);
    reinstated_.ids.push(continued.order);
    reinstated_.holders.push(acceptance.purchase);
    reinstated_.sales.push(sale);
    reinstated_.items.push(entry.item.view());
    const Journal::Units units{sale, entry.item.view(), acceptance.purchase, acceptance.units};
    journal_.stock_moved(StockMoveKind::sold, units);
    if (item.policy == StockPolicy::at_payment) journal_.give_slot_back(units);
    journal_.tell(EventKind::order_reinstated, {.sale = sale, .order = continued.order});
    journal_.tell(EventKind::order_paid, {.sale = sale, .order = continued.order});
    return Placed::reinstated;
}

Placed Placing::cancel(const Placement& placement, std::string_view reason) {
    const LedgerEntry& entry = entry_of(placement);
    const PurchaseId& purchase = entry.acceptance.purchase;
    add_purchase(placement.record, reason, {});
    journal_.give_back({entry.sale.view(), entry.item.view(), purchase, entry.acceptance.units});
    tell_cancelled(journal_, entry);
    return Placed::cancelled;
}

void Placing::add_purchase(const LedgerRecord& record, std::string_view reason,
                           std::optional<OrderId> order) {
    const LedgerEntry& entry = *record.entry;
    purchases_.ids.push(entry.acceptance.purchase);
    purchases_.sales.push(entry.sale.view());
    purchases_.items.push(entry.item.view());
    purchases_.buyers.push(entry.acceptance.buyer.view());
    purchases_.units.push(entry.acceptance.units);
    purchases_.epochs.push(entry.epoch);
    purchases_.buckets.push(entry.bucket);
    purchases_.sequences.push(entry.acceptance.sequence);
    purchases_.accepted.push(to_ms(entry.acceptance.accepted_at));
    purchases_.positions.push(record.position);
    purchases_.states.push(order ? "ordered" : "cancelled");
    purchases_.reasons.push_or_null(reason);
    purchases_.orders.push(order);
    // A later record of this batch may continue it.
    if (!continued_.empty() || entry.replaces) {
        continued_[entry.acceptance.purchase] = {order, std::nullopt};
    }
}

void Placing::add_order(const Placement& placement, const ItemBatch& item) {
    const LedgerEntry& entry = entry_of(placement);
    const int64_t units = entry.acceptance.units;
    orders_.ids.push(static_cast<int64_t>(placement.order));
    orders_.purchases.push(entry.replaces ? *entry.replaces : entry.acceptance.purchase);
    orders_.sales.push(entry.sale.view());
    orders_.items.push(entry.item.view());
    orders_.buyers.push(entry.acceptance.buyer.view());
    orders_.units.push(units);
    orders_.amounts.push(item.price_minor * units);
    orders_.currencies.push(item.currency);
    orders_.pay_by.push(to_ms(now_) + item.payment_window_s * 1000);
    orders_.holds.push(name_of(first_hold(item.policy)));
    orders_.holders.push(entry.replaces ? std::optional(entry.acceptance.purchase) : std::nullopt);
}

void Placing::write() {
    sealing_.queue_writes(connection_);
    if (rebuilds_.epochs.size() > 0) {
        connection_.queue(
            "INSERT INTO rebuild_requests(sale, item, epoch, reason) "
            "SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) ON CONFLICT DO NOTHING",
            Params().add(rebuilds_.sales).add(rebuilds_.items).add(rebuilds_.epochs).add(rebuilds_.reasons));
    }
    if (purchases_.ids.size() > 0) write_purchases();
    connection_.settle();
}

void Placing::write_purchases() {
    connection_.queue(
        "INSERT INTO purchases(id, sale, item, buyer, units, epoch, bucket, sequence, accepted_at_ms, "
        "partition, position, state, reason, order_id) SELECT id, sale, item, buyer, units, epoch, bucket, "
        "sequence, accepted, $1, position, state, reason, order_id "
        "FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], "
        "$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::bigint[]) "
        "AS t(id, sale, item, buyer, units, epoch, bucket, sequence, accepted, position, state, reason, "
        "order_id)",
        Params()
            .add(place_.partition)
            .add(purchases_.ids)
            .add(purchases_.sales)
            .add(purchases_.items)
            .add(purchases_.buyers)
            .add(purchases_.units)
            .add(purchases_.epochs)
            .add(purchases_.buckets)
            .add(purchases_.sequences)
            .add(purchases_.accepted)
            .add(purchases_.positions)
            .add(purchases_.states)
            .add(purchases_.reasons)
            .add(purchases_.orders));
    if (orders_.ids.size() > 0) {
        connection_.queue(
            "INSERT INTO orders(id, purchase, sale, item, buyer, units, amount_minor, currency, state, "
            "version, "
            "created_at_ms, pay_by_ms, updated_at_ms, hold, holder) SELECT id, purchase, sale, item, buyer, "
            "units, amount, currency, 'pending_payment', 1, $1, pay_by, $1, hold, holder "
            "FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], "
            "$8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::uuid[]) "
            "AS t(id, purchase, sale, item, buyer, units, amount, currency, pay_by, hold, holder)",
            Params()
                .add(to_ms(now_))
                .add(orders_.ids)
                .add(orders_.purchases)
                .add(orders_.sales)
                .add(orders_.items)
                .add(orders_.buyers)
                .add(orders_.units)
                .add(orders_.amounts)
                .add(orders_.currencies)
                .add(orders_.pay_by)
                .add(orders_.holds)
                .add(orders_.holders));
    }
    if (given_.orders.size() > 0) {
        connection_.queue(
            "UPDATE purchases p SET state = 'ordered', reason = NULL, order_id = t.order_id "
            "FROM unnest($1::uuid[], $2::bigint[]) AS t(id, order_id) WHERE p.id = t.id",
            Params().add(given_.purchases).add(given_.orders));
    }
    std::optional<size_t> reinstated;
    if (reinstated_.ids.size() > 0) {
        reinstated = connection_.queue(
            "UPDATE orders o SET state = 'paid', hold = 'sold', holder = t.holder, reason = NULL, "
            "version = version + 1, updated_at_ms = $1 "
            "FROM unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[]) AS t(id, holder, sale, item) "
            "WHERE o.id = t.id AND o.sale = t.sale AND o.item = t.item AND o.state = 'reinstating'",
            Params()
                .add(to_ms(now_))
                .add(reinstated_.ids)
                .add(reinstated_.holders)
                .add(reinstated_.sales)
                .add(reinstated_.items));
    }
    std::vector<size_t> taken;
    for (const auto& [key, item] : items_) {
        if (!item.is_touched) continue;
        taken.push_back(connection_.queue(
            "UPDATE items SET units_available = units_available - $4::bigint - $5::bigint, "
            "units_held = units_held + $4, units_sold = units_sold + $5, version = version + 1 "
            "WHERE sale = $1 AND id = $2 AND version = $3 AND units_available >= $4::bigint + $5::bigint",
            Params()
                .add(key.first)
                .add(key.second)
                .add(item.version)
                .add(item.units_held)
                .add(item.units_sold)));
    }
    journal_.queue(connection_);
    const auto answers = connection_.settle();
    bool is_overtaken = reinstated && answers[*reinstated].changed() != reinstated_.ids.size();
    for (const size_t at : taken) is_overtaken |= answers[at].changed() != 1;
    if (is_overtaken) throw Contention("the stock or an order changed meanwhile");
}

}  // namespace doorbuster::pg
