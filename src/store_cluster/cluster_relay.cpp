#include "store_cluster/cluster_relay.hpp"

#include <algorithm>
#include <map>

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

using pg::Params;
using pg::Row;
using pg::Rows;

namespace {

struct ReleaseRow {
    int64_t number;
    SaleId sale;
    ItemId item;
    uint64_t epoch;
    std::optional<PurchaseId> purchase;  // none: a restock
    uint32_t units;
    bool is_over;  // the stock row has left its epoch
    bool is_sold;  // not returned: the purchase is paid
};

ReleaseRow release_of(const Row& row) {
    return {.number = row.integer(0),
            .sale = pg::required(SaleId::from(row.text(1)), "sale id"),
            .item = pg::required(ItemId::from(row.text(2)), "item id"),
            .epoch = static_cast<uint64_t>(row.integer(3)),
            .purchase = row.purchase_or_none(4),
            .units = static_cast<uint32_t>(row.integer(5)),
            .is_over = row.flag(6),
            .is_sold = row.flag(7)};
}

// Whether Redis has heard all of `call`.
bool is_answered(RedisCalls& redis, const RedisCall& call) {
    const auto reply = redis.run(call);
    return reply && !error_in(**reply);
}

// Many in one call; whether Redis has answered for all of them.
bool apply_purchases(RedisCalls& redis, const Fence& fence, std::span<const ReleaseRow* const> rows,
                     std::vector<int64_t>& applied) {
    for (size_t at = 0; at < rows.size(); at += entries_per_call_max) {
        const auto some = rows.subspan(at, std::min(entries_per_call_max, rows.size() - at));
        const BookBucket bucket{some.front()->sale, some.front()->item};
        std::vector<PurchaseId> purchases;
        for (const ReleaseRow* row : some) purchases.push_back(*row->purchase);
        const bool is_sold = some.front()->is_sold;
        if (!is_answered(redis, is_sold ? sell_call(bucket, fence, purchases)
                                        : release_call(bucket, fence, purchases)))
            return false;
        for (const ReleaseRow* row : some) applied.push_back(row->number);
    }
    return true;
}

// The rows of one item that Redis has answered for, as far as it goes. What is sold comes last: it may have
// been paid with a unit that is among the others.
std::vector<int64_t> apply(RedisCalls& redis, const Fence& fence, std::span<const ReleaseRow* const> rows) {
    const BookBucket bucket{rows.front()->sale, rows.front()->item};
    std::vector<int64_t> applied;
    std::vector<const ReleaseRow*> released, sold;
    for (const ReleaseRow* row : rows) {
        if (row->purchase) {
            (row->is_sold ? sold : released).push_back(row);
        } else if (is_answered(redis, restock_call(bucket, fence, std::to_string(row->number), row->units))) {
            applied.push_back(row->number);
        } else {
            return applied;
        }
    }
    if (apply_purchases(redis, fence, released, applied)) apply_purchases(redis, fence, sold, applied);
    return applied;
}

}  // namespace

StoreResult<Relay::Turn> Relay::step(const EpochLease& lease, RedisCalls& redis, Instant now) {
    return pg::guarded("relaying releases", [&] {
        const Rows waiting = connection_.run(
            "SELECT r.number, r.sale, r.item, r.epoch, r.purchase, r.units, i.epoch > r.epoch, "
            "r.kind = 'sold' "
            "FROM releases r JOIN items i ON i.sale = r.sale AND i.id = r.item JOIN sales s ON s.id = r.sale "
            "WHERE r.applied_at_ms IS NULL AND s.state NOT IN ('closed', 'reconciled') "
            // Those of a book that is not there wait, and hold nobody else's up.
            "AND (i.epoch > r.epoch OR i.pin IS NOT NULL) ORDER BY r.number LIMIT $1",
            Params().add(rows_max));
        const std::vector<ReleaseRow> rows = pg::all_of(waiting, release_of);
        std::map<std::pair<std::string_view, std::string_view>, std::vector<const ReleaseRow*>> by_item;
        std::vector<int64_t> finished;
        for (const ReleaseRow& row : rows) {
            if (row.is_over) {
                finished.push_back(row.number);
            } else {
                by_item[{row.sale.view(), row.item.view()}].push_back(&row);
            }
        }
        Turn turn{.applied = 0, .absorbed = finished.size(), .kept = 0};
        for (const auto& [item, some] : by_item) {
            const ItemEpoch* leased = lease.find(some.front()->sale, some.front()->item);
            // The row of the stock showed this epoch a moment ago; the lease may be older or younger.
            const bool may_act =
                leased != nullptr && leased->pin && lease.holds() &&
                std::ranges::all_of(some, [&](const ReleaseRow* row) { return row->epoch == leased->epoch; });
            if (!may_act) continue;
            const auto applied = apply(redis, {*leased->pin, leased->epoch}, some);
            turn.applied += applied.size();
            finished.insert(finished.end(), applied.begin(), applied.end());
        }
        turn.kept = rows.size() - finished.size();
        if (finished.empty()) return turn;

        pg::Integers numbers;
        for (const int64_t number : finished) numbers.push(number);
        pg::Transaction transaction(connection_);
        connection_.queue("UPDATE releases SET applied_at_ms = $2 WHERE number = ANY($1)",
                          Params().add(numbers).add(to_ms(now)));
        transaction.commit();
        return turn;
    });
}

}  // namespace doorbuster
