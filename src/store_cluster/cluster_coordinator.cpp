#include "store_cluster/cluster_coordinator.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "store_cluster/cluster_load.hpp"

namespace doorbuster {

namespace {

using Purpose = ClusterRebuild::Purpose;
using Step = ClusterRebuild::Step;

bool holds_a_cut(const ClusterRebuild& rebuild) {
    return rebuild.at() == Step::load || rebuild.at() == Step::open;
}

}  // namespace

pg::BootTime ClusterCoordinator::step(pg::BootTime now) {
    if (now >= looks_at_) {
        look(now);
        looks_at_ = now + options_.look_every;
    }
    go_on(now);
    figures_.under_way.store(rebuilds_.size(), std::memory_order_relaxed);
    return rebuilds_.empty() ? looks_at_ : std::min(looks_at_, now + options_.again_after);
}

void ClusterCoordinator::look(pg::BootTime now) {
    has_redis_ = true;
    const auto items = epochs_.watch();
    if (!items) {
        log_warn("the epochs cannot be looked at", {{"error", items.error().text()}});
        return;
    }
    std::map<ItemKey, Closed> before = std::exchange(closed_, {});
    for (const WatchedItem& item : *items) {
        const ItemKey key{item.now.sale, item.now.item};
        if (!item.now.pin) {
            closed_.insert(before.extract(key));
            note(item.now, now);
        }
        if (rebuilds_.contains(key)) continue;
        const auto plan = plan_for(item, now);
        if (!plan || !*plan) continue;
        log_warn("a book in Redis is rebuilt", {{"sale", item.now.sale.view()},
                                                {"item", item.now.item.view()},
                                                {"epoch", item.now.epoch},
                                                {"reason", (*plan)->reason}});
        figures_.rebuilds_begun.fetch_add(1, std::memory_order_relaxed);
        rebuilds_.try_emplace(key, means_, options_.rebuild, item.now, (*plan)->purpose);
    }
    if (!has_redis_) figures_.looks_without_redis.fetch_add(1, std::memory_order_relaxed);
}

StoreResult<std::optional<ClusterCoordinator::Plan>> ClusterCoordinator::plan_for(const WatchedItem& item,
                                                                                  pg::BootTime now) {
    const auto plan = [](Purpose purpose, std::string reason) {
        return std::optional(Plan{purpose, std::move(reason)});
    };
    const bool is_open = item.now.pin.has_value();
    switch (item.state) {
        case SaleState::draft:
        case SaleState::scheduled:
        case SaleState::reconciled:
            return std::optional<Plan>();
        case SaleState::closed: {
            if (is_open) return plan(Purpose::end_sale, "the sale is closed");
            if (item.now.epoch == 0) return std::optional<Plan>();
            const auto ended = ClusterRebuild::is_sealed(epochs_, item.now, options_.rebuild.partitions);
            if (!ended) return ended.error();
            // A SEAL of a rebuild may have passed before the sale was closed: what came behind it waits for
            // one more.
            const bool is_over = *ended && !item.has_late;
            if (is_over || !is_stuck(item.now, now)) return std::optional<Plan>();
            return plan(Purpose::end_sale, "nobody has finished to end the sale");
        }
        default:
            break;
    }
    if (!is_open) {
        if (item.now.epoch == 0) return plan(Purpose::reopen, "it was never loaded");
        if (!is_stuck(item.now, now)) return std::optional<Plan>();
        return plan(Purpose::reopen, "nobody has finished to rebuild it");
    }
    if (!item.asked_for.empty()) return plan(Purpose::reopen, item.asked_for);
    auto wrong = what_is_wrong(item);
    if (wrong.empty()) return std::optional<Plan>();
    return plan(Purpose::reopen, std::move(wrong));
}

std::string ClusterCoordinator::what_is_wrong(const WatchedItem& item) {
    if (!has_redis_) return {};
    const auto peek = means_.redis.peek({item.now.sale, item.now.item});
    if (!peek) {
        has_redis_ = false;
        if (!std::exchange(was_told_, true)) {
            log_warn("Redis does not answer the coordinator", {{"error", peek.error().detail}});
        }
        return {};
    }
    was_told_ = false;
    if (!*peek) return "Redis does not have the book";
    if ((*peek)->pin != *item.now.pin) return "it is another Redis, or one that was started anew";
    if ((*peek)->book->epoch != item.now.epoch) return "Redis has the book of another epoch";
    if ((*peek)->book->word.version < item.sale_version) tell_word(item);
    return {};
}

// A word that came while the book was being loaded, or whose sender died. Ignored by Redis if a newer one is
// there, and fenced off if the epoch has ended meanwhile.
void ClusterCoordinator::tell_word(const WatchedItem& item) {
    const auto record = epochs_.sale(item.now.sale);
    if (!record) return;
    const BookBucket bucket{item.now.sale, item.now.item};
    const Fence fence{*item.now.pin, item.now.epoch};
    const auto told = means_.redis.run(set_state_call(bucket, fence, book_word_of(*record, item.now.item)));
    if (!told || error_in(**told)) {
        log_warn("Redis does not hear the state of a sale", {{"sale", item.now.sale.view()}});
    }
}

void ClusterCoordinator::note(const ItemEpoch& item, pg::BootTime now) {
    const auto [found, is_new] =
        closed_.try_emplace({item.sale, item.item}, Closed{item.epoch, item.epoch, now});
    Closed& closed = found->second;
    closed.first_epoch = std::min(closed.first_epoch, item.epoch);
    if (closed.epoch == item.epoch) return;
    closed.epoch = item.epoch;
    closed.since = now;
}

bool ClusterCoordinator::is_stuck(const ItemEpoch& item, pg::BootTime now) const {
    const Closed& closed = closed_.at({item.sale, item.item});
    if (closed.epoch <= closed.own_epoch) return true;
    // One rebuild is two steps: it closes, and it cuts.
    const uint64_t doublings = std::min((closed.epoch - closed.first_epoch) / 2, doublings_max);
    return now - closed.since >= options_.takeover_after * (1 << doublings);
}

void ClusterCoordinator::go_on(pg::BootTime now) {
    for (auto at = rebuilds_.begin(); at != rebuilds_.end();) {
        ClusterRebuild& rebuild = at->second;
        run(rebuild, now);
        if (!rebuild.is_over()) {
            ++at;
            continue;
        }
        auto& ended = rebuild.at() == Step::done ? figures_.rebuilds_done : figures_.rebuilds_lost;
        ended.fetch_add(1, std::memory_order_relaxed);
        log_info("the rebuild of a book has ended", {{"sale", at->first.first.view()},
                                                     {"item", at->first.second.view()},
                                                     {"step", name_of(rebuild.at())}});
        if (const auto left = rebuild.left_behind()) {
            closed_.try_emplace(at->first, Closed{*left, *left, now}).first->second.own_epoch = *left;
        }
        at = rebuilds_.erase(at);
    }
}

// As far as it goes without waiting.
void ClusterCoordinator::run(ClusterRebuild& rebuild, pg::BootTime now) {
    const Step begun_at = rebuild.at();
    do {
        if (rebuild.at() == Step::cut) {
            const auto cuts =
                std::ranges::count_if(rebuilds_, [](const auto& one) { return holds_a_cut(one.second); });
            if (static_cast<size_t>(cuts) >= options_.cuts_max) return;
        }
        // A wait that begins behind a commit is counted from a time that was read behind it.
        if (rebuild.at() == Step::await_leases && begun_at != Step::await_leases) return;
        if (const auto went = rebuild.step(now); !went) {
            log_warn("the rebuild of a book waits for a store",
                     {{"step", name_of(rebuild.at())}, {"error", went.error().text()}});
            return;
        }
    } while (!rebuild.is_over() && !rebuild.is_waiting());
}

}  // namespace doorbuster
