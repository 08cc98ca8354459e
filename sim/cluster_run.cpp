#include "sim/cluster_run.hpp"

#include "sim/cluster_buyer.hpp"

namespace doorbuster::sim::cluster {

namespace {

constexpr int64_t us_per_ms = 1000;
constexpr int64_t faulty_for_us = 15'000 * us_per_ms, patience_at_end_us = 90'000 * us_per_ms;
constexpr int64_t step_us = 100 * us_per_ms, trouble_us = 50 * us_per_ms;
constexpr int quiet_steps = 20;
constexpr uint32_t buyers = 10;
constexpr size_t partitions = 2;

struct Trouble {
    ClusterFault crash, pause;
};

class Run {
public:
    Run(uint64_t seed, const Trace& trace);
    ~Run();
    ClusterResult run(uint64_t seed);

private:
    void make_sale();
    void add(std::unique_ptr<Process> process, Trouble trouble);
    void trouble();
    void heal();
    bool come_to_rest();
    ClusterHeard ask_until_told(const BookBucket& item, const ReserveEntry& entry);
    void probe();
    void ask_for_rebuilds();

    ClusterWorld world_;
    SimulatedRedis redis_{world_};
    SimulatedKafka kafka_{world_, partitions};
    SimulatedPostgres postgres_{world_};
    const Stores stores_{redis_, kafka_, postgres_};
    const std::vector<BookBucket> items_{{SaleId("sim"), ItemId("few")}, {SaleId("sim"), ItemId("more")}};
    ClusterJudge judge_{world_, stores_, items_};
    std::vector<std::pair<std::unique_ptr<Process>, Trouble>> processes_;
    std::unique_ptr<Desk> desk_;
    std::unique_ptr<Counter> counter_;
    std::vector<std::unique_ptr<ClusterBuyer>> crowd_;
};

Run::Run(uint64_t seed, const Trace& trace) : world_(seed, trace) {
    using enum ClusterFault;
    postgres_.committed = [this] { judge_.committed(); };
    make_sale();
    std::vector<Gate*> gates;
    for (const char* name : {"gate-1", "gate-2"}) {
        auto gate = std::make_unique<Gate>(world_, stores_, name, items_);
        gates.push_back(gate.get());
        add(std::move(gate), {gate_crash, gate_pause});
    }
    add(std::make_unique<Helper>(world_, stores_, "helper-1"), {helper_crash, helper_pause});
    add(std::make_unique<Helper>(world_, stores_, "helper-2"), {helper_crash, helper_pause});
    add(std::make_unique<Worker>(world_, stores_, "worker-1"), {worker_crash, worker_pause});
    add(std::make_unique<Worker>(world_, stores_, "worker-2"), {worker_crash, worker_pause});
    add(std::make_unique<Coordinator>(world_, stores_, "coordinator-1"),
        {coordinator_crash, coordinator_pause});
    add(std::make_unique<Coordinator>(world_, stores_, "coordinator-2"),
        {coordinator_crash, coordinator_pause});
    desk_ = std::make_unique<Desk>(world_, stores_, "desk");
    desk_->begin();
    counter_ = std::make_unique<Counter>(world_, judge_, gates);
    for (uint32_t i = 0; i < buyers; ++i) {
        crowd_.push_back(std::make_unique<ClusterBuyer>(world_, *counter_, items_, i));
        crowd_.back()->begin();
    }
    world_.after(trouble_us, [this] { trouble(); });
}

Run::~Run() {
    for (const auto& [process, trouble] : processes_) process->end();
    desk_->end();
    world_.clear();
}

void Run::make_sale() {
    PgTables& tables = postgres_.tables;
    tables.sale.sale = {.id = SaleId("sim"),
                        .title = "Simulated",
                        .opens_at = world_.wall_now() - std::chrono::hours(1),
                        .closes_at = world_.wall_now() + std::chrono::hours(24),
                        .items = {}};
    const std::array<int64_t, 2> units = {world_.random.between(1, 4), world_.random.between(3, 10)};
    const std::array<int64_t, 2> limits = {1, 3};
    for (size_t i = 0; i < items_.size(); ++i) {
        const std::string id = items_[i].item.str();
        tables.items[{"sim", id}] = {.sale = "sim",
                                     .id = id,
                                     .ordinal = static_cast<int64_t>(i),
                                     .price_minor = 100,
                                     .units_per_buyer_max = limits[i],
                                     .units_total = units[i],
                                     .units_available = units[i]};
    }
}

void Run::add(std::unique_ptr<Process> process, Trouble trouble) {
    process->begin();
    processes_.emplace_back(std::move(process), trouble);
}

// Processes die and come back, or sleep through their leases.
void Run::trouble() {
    if (!world_.is_faulty()) return;
    world_.after(trouble_us, [this] { trouble(); });
    for (auto& [process, trouble] : processes_) {
        Node& node = process->node();
        const bool is_asleep = node.paused_until_us() > world_.now_us();
        if (!node.is_alive() || is_asleep) continue;
        if (world_.strikes(trouble.crash, 7)) {
            world_.note(node.name() + " dies");
            process->end();
            world_.after(world_.random.between(50, 1'500) * us_per_ms, [&one = *process] {
                if (!one.node().is_alive()) one.begin();
            });
        } else if (world_.strikes(trouble.pause, 7)) {
            world_.note(node.name() + " sleeps");
            // Often for so long that its epoch is over, or its rebuild taken over, when it wakes.
            const bool is_long = world_.random.chance(400);
            node.pause(world_.random.between(is_long ? 2'500 : 50, is_long ? 8'000 : 2'500) * us_per_ms);
        }
    }
}

void Run::heal() {
    world_.end_faults();
    redis_.heal();
    for (auto& [process, trouble] : processes_) {
        if (!process->node().is_alive()) process->begin();
    }
    desk_->go_home();
    for (const auto& buyer : crowd_) buyer->go_home();
}

bool Run::come_to_rest() {
    const int64_t give_up_at = world_.now_us() + patience_at_end_us;
    const auto is_at_rest = [&] {
        for (const auto& buyer : crowd_) {
            if (!buyer->is_home()) return false;
        }
        return desk_->is_home() && judge_.is_at_rest();
    };
    for (int quiet = 0; quiet < quiet_steps && world_.now_us() < give_up_at;) {
        world_.run_until(world_.now_us() + step_us);
        quiet = is_at_rest() ? quiet + 1 : 0;
    }
    if (is_at_rest()) return true;
    world_.broke("P2: it never came to rest after the faults ended");
    return false;
}

// What came behind a SEAL is settled by the next one.
void Run::ask_for_rebuilds() {
    for (const auto& [name, item] : postgres_.tables.items) {
        postgres_.tables.rebuild_requests.try_emplace({name, item.epoch}, "the operator wants it");
    }
}

// A gate may have to hear of the newest epoch first: whoever is told to come back does, with the same key.
ClusterHeard Run::ask_until_told(const BookBucket& item, const ReserveEntry& entry) {
    constexpr int tries_max = 5;
    auto last = ClusterHeard::nothing;
    for (int tries = 0; tries < tries_max; ++tries) {
        counter_->ask(0, item, entry, [&](ClusterHeard what) { last = what; });
        world_.run_until(world_.now_us() + 3'000 * us_per_ms);
        if (last != ClusterHeard::rebuilding && last != ClusterHeard::nothing) break;
    }
    return last;
}

// With everybody gone, whoever comes gets exactly the units that are free, then "sold out".
void Run::probe() {
    for (const BookBucket& item : items_) {
        const int64_t free = judge_.units_free(item);
        std::map<ClusterHeard, int64_t> heard;
        for (int64_t i = 0; i <= free; ++i) {
            const BuyerId buyer(fmt::format("late-{}-{}", item.item.view(), i));
            const ReserveEntry entry{purchase_id_of(item.sale, item.item, buyer, "k"), buyer, 1};
            ++heard[ask_until_told(item, entry)];
        }
        const int64_t refused = heard[ClusterHeard::sold_out] + heard[ClusterHeard::shown_sold_out];
        if (heard[ClusterHeard::accepted] == free && refused == 1) continue;
        world_.broke(fmt::format("P2: of {} late buyers of {} {} got one, with {} free", free + 1,
                                 item.item.view(), heard[ClusterHeard::accepted], free));
    }
}

ClusterResult Run::run(uint64_t seed) {
    world_.run_until(faulty_for_us);
    heal();
    bool is_quiet = come_to_rest();
    if (is_quiet) {
        ask_for_rebuilds();
        is_quiet = come_to_rest();
    }
    if (is_quiet) {
        judge_.check_at_rest();
        probe();
        if (come_to_rest()) judge_.check_at_rest();
    }
    world_.coverage.seeds = 1;
    return {seed, world_.broken, world_.coverage, world_.fingerprint};
}

}  // namespace

ClusterResult run_cluster(uint64_t seed, const Trace& trace) {
    return std::make_unique<Run>(seed, trace)->run(seed);
}

}  // namespace doorbuster::sim::cluster
