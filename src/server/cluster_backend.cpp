#include "server/cluster_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "store_cluster/ledger_pin.hpp"

namespace doorbuster {

namespace {

// Other processes' words are seen this late, and shown a moment later: "everywhere within a second".
constexpr milliseconds others_looked_at_every{250};
constexpr std::chrono::seconds orders_counted_every{10};
constexpr milliseconds upkeep_every{500};
constexpr milliseconds desk_lock_max{1'000};
// A book that is doubted is doubted again a second later.
constexpr size_t doubts_max = 256;

std::string advice_on(std::string_view option, const StoreError& error) {
    return fmt::format("{}: {}", option, error.text());
}

// The topic as it has to be, made if it is not there.
StoreResult<void> prepare_topic(const ClusterPlaces& places) {
    auto topics = KafkaTopics::open({.brokers = places.brokers});
    if (!topics) return topics.error();
    const auto made = topics->create(places.topic);
    if (!made && made.error().code != StoreErrc::exists) return made.error();
    const auto wrong = topics->differences(places.topic);
    if (!wrong) return wrong.error();
    for (const WarmUpFinding& one : *wrong)
        log_warn("the ledger's topic is not as it must be", {{"what", one.what}, {"mend", one.mend}});
    return {};
}

}  // namespace

OpenedBackend ClusterBackend::open(const Config& config, Clock& clock, Hooks hooks) {
    ClusterPlaces places = ClusterPlaces::of(config);
    // Operators' and buyers' words go one behind the other: none may wait long for a row of somebody else's.
    pg::ConnectionOptions desk = places.postgres;
    desk.lock_max = desk_lock_max;
    auto orders = PostgresOrders::open(desk);
    if (!orders) return advice_on("postgres.url", orders.error());
    pg::Connection connection(places.postgres);
    const auto pinned = pin_partitions(connection, static_cast<uint32_t>(places.topic.partitions));
    if (!pinned) return advice_on("postgres.url", pinned.error());
    if (*pinned != config.kafka.partitions) {
        log_warn("the ledger's partitions are pinned: kafka.partitions is not used",
                 {{"pinned", *pinned}, {"kafka.partitions", config.kafka.partitions.value()}});
    }
    places.topic.partitions = static_cast<int32_t>(*pinned);
    if (const auto prepared = prepare_topic(places); !prepared)
        return advice_on("kafka.brokers", prepared.error());
    auto records = KafkaRecords::open(places.records());
    if (!records) return advice_on("kafka.brokers", records.error());
    auto ledger = KafkaWholeLedger::open(places.whole_ledger());
    if (!ledger) return advice_on("kafka.brokers", ledger.error());
    auto lag_ledger = KafkaWholeLedger::open(places.whole_ledger());
    if (!lag_ledger) return advice_on("kafka.brokers", lag_ledger.error());
    const auto last_id = [&orders] { return last_id_of((*orders)->reader()); };
    auto node = NodeNumber::take(connection, places.name, last_id);
    if (!node) return advice_on("postgres.url", node.error());
    std::optional<NodeNumber> worker_node;
    if (places.roles.worker) {
        auto taken = NodeNumber::take(connection, places.name, last_id);
        if (!taken) return advice_on("postgres.url", taken.error());
        worker_node.emplace(*std::move(taken));
    }
    const auto time = pg::guarded("reading the primary's clock", [&] { return pg::hear_time(connection); });
    if (!time) return advice_on("postgres.url", time.error());
    return std::unique_ptr<Backend>(
        new ClusterBackend(std::move(places),
                           {*std::move(orders), *std::move(records), *std::move(ledger),
                            *std::move(lag_ledger), *std::move(node), std::move(worker_node), *time},
                           clock, std::move(hooks)));
}

ClusterBackend::ClusterBackend(ClusterPlaces places, Opened opened, Clock& clock, Hooks hooks)
    : places_(std::move(places)),
      hooks_(std::move(hooks)),
      clock_(clock),
      primary_clock_(clock, opened.time),
      orders_(std::move(opened.orders)),
      rebuilds_connection_(places_.postgres),
      rebuilds_(rebuilds_connection_),
      records_(std::move(opened.records)),
      pool_(places_.pool),
      replica_pool_(places_.replica_pool ? std::make_unique<pg::Pool>(*places_.replica_pool) : nullptr),
      lag_(std::move(opened.lag_ledger), std::make_unique<PostgresOrdersReader>(pool_)),
      ledger_({.redis = places_.redis}, pool_, current_lease(), std::move(opened.ledger)),
      changes_(pool_),
      books_(*records_,
             {.redis = {.link = {.address = places_.redis, .call_max = places_.redis_call_max},
                        .connections = places_.redis_connections,
                        .seed = random_seed()},
              .in_hand_max = places_.queue_capacity,
              .pace = places_.pace},
             {.on_append = {},
              .doubted =
                  [this](const ItemEpoch& item, Doubt kind, const std::string& why) {
                      if (kind == Doubt::lost) doubt(item, why);
                  }}),
      keeper_(places_.postgres,
              {.holder = places_.name, .lasts = ClusterPlaces::lease, .seed = random_seed()},
              [this](std::shared_ptr<const EpochLease> lease) { take_lease(std::move(lease)); }),
      funnel_(
          {.redis = {.link = {.address = places_.redis, .call_max = places_.redis_call_max},
                     .connections = 2,
                     .calls_per_connection_max = 1'024,
                     .seed = random_seed()},
           .strikes = {.origin = fmt::format("{} {:x}", places_.name, random_seed())}},
          {.heard = [this](const BuyerId& buyer, Strike kind,
                           milliseconds age) { strikes_->hear(buyer, kind, clock_.uptime() - age); },
           .remembered_max = [this] { return std::chrono::ceil<milliseconds>(strikes_->remembered_max()); }}),
      warm_up_(
          {}, [this] { return check_cluster(check_terms()); }, current_lease()),
      node_(std::move(opened.node)),
      duty_(places_.postgres),
      upkeep_("upkeep", [this] { return keep_up(); }),
      worker_node_(std::move(opened.worker_node)),
      worker_thread_("worker", [this] { return place_orders(); }),
      sweeping_(places_, *records_, primary_clock_, current_lease()) {
    if (worker_node_)
        workers_.emplace(worker_options(), worker_node_->ids(),
                         OrderWorker::Hooks{.tally = nullptr, .changed = hooks_.changed});
}

// One that cannot start, and is started again and again, uses no numbers up.
ClusterBackend::~ClusterBackend() {
    if (!has_started_) give_numbers_back();
}

ClusterWorkers::Options ClusterBackend::worker_options() {
    return {.postgres = places_.postgres,
            .kafka = places_.reader(),
            .now = [this] { return primary_clock_.now(); },
            .partitions = static_cast<uint64_t>(places_.topic.partitions),
            .lease = {.owner = places_.name},
            .rate_per_second_max = places_.orders_rate_per_second_max,
            .batch_max = places_.orders_batch_max};
}

ClusterLookup::CurrentLease ClusterBackend::current_lease() const {
    return [this] {
        std::lock_guard lock(lease_mutex_);
        return lease_;
    };
}

void ClusterBackend::share(Strikes& strikes) {
    strikes_ = &strikes;
    strikes.tell_to(funnel_.strikes());
}

ClusterCheckTerms ClusterBackend::check_terms() {
    // The desk's, the keeper's, the duty's, the relay's, the coordinator's, the letters', the workers'
    // leases, the checks'.
    constexpr size_t single_connections = 9;
    return {.redis = places_.redis_caller(),
            .postgres = places_.postgres,
            .connections_per_node = places_.pool.connections + places_.pool.overflow_max +
                                    static_cast<size_t>(places_.topic.partitions) + single_connections,
            .pools = {&pool_},
            .replica_pool = replica_pool_.get(),
            .kafka = {.brokers = places_.brokers},
            .topic = places_.topic};
}

void ClusterBackend::take_lease(std::shared_ptr<const EpochLease> lease) {
    {
        std::lock_guard lock(lease_mutex_);
        lease_ = lease;
    }
    books_.take_lease(std::move(lease));
}

StoreResult<std::vector<Lookups::Readers>> ClusterBackend::lookup_readers(size_t threads) {
    if (const auto warmed = pool_.warm(); !warmed) return warmed.error();
    std::vector<Lookups::Readers> readers;
    for (size_t i = 0; i < threads; ++i) {
        readers.push_back({std::make_unique<ClusterLookup>(ClusterLookup::Options{.redis = places_.redis},
                                                           pool_, current_lease()),
                           std::make_unique<PostgresOrdersReader>(pool_),
                           replica_pool_ ? std::make_unique<PostgresReplica>(*replica_pool_, pool_,
                                                                             PostgresReplica::Options{})
                                         : nullptr});
    }
    return readers;
}

StoreResult<audit::AuditDesk::Readers> ClusterBackend::audit_readers() {
    auto ledger = KafkaWholeLedger::open(places_.whole_ledger());
    if (!ledger) return ledger.error();
    return audit::AuditDesk::Readers{*std::move(ledger), std::make_unique<PostgresOrdersReader>(pool_),
                                     std::make_unique<PostgresAuditReader>(pool_)};
}

StoreResult<bool> ClusterBackend::look_at_others() {
    const Uptime uptime = clock_.uptime();
    if (uptime < looked_at_ + others_looked_at_every) return false;
    looked_at_ = uptime;
    if (places_.roles.gate) {
        const auto changed = changes_.take();
        if (!changed) return changed.error();
        if (!changed->empty()) hooks_.changed(*changed);
    }
    const auto mark = orders_->sales_mark();
    if (!mark) return mark.error();
    is_in_trouble_ = false;
    if (uptime >= counted_at_ + orders_counted_every) {
        if (const auto counted = count_orders(); !counted) return counted.error();
        counted_at_ = uptime;
    }
    return std::exchange(sales_seen_, *mark) != *mark;
}

// Others make and move orders, too. Who is not on duty tells of none, so that the processes can be added up.
StoreResult<void> ClusterBackend::count_orders() {
    OrderCounts counts{};
    if (is_on_duty()) {
        const auto counted = orders_->reader().count_orders();
        if (!counted) return counted.error();
        counts = *counted;
    }
    tally_.load(counts);
    return {};
}

// What PostgreSQL could not do is tried again, without end: rows decide what has landed.
bool ClusterBackend::mend(const StoreError& error) {
    if (!std::exchange(is_in_trouble_, true))
        log_warn("the orders wait for PostgreSQL", {{"error", error.text()}});
    orders_->mend();
    sales_seen_ = -1;
    return true;
}

void ClusterBackend::start() {
    has_started_ = true;
    books_.start();
    keeper_.start();
    funnel_.start();
    warm_up_.start();
    upkeep_.start();
    if (workers_) worker_thread_.start();
    if (places_.roles.sweeper) {
        sweeping_.start();
        lag_.start();
    }
}

void ClusterBackend::doubt(const ItemEpoch& item, const std::string& why) {
    std::lock_guard lock(doubts_mutex_);
    if (doubts_.size() < doubts_max) doubts_.push_back({item, why});
}

void ClusterBackend::tell_doubts(pg::Connection& connection) {
    std::vector<Doubted> told;
    {
        std::lock_guard lock(doubts_mutex_);
        told.swap(doubts_);
    }
    PostgresEpochs epochs(connection);
    for (const Doubted& one : told) {
        const auto written = epochs.doubt(one.item, one.why);
        if (written) continue;
        log_warn("a doubt about a book waits", {{"error", written.error().text()}});
        doubt(one.item, one.why);
    }
}

milliseconds ClusterBackend::keep_up() {
    const auto kept = pg::guarded("keeping the node's numbers", [&] {
        const pg::Pool::Handle connection = pool_.take();
        primary_clock_.hear(pg::hear_time(*connection));
        tell_doubts(*connection);
        return node_.keep(*connection) && (!worker_node_ || worker_node_->keep(*connection));
    });
    // A rebuild that somebody waits for: its end is in the next lease.
    const std::shared_ptr<const EpochLease> lease = current_lease()();
    const auto is_closed = [](const ItemEpoch& item) { return !item.pin && !item.is_at_rest; };
    if (lease && std::ranges::any_of(lease->items(), is_closed)) keeper_.ask_soon();
    const bool is_held = kept ? *kept : node_.holds() && (!worker_node_ || worker_node_->holds());
    if (!is_held) {
        hooks_.failed(
            "the numbers that order ids are made with are lost: PostgreSQL was away for ten minutes; start "
            "again");
    }
    if (places_.roles.sweeper) (void)duty_.look();  // it tells itself
    return upkeep_every;
}

milliseconds ClusterBackend::place_orders() {
    const Uptime next = workers_->step(clock_.uptime());
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next - clock_.uptime()));
}

// The lease is kept until the last one is answered: without it nobody hears yes.
void ClusterBackend::stop_selling() {
    books_.stop();
    funnel_.stop();
}

// Of those who do not come here the numbers are free twenty minutes later.
void ClusterBackend::give_numbers_back() {
    const auto given = pg::guarded("giving the node's numbers back", [&] {
        const pg::Pool::Handle connection = pool_.take();
        node_.give_back(*connection);
        if (worker_node_) worker_node_->give_back(*connection);
    });
    if (!given) log_warn("the node's numbers will run out by themselves", {{"error", given.error().text()}});
}

StoreResult<void> ClusterBackend::stop() {
    lag_.stop();
    sweeping_.stop();
    worker_thread_.stop();
    if (workers_) workers_->give_all_back();
    upkeep_.stop();
    give_numbers_back();
    warm_up_.stop();
    keeper_.stop();
    records_->close(ClusterPlaces::message_max);
    return {};
}

OrderFigures ClusterBackend::order_figures() const {
    const ClusterWorkers::Figures& figures = worker_figures();
    const uint64_t ordered = figures.ordered, cancelled = figures.cancelled, dead = figures.dead_letters;
    return {.ordered = ordered,
            .cancelled = cancelled,
            .dead_letters = dead,
            .position = ordered + cancelled + dead,
            .behind = is_on_duty() ? lag_.figures().records : 0};
}

void ClusterBackend::describe(MetricsSnapshot& snapshot) const {
    const std::shared_ptr<const EpochLease> lease = current_lease()();
    const ClusterWorkers::Figures& workers = worker_figures();
    const ClusterCoordinator::Figures& rebuilds = sweeping_.rebuilds();
    const RedisFunnel::Figures shared = funnel_.figures();
    snapshot.cluster = MetricsSnapshot::Cluster{
        .lease_holds = lease && lease->holds(),
        .on_duty = is_on_duty(),
        .partitions_held = workers.partitions_held,
        .partitions_lost_total = workers.lost,
        .partition_troubles_total = workers.troubles,
        .partitions_unreadable_total = workers.unreadable,
        .rebuilds_under_way = rebuilds.under_way,
        .rebuilds_total = rebuilds.rebuilds_done,
        .releases_waiting = sweeping_.figures().releases_kept,
        .takes_swept_total = sweeping_.figures().takes_swept,
        .producers_replaced_total = records_->producers_replaced(),
        .checks_unknown_total = shared.marks_unknown,
        .strikes_told_total = shared.strikes_told,
        .strikes_heard_total = shared.strikes_heard,
        .strikes_untold_total = shared.strikes_lost,
    };
}

}  // namespace doorbuster
