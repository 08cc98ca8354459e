#include "store_cluster/cluster_workers.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace doorbuster {

namespace {

// What gives units back writes release rows, and the relay brings them to Redis.
class RelayedBooks final : public BookControl {
public:
    void control(ControlCommand, std::function<void()> applied) override {
        if (applied) applied();
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};
RelayedBooks relayed_books;

constexpr int looks_per_lease = 4;

// Another program may read it, or an operator has to look; this one can do nothing.
bool is_unreadable(const StoreError& error) {
    return error.code == StoreErrc::newer_schema || error.code == StoreErrc::damaged;
}

}  // namespace

ClusterWorkers::ClusterWorkers(const Options& options, Snowflake& ids, OrderWorker::Hooks hooks)
    : options_(options),
      ids_(ids),
      hooks_(std::move(hooks)),
      connection_(options.postgres),
      random_(options.seed ? *options.seed : std::random_device{}()) {}

Uptime ClusterWorkers::step(Uptime uptime) {
    if (uptime >= looks_at_) {
        look(uptime);
        looks_at_ = uptime + options_.lease.lasts / looks_per_lease;
    }
    Uptime next = std::min(looks_at_, uptime + options_.idle_wait);
    // Behind the one that placed last: the cap is shared in turns.
    std::vector<uint64_t> turns;
    for (const auto& [partition, held] : held_) turns.push_back(partition);
    std::ranges::rotate(turns, std::ranges::upper_bound(turns, placed_last_));
    for (const uint64_t partition : turns) {
        Held& held = held_.at(partition);
        if (uptime < std::max(places_at_, held.begins_at)) continue;
        if (run(partition, held, uptime)) next = uptime;
    }
    return uptime < places_at_ ? std::min(places_at_, looks_at_) : next;
}

void ClusterWorkers::look(Uptime uptime) {
    for (auto at = held_.begin(); at != held_.end();) {
        const uint64_t partition = at->first;
        const auto renewed = at->second.lease.renew(connection_);
        ++at;
        if (renewed || renewed.error().code != StoreErrc::conflict) continue;
        figures_.lost.fetch_add(1, std::memory_order_relaxed);
        let_go(partition, false);
    }
    const auto offered = announce_worker(connection_, options_.lease, options_.partitions);
    if (!offered) {
        log_warn("the leases of the workers cannot be looked after", {{"error", offered.error().text()}});
        return;
    }
    const uint64_t share = (options_.partitions + offered->workers - 1) / offered->workers;
    while (held_.size() > share) let_go(std::prev(held_.end())->first, true);
    take_free(*offered, share, uptime);
    figures_.partitions_held.store(held_.size(), std::memory_order_relaxed);
}

void ClusterWorkers::take_free(const PartitionsOffered& offered, uint64_t share, Uptime uptime) {
    std::erase_if(left_till_, [&](const auto& one) { return one.second <= uptime; });
    for (const uint64_t partition : offered.free) {
        if (held_.size() >= share) return;
        if (left_till_.contains(partition) || held_.contains(partition)) continue;
        auto taken = PartitionLease::take(connection_, partition, options_.lease);
        if (!taken) return;
        if (*taken) held_.emplace(partition, Held(std::move(**taken)));
    }
}

bool ClusterWorkers::run(uint64_t partition, Held& held, Uptime uptime) {
    if (!held.worker) {
        if (const auto begun = begin(partition, held); !begun) {
            stumble(partition, held, begun.error(), uptime);
            return false;
        }
    }
    const uint64_t from = held.worker->position();
    const auto went = held.worker->step(options_.now(), uptime);
    const uint64_t placed = held.worker->position() - from;
    if (placed > 0) {
        const Uptime worth(static_cast<int64_t>(placed * 1'000'000 / options_.rate_per_second_max));
        places_at_ = uptime + worth;
        placed_last_ = partition;
        count(held);
    }
    if (!went) {
        stumble(partition, held, went.error(), uptime);
        return false;
    }
    if (*went == OrderWorker::Next::at_later) held.begins_at = held.worker->wait_until();
    return *went == OrderWorker::Next::more;
}

StoreResult<std::unique_ptr<LedgerReader>> ClusterWorkers::open_ledger(uint64_t partition) const {
    if (options_.open_ledger) return options_.open_ledger(partition);
    auto opened = KafkaLedger::open({.reader = options_.kafka, .partition = static_cast<int32_t>(partition)});
    if (!opened) return opened.error();
    return std::unique_ptr<LedgerReader>(std::move(*opened));
}

// At the position that the database has: what was under way has landed there, or it never will.
StoreResult<void> ClusterWorkers::begin(uint64_t partition, Held& held) {
    if (!held.ledger) {
        auto ledger = open_ledger(partition);
        if (!ledger) return ledger.error();
        held.ledger = std::move(*ledger);
    }
    auto orders = PostgresOrders::open(options_.postgres, held.lease.place());
    if (!orders) return orders.error();
    // Still ours, or `conflict`: whoever took it over has raised the generation of the position's row, too.
    if (auto renewed = held.lease.renew(connection_); !renewed) return renewed.error();
    held.orders = std::move(*orders);
    held.worker = std::make_unique<OrderWorker>(
        *held.ledger, *held.orders, relayed_books, ids_,
        // In no hurry but for that: a batch is no more than a second's worth.
        OrderWorker::Options{.batch_max =
                                 std::clamp<size_t>(options_.rate_per_second_max, 1, options_.batch_max)},
        hooks_);
    held.ordered = held.cancelled = held.dead_letters = 0;
    held.worker->hurry();  // the cap is ours
    if (auto loaded = held.worker->load(); !loaded) {
        held.worker.reset();
        return loaded.error();
    }
    return {};
}

void ClusterWorkers::stumble(uint64_t partition, Held& held, const StoreError& error, Uptime uptime) {
    if (is_unreadable(error)) {
        log_error("a partition of the ledger cannot be read here",
                  {{"partition", partition}, {"error", error.text()}});
        figures_.unreadable.fetch_add(1, std::memory_order_relaxed);
        left_till_[partition] = uptime + options_.leave_for;
        let_go(partition, true);
        return;
    }
    // `conflict` of a position: ours had landed, or another worker has the partition. The lease tells.
    const auto renewed = held.lease.renew(connection_);
    if (!renewed && renewed.error().code == StoreErrc::conflict) {
        log_warn("another worker has taken a partition over", {{"partition", partition}});
        figures_.lost.fetch_add(1, std::memory_order_relaxed);
        let_go(partition, false);
        return;
    }
    log_warn("a partition's orders begin anew", {{"partition", partition}, {"error", error.text()}});
    figures_.troubles.fetch_add(1, std::memory_order_relaxed);
    held.worker.reset();
    held.orders.reset();
    std::uniform_int_distribution<int64_t> wait_us(0, Uptime(options_.again_max).count());
    held.begins_at = uptime + Uptime(error.code == StoreErrc::conflict ? 0 : wait_us(random_));
}

void ClusterWorkers::count(Held& held) {
    const auto add = [](std::atomic<uint64_t>& all, uint64_t& counted, uint64_t now) {
        all.fetch_add(now - std::exchange(counted, now), std::memory_order_relaxed);
    };
    add(figures_.ordered, held.ordered, held.worker->ordered());
    add(figures_.cancelled, held.cancelled, held.worker->cancelled());
    add(figures_.dead_letters, held.dead_letters, held.worker->dead_letters());
}

void ClusterWorkers::let_go(uint64_t partition, bool gives_back) {
    const auto found = held_.find(partition);
    if (gives_back) {
        if (const auto given = found->second.lease.give_back(connection_); !given) {
            log_warn("a partition's lease will run out by itself", {{"error", given.error().text()}});
        }
    }
    held_.erase(found);
    figures_.partitions_held.store(held_.size(), std::memory_order_relaxed);
}

void ClusterWorkers::give_all_back() {
    while (!held_.empty()) let_go(held_.begin()->first, true);
    if (const auto gone = withdraw_worker(connection_, options_.lease.owner); !gone) {
        log_warn("a worker that ends is still counted for a while", {{"error", gone.error().text()}});
    }
}

}  // namespace doorbuster
