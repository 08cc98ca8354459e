// doorbuster-sim: simulated sales from seeds.
//
//   doorbuster-sim --seed=N [--trace]     one run, exactly as it was
//   doorbuster-sim --seconds=S            fresh seeds for S seconds on every core
//     --seeds-min=N --seconds-max=M       longer while there were fewer, or something never occurred
//     --cpu-ms-max=C                      and not if a seed costs more CPU than that, on average
//   doorbuster-sim --cluster …            the same for the cluster: Redis, Kafka and PostgreSQL
//
// Exit 0 if every promise held (and, with --seconds, every fault and outcome occurred, and a seed had enough
// of them), 1 if not, 2 for a wrong call. A failure prints the seed that shows it again, and so does whatever
// ends it by a signal: a CHECK, a stack that is used up, one of many seeds that comes to no end.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <random>
#include <span>
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

// How to see again what this thread runs: made ready before, since nothing may be formatted once it has
// crashed.
struct Replay {
    std::array<char, 96> text;
    int length = 0;
};
thread_local Replay replay;

template <class Kind>
void be_ready_to_tell(uint64_t seed) {
    replay.length = std::snprintf(replay.text.data(), replay.text.size(),
                                  "replay: doorbuster-sim %s--seed=%llu --trace\n", Kind::option,
                                  static_cast<unsigned long long>(seed));
}

template <class Kind>
auto run_seed(uint64_t seed, const Trace& trace) {
    be_ready_to_tell<Kind>(seed);
    return Kind::run(seed, trace);
}

void tell_replay(int) {
    const auto length = static_cast<size_t>(std::max(0, replay.length));
    if (write(STDOUT_FILENO, replay.text.data(), length) < 0) return;  // nobody listens, and it ends anyway
}

// A CHECK that fails, or worse, ends the process as it always does; its seed is told first.
void tell_replay_of_crashes() {
    struct sigaction action {};
    action.sa_handler = tell_replay;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, nullptr);
}

// Each thread for itself: where a seed has used up the stack of its thread, nobody can tell of it there.
void tell_from_another_stack() {
    stack_t stack{};
    if (sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer's
    thread_local std::array<std::byte, 64 * 1024> room;
    stack = {.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
    sigaltstack(&stack, nullptr);
}

double cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

struct OneProcess {
    static constexpr const char* option = "";
    static constexpr auto run = &sim::run;

    // How much never occurred.
    static size_t missing(const Coverage& coverage) {
        return zeros_in(coverage.fault_count, coverage.heard_count, coverage.deed_count, coverage.step_count);
    }
    // A seed in which little happens shows little.
    static bool is_enough_a_seed(const Coverage& coverage) {
        constexpr uint64_t commands_min = 200, crashes_min = 3;
        return coverage.commands >= commands_min * coverage.seeds &&
               coverage.crashes >= crashes_min * coverage.seeds;
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
    static bool is_enough_a_seed(const cluster::ClusterCoverage& coverage) {
        constexpr uint64_t asks_min = 200;
        return coverage.asks >= asks_min * coverage.seeds;
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
    if (with_trace)
        std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // whatever it ends with, the last line is there
    const auto result = run_seed<Kind>(
        seed, with_trace ? Trace([](const std::string& line) { std::puts(line.c_str()); }) : Trace{});
    for (const std::string& what : result.broken) std::printf("broken: %s\n", what.c_str());
    std::printf("seed %llu: %zu broken, fingerprint %016llx\n", static_cast<unsigned long long>(seed),
                result.broken.size(), static_cast<unsigned long long>(result.fingerprint));
    return result.broken.empty() ? 0 : 1;
}

// How fast a machine is, and how busy with other things, must not decide: it goes on until there was enough
// of everything. What a seed costs is counted in CPU.
struct Demands {
    std::chrono::seconds min, max;
    uint64_t seeds_min;
    std::optional<double> cpu_ms_max;  // of a seed, on average
};

struct UnderWay {
    uint64_t seed = 0;
    unsigned looks = 0;  // that found it, a second apart: while the process is stopped there are none
};

// A core of it shows where it hangs.
template <class Kind>
void abort_if_one_hangs(std::span<std::optional<UnderWay>> under_way) {
    constexpr unsigned seed_s_max = 60;  // hundreds of times what one takes
    for (auto& one : under_way) {
        if (!one || ++one->looks < seed_s_max) continue;
        std::printf("broken: it hangs: no end after %u s\n", seed_s_max);
        std::fflush(stdout);
        be_ready_to_tell<Kind>(one->seed);
        std::abort();
    }
}

template <class Kind>
int run_many(const Demands& demands, uint64_t first_seed) {
    using std::chrono::steady_clock;
    const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
    const auto began = steady_clock::now();
    std::atomic<uint64_t> next_seed{first_seed};
    std::atomic<bool> found{false};
    std::mutex mutex;
    using Outcome = decltype(Kind::run(0, {}));
    decltype(Outcome::coverage) coverage;                     // guarded by mutex
    std::optional<Outcome> failed;                            // guarded by mutex; the first one found
    std::vector<std::optional<UnderWay>> under_way(threads);  // guarded by mutex
    unsigned at_work = threads;                               // guarded by mutex
    std::condition_variable one_ended;
    const auto is_enough = [&] {
        const auto passed = steady_clock::now() - began;
        if (passed < demands.min) return false;
        if (passed >= demands.max) return true;
        std::lock_guard lock(mutex);
        return coverage.seeds >= demands.seeds_min && Kind::missing(coverage) == 0;
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) {
        workers.emplace_back([&, i] {
            tell_from_another_stack();
            while (!found && !is_enough()) {
                const uint64_t seed = next_seed++;
                {
                    std::lock_guard lock(mutex);
                    under_way[i] = UnderWay{.seed = seed};
                }
                const Outcome result = run_seed<Kind>(seed, {});
                std::lock_guard lock(mutex);
                under_way[i].reset();
                coverage.add(result.coverage);
                if (result.broken.empty()) continue;
                found = true;
                if (!failed) failed = result;
            }
            std::lock_guard lock(mutex);
            --at_work;
            one_ended.notify_one();
        });
    }
    for (std::unique_lock lock(mutex); at_work > 0;) {
        one_ended.wait_for(lock, std::chrono::seconds(1));
        abort_if_one_hangs<Kind>(under_way);
    }
    for (std::thread& worker : workers) worker.join();

    if (failed) {
        for (const std::string& what : failed->broken) std::printf("broken: %s\n", what.c_str());
        std::printf("replay: doorbuster-sim %s--seed=%llu --trace\n", Kind::option,
                    static_cast<unsigned long long>(failed->seed));
        return 1;
    }
    const double cpu_ms = 1000 * cpu_seconds() / static_cast<double>(std::max<uint64_t>(1, coverage.seeds));
    std::printf("%llu seeds from %llu on in %.0f s, %.1f ms of CPU each, 0 promises broken\n",
                static_cast<unsigned long long>(coverage.seeds), static_cast<unsigned long long>(first_seed),
                std::chrono::duration<double>(steady_clock::now() - began).count(), cpu_ms);
    Kind::print(coverage);
    bool is_enough_of_all = true;
    const auto expect = [&](bool holds, const char* otherwise) {
        if (!holds) std::printf("missing: %s\n", otherwise);
        is_enough_of_all = is_enough_of_all && holds;
    };
    expect(Kind::missing(coverage) == 0, "some faults or outcomes never occurred");
    expect(Kind::is_enough_a_seed(coverage), "too little happened in a seed");
    expect(coverage.seeds >= demands.seeds_min, "fewer seeds than were asked for");
    expect(!demands.cpu_ms_max || cpu_ms <= *demands.cpu_ms_max, "speed: a seed costs more CPU than it may");
    return is_enough_of_all ? 0 : 1;
}

}  // namespace
}  // namespace doorbuster::sim

int main(int argc, char** argv) {
    CLI::App app("Simulated sales from seeds, judged by a recount of their records");
    std::optional<uint64_t> seed;
    int64_t seconds = 10, seconds_max = 0;
    uint64_t seeds_min = 1;
    std::optional<double> cpu_ms_max;
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
    app.add_option("--cpu-ms-max", cpu_ms_max, "Fail if a seed costs more milliseconds of CPU, on average")
        ->check(CLI::PositiveNumber);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    doorbuster::set_log_level("off");
    doorbuster::sim::tell_replay_of_crashes();
    doorbuster::sim::tell_from_another_stack();
    const auto run = [&]<class Kind>() {
        if (seed) return doorbuster::sim::run_one<Kind>(*seed, trace);
        const uint64_t fresh = std::random_device{}() & 0x7fffffffu;
        return doorbuster::sim::run_many<Kind>({.min = std::chrono::seconds(seconds),
                                                .max = std::chrono::seconds(std::max(seconds, seconds_max)),
                                                .seeds_min = seeds_min,
                                                .cpu_ms_max = cpu_ms_max},
                                               fresh * 1'000'000);
    };
    return is_cluster ? run.operator()<doorbuster::sim::WholeCluster>()
                      : run.operator()<doorbuster::sim::OneProcess>();
}
