// doorbuster-sim: simulated sales from seeds.
//
//   doorbuster-sim --seed=N [--trace]     one run, exactly as it was
//   doorbuster-sim --seconds=S            fresh seeds for S seconds on every core
//     --seeds-min=N --seconds-max=M       longer while there were fewer, or something never occurred
//   doorbuster-sim --cluster …            the same for the cluster: Redis, Kafka and PostgreSQL
//
// Exit 0 if every promise held (and, with --seconds, every fault and outcome occurred),
// 1 if not, 2 for a wrong call. A failure prints the seed that shows it again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "base/log.hpp"
#include "sim/cluster_run.hpp"
#include "sim/run.hpp"

namespace doorbuster::sim {
namespace {

template <class Names, class Counts>
void print_counts(const char* title, const Names& names, const Counts& counts) {
    std::printf("%s:", title);
    for (size_t i = 0; i < names.size(); ++i) {
        std::printf(" %s=%llu", std::string(names[i]).c_str(), static_cast<unsigned long long>(counts[i]));
    }
    std::printf("\n");
}

template <class... Counts>
size_t zeros_in(const Counts&... counts) {
    return static_cast<size_t>((std::ranges::count(counts, 0u) + ...));
}

struct OneProcess {
    static constexpr const char* option = "";
    static constexpr auto run = &sim::run;

    // How much never occurred.
    static size_t missing(const Coverage& coverage) {
        return zeros_in(coverage.fault_count, coverage.heard_count, coverage.deed_count, coverage.step_count);
    }
    static void print(const Coverage& coverage) {
        const double seeds = static_cast<double>(std::max<uint64_t>(1, coverage.seeds));
        std::printf("%.0f commands and %.1f crashes a seed\n", static_cast<double>(coverage.commands) / seeds,
                    static_cast<double>(coverage.crashes) / seeds);
        print_counts("faults", fault_names, coverage.fault_count);
        print_counts("heard", heard_names, coverage.heard_count);
        print_counts("deeds", deed_names, coverage.deed_count);
        print_counts("steps", step_names, coverage.step_count);
    }
};

struct WholeCluster {
    static constexpr const char* option = "--cluster ";
    static constexpr auto run = &cluster::run_cluster;

    static size_t missing(const cluster::ClusterCoverage& coverage) {
        return zeros_in(coverage.fault_count, coverage.heard_count, coverage.deed_count);
    }
    static void print(const cluster::ClusterCoverage& coverage) {
        std::printf("%.0f asks a seed\n", static_cast<double>(coverage.asks) /
                                              static_cast<double>(std::max<uint64_t>(1, coverage.seeds)));
        print_counts("faults", cluster::cluster_fault_names, coverage.fault_count);
        print_counts("heard", cluster::cluster_heard_names, coverage.heard_count);
        print_counts("deeds", cluster::cluster_deed_names, coverage.deed_count);
    }
};

template <class Kind>
int run_one(uint64_t seed, bool with_trace) {
    const auto result = Kind::run(
        seed, with_trace ? Trace([](const std::string& line) { std::puts(line.c_str()); }) : Trace{});
    for (const std::string& what : result.broken) std::printf("broken: %s\n", what.c_str());
    std::printf("seed %llu: %zu broken, fingerprint %016llx\n", static_cast<unsigned long long>(seed),
                result.broken.size(), static_cast<unsigned long long>(result.fingerprint));
    return result.broken.empty() ? 0 : 1;
}

// How fast a machine is, and how busy with other things, must not decide: it goes on until there was enough
// of everything.
struct Duration {
    std::chrono::seconds min, max;
    uint64_t seeds_min;
};

template <class Kind>
int run_many(const Duration& duration, uint64_t first_seed) {
    using std::chrono::steady_clock;
    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    const auto began = steady_clock::now();
    std::atomic<uint64_t> next_seed{first_seed};
    std::atomic<bool> found{false};
    std::mutex mutex;
    using Outcome = decltype(Kind::run(0, {}));
    decltype(Outcome::coverage) coverage;  // guarded by mutex
    std::optional<Outcome> failed;         // guarded by mutex; the first one found
    const auto is_enough = [&] {
        const auto passed = steady_clock::now() - began;
        if (passed < duration.min) return false;
        if (passed >= duration.max) return true;
        std::lock_guard lock(mutex);
        return coverage.seeds >= duration.seeds_min && Kind::missing(coverage) == 0;
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) {
        workers.emplace_back([&] {
            while (!found && !is_enough()) {
                const Outcome result = Kind::run(next_seed++, {});
                std::lock_guard lock(mutex);
                coverage.add(result.coverage);
                if (result.broken.empty()) continue;
                found = true;
                if (!failed) failed = result;
            }
        });
    }
    for (std::thread& worker : workers) worker.join();

    if (failed) {
        for (const std::string& what : failed->broken) std::printf("broken: %s\n", what.c_str());
        std::printf("replay: doorbuster-sim %s--seed=%llu --trace\n", Kind::option,
                    static_cast<unsigned long long>(failed->seed));
        return 1;
    }
    std::printf("%llu seeds from %llu on, 0 promises broken\n",
                static_cast<unsigned long long>(coverage.seeds), static_cast<unsigned long long>(first_seed));
    Kind::print(coverage);
    if (Kind::missing(coverage) > 0) {
        std::printf("broken: some faults or outcomes never occurred\n");
        return 1;
    }
    if (coverage.seeds < duration.seeds_min) {
        std::printf("broken: only %llu seeds, %llu were asked for\n",
                    static_cast<unsigned long long>(coverage.seeds),
                    static_cast<unsigned long long>(duration.seeds_min));
        return 1;
    }
    return 0;
}

}  // namespace
}  // namespace doorbuster::sim

int main(int argc, char** argv) {
    CLI::App app("Simulated sales from seeds, judged by a recount of their records");
    std::optional<uint64_t> seed;
    int64_t seconds = 10, seconds_max = 0;
    uint64_t seeds_min = 1;
    bool trace = false, is_cluster = false;
    app.add_option("--seed", seed, "Run this one seed, exactly as it was");
    app.add_flag("--trace", trace, "Print everything that happens (with --seed)");
    app.add_option("--seconds", seconds, "Run fresh seeds for so long (default 10)")
        ->check(CLI::Range(1, 86400));
    app.add_option("--seconds-max", seconds_max,
                   "And for so long while something is missing (default: no longer)")
        ->check(CLI::Range(1, 86400));
    app.add_flag("--cluster", is_cluster, "The cluster's protocol in place of the embedded one");
    app.add_option("--seeds-min", seeds_min, "Fail if fewer seeds were run");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    doorbuster::set_log_level("off");
    const auto run = [&]<class Kind>() {
        if (seed) return doorbuster::sim::run_one<Kind>(*seed, trace);
        const uint64_t fresh = std::random_device{}() & 0x7fffffffu;
        return doorbuster::sim::run_many<Kind>({.min = std::chrono::seconds(seconds),
                                                .max = std::chrono::seconds(std::max(seconds, seconds_max)),
                                                .seeds_min = seeds_min},
                                               fresh * 1'000'000);
    };
    return is_cluster ? run.operator()<doorbuster::sim::WholeCluster>()
                      : run.operator()<doorbuster::sim::OneProcess>();
}
