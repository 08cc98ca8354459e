#include "sim/cluster_nodes.hpp"

#include <algorithm>

#include "sale/order_life.hpp"
#include "store_cluster/cluster_coordinator.hpp"
#include "store_cluster/cluster_relay.hpp"
#include "store_cluster/cluster_sweeper.hpp"
#include "store_cluster/cluster_workers.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr int64_t us_per_ms = 1000;
constexpr int64_t look_us = 200 * us_per_ms;
constexpr int64_t sale_units_max = 40;  // beyond, nothing is added

ClusterHeard heard_of(const ClusterAcceptor::Outcome& outcome) {
    using enum ReserveOutcome;
    if (outcome.verdict == Verdict::unknown) return ClusterHeard::unknown;
    if (outcome.verdict != Verdict::decided) return ClusterHeard::rebuilding;
    switch (outcome.answer.outcome) {
        case accepted:
            return ClusterHeard::accepted;
        case repeated:
            return outcome.answer.state == HoldState::finished ? ClusterHeard::repeated_finished
                                                               : ClusterHeard::repeated;
        case limit_reached:
            return ClusterHeard::limit_reached;
        case sold_out:
            return ClusterHeard::sold_out;
        default:
            break;
    }
    CHECK(false);  // the sale is open, and a key asks for one quantity
}

}  // namespace

Gate::Gate(ClusterWorld& world, const Stores& stores, const std::string& name, std::vector<BookBucket> items)
    : Process(world, stores, name), items_(std::move(items)) {}

void Gate::begin() {
    node_.begin([this] {
        life_->loop.restart();
        life_->loop.poll();
    });
    life_ = std::make_unique<Life>();
    life_->redis = stores_.redis.client(node_);
    life_->records = stores_.kafka.producer(node_);
    for (const BookBucket& item : items_) {
        Entry& entry = life_->entries[item.item.str()];
        entry.bucket = std::make_shared<ClusterBucket>(item, ClusterBucket::Doubted{});
        entry.shown = std::make_shared<ItemBoard>();
        entry.board = std::make_shared<ClusterBoard>(*life_->redis, entry.bucket, entry.shown);
        entry.acceptor = std::make_shared<ClusterAcceptor>(
            ClusterAcceptor::Parts{life_->loop, *life_->redis, *life_->records,
                                   [this](milliseconds wait, std::function<void()> what) {
                                       node_.at(wait.count() * us_per_ms, std::move(what));
                                   }},
            entry.bucket, entry.shown);
    }
    node_.spawn([this] { keep_lease(); });
    node_.at(look_us, [this] { look(); });
}

void Gate::end() {
    node_.crash();
    life_.reset();
}

void Gate::keep_lease() {
    pg::Connection connection(stores_.postgres.options());
    PostgresEpochs epochs(connection);
    for (;;) {
        if (const auto lease = epochs.lease(node_.name(), cluster_times.lease)) {
            for (const ItemEpoch& item : lease->items()) {
                life_->entries.at(item.item.str()).bucket->take(item, lease->ends_at());
            }
        }
        const int64_t most_us = cluster_times.lease.count() * us_per_ms / 4;
        world_.sleep(world_.random.between(most_us / 2, most_us));
    }
}

void Gate::look() {
    for (auto& [item, entry] : life_->entries) entry.board->look();
    node_.at(look_us, [this] { look(); });
}

// The funnel's last stages, and the desk.
void Gate::ask(const ItemId& item, const ReserveEntry& entry, Answered answered) {
    Entry& of = life_->entries.at(item.str());
    if (of.shown->sold_out() && !of.shown->perhaps_winner(entry.buyer) &&
        !of.shown->perhaps_accepted(entry.purchase)) {
        return answered({ClusterHeard::shown_sold_out});
    }
    of.acceptor->reserve(entry, [this, life = node_.life(),
                                 answered = std::move(answered)](const ClusterAcceptor::Outcome& outcome) {
        if (!node_.is_alive() || node_.life() != life) return;
        answered({heard_of(outcome), outcome.answer});
    });
}

void Helper::begin() {
    node_.begin();
    node_.spawn([this] { run(); });
}

void Helper::run() {
    pg::Connection connection(stores_.postgres.options());
    PostgresEpochs epochs(connection);
    RedisCaller redis(redis_caller());
    const auto records = stores_.kafka.producer(node_);
    Sweeper sweeper(*records, {.age_min = milliseconds(400), .reports_max = milliseconds(1'000)});
    Relay relay(connection);
    for (;;) {
        if (const auto lease = epochs.lease(node_.name(), cluster_times.lease)) {
            for (const ItemEpoch& item : lease->items()) {
                const auto session = redis.session();
                if (!session) break;
                const auto turn = sweeper.sweep(*lease, item, **session);
                if (turn) world_.coverage.did(ClusterDeed::swept, turn->done);
            }
            if (const auto session = redis.session()) {
                const auto turn = relay.step(*lease, **session, world_.wall_now());
                if (turn) {
                    world_.coverage.did(ClusterDeed::released, turn->applied);
                    world_.coverage.did(ClusterDeed::absorbed, turn->absorbed);
                }
            }
        }
        world_.sleep(world_.random.between(20, 150) * us_per_ms);
    }
}

void Worker::begin() {
    node_.begin();
    node_.spawn([this] { run(); });
}

void Worker::run() {
    // A number of its own in every life, as a node's lease gives it.
    const uint32_t number = (node_.name().back() == '1' ? 1 : 2) + 2 * lives_++;
    Snowflake ids(number % Snowflake::nodes_max);
    ClusterWorkers workers(
        {.postgres = stores_.postgres.options(),
         .kafka = {},
         .now = [this] { return world_.wall_now(); },
         .partitions = static_cast<uint64_t>(stores_.kafka.count()),
         .lease = {.owner = node_.name(), .lasts = cluster_times.partition_lease},
         .rate_per_second_max = 1'000'000,
         .batch_max = 64,
         .again_max = milliseconds(200),
         .leave_for = milliseconds(2'000),
         .idle_wait = milliseconds(20),
         .open_ledger = [this](uint64_t partition) -> StoreResult<std::unique_ptr<LedgerReader>> {
             return stores_.kafka.reader(partition);
         },
         .seed = static_cast<uint32_t>(world_.random.next())},
        ids);
    for (;;) {
        const Uptime now(world_.now_us());
        const Uptime next = workers.step(now);
        world_.sleep(std::max<int64_t>(1 * us_per_ms, (next - now).count()));
    }
}

void Coordinator::begin() {
    node_.begin();
    node_.spawn([this] { run(); });
}

void Coordinator::run() {
    pg::Connection connection(stores_.postgres.options());
    RedisCaller redis(redis_caller());
    const auto records = stores_.kafka.producer(node_);
    ClusterCoordinator coordinator({connection, redis, *records},
                                   {.rebuild = {.partitions = stores_.kafka.count(),
                                                .lease = cluster_times.lease,
                                                .drift = cluster_times.drift,
                                                .reports_max = milliseconds(1'000),
                                                .name = node_.name()},
                                    .look_every = milliseconds(200),
                                    .again_after = milliseconds(50),
                                    .takeover_after = cluster_times.takeover_after});
    uint64_t done = 0, lost = 0;
    for (;;) {
        const pg::BootTime now = pg::boot_time();
        const pg::BootTime next = coordinator.step(now);
        const auto& figures = coordinator.figures();
        world_.coverage.did(ClusterDeed::rebuilt,
                            figures.rebuilds_done - std::exchange(done, figures.rebuilds_done));
        world_.coverage.did(ClusterDeed::rebuild_lost,
                            figures.rebuilds_lost - std::exchange(lost, figures.rebuilds_lost));
        const auto wait_us =
            std::chrono::duration_cast<std::chrono::microseconds>(next - pg::boot_time()).count();
        world_.sleep(std::max<int64_t>(1 * us_per_ms, wait_us));
    }
}

void Desk::begin() {
    node_.begin();
    node_.spawn([this] { run(); });
}

void Desk::run() {
    while (!goes_home_) {
        // After an unknown commit the store is opened anew, and looks.
        auto opened = PostgresOrders::open(stores_.postgres.options());
        while (opened && !goes_home_ && turn(**opened)) {
        }
        world_.sleep(50 * us_per_ms);
    }
    is_home_ = true;
}

bool Desk::turn(Orders& orders) {
    world_.sleep(world_.random.between(50, 400) * us_per_ms);
    if (world_.random.chance(20) &&
        stores_.postgres.tables.items.begin()->second.units_total < sale_units_max) {
        const auto sales = orders.reader().sales();
        if (!sales) return false;
        const SaleRecord& sale = sales->front();
        const Item& item = sale.sale.items[world_.random.below(sale.sale.items.size())];
        if (!orders.restock(sale.sale.id, item.id, 1, sale.version, world_.wall_now())) return false;
        world_.coverage.did(ClusterDeed::restocked);
        world_.note("restocked " + item.id.str());
        return true;
    }
    const auto waiting = orders.reader().orders_in(OrderState::pending_payment, 100);
    if (!waiting || waiting->empty()) return waiting.has_value();
    const OrderRecord& order = (*waiting)[world_.random.below(waiting->size())];
    const auto move = world_.random.chance(500) ? cancel(order) : expire(order);
    if (!move) return true;
    const auto moved = orders.move(std::span(&*move, 1), world_.wall_now());
    if (!moved) return false;
    if (moved->front() != Moved::done) return true;
    world_.coverage.did(ClusterDeed::order_cancelled);
    world_.note("cancelled " + order.purchase.hex());
    return true;
}

}  // namespace doorbuster::sim::cluster
