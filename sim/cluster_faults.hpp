// What can happen in a run of the cluster, and how often it did.
//
// A minute of seeds in which one of them never occurs is a failed run: what does not happen is not tested.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace doorbuster::sim::cluster {

enum class ClusterFault : uint8_t {
    redis_lost,         // everything is gone, the functions too
    redis_restarted,    // a new process, with what an older snapshot has
    redis_rolled_back,  // a stale replica takes over
    redis_demoted,      // the same process, behind a stale one and promoted again
    redis_split,        // the master before it still answers those who have a connection
    redis_away,
    redis_call_lost,
    redis_answer_lost,  // executed, and nobody hears of it
    redis_slow,
    redis_clock_jump,
    kafka_slow,
    kafka_refused,  // at once
    kafka_failed,   // certainly not written
    kafka_unknown_landed,
    kafka_unknown_never,
    kafka_unknown_late,  // written long behind the report
    postgres_restarted,
    postgres_connection_lost,
    postgres_slow,
    commit_unknown_landed,
    commit_unknown_never,
    commit_lands_later,  // it holds its locks meanwhile
    gate_crash,
    gate_pause,
    helper_crash,
    helper_pause,
    worker_crash,
    worker_pause,
    coordinator_crash,
    coordinator_pause,
    answer_lost,  // the gate's, on its way to the buyer
    retry_same_key,
    retry_elsewhere,
    retry_new_key,
};
constexpr std::array<std::string_view, 34> cluster_fault_names = {
    "redis_lost",           "redis_restarted",
    "redis_rolled_back",    "redis_demoted",
    "redis_split",          "redis_away",
    "redis_call_lost",      "redis_answer_lost",
    "redis_slow",           "redis_clock_jump",
    "kafka_slow",           "kafka_refused",
    "kafka_failed",         "kafka_unknown_landed",
    "kafka_unknown_never",  "kafka_unknown_late",
    "postgres_restarted",   "postgres_connection_lost",
    "postgres_slow",        "commit_unknown_landed",
    "commit_unknown_never", "commit_lands_later",
    "gate_crash",           "gate_pause",
    "helper_crash",         "helper_pause",
    "worker_crash",         "worker_pause",
    "coordinator_crash",    "coordinator_pause",
    "answer_lost",          "retry_same_key",
    "retry_elsewhere",      "retry_new_key"};

enum class ClusterHeard : uint8_t {
    accepted,
    repeated,
    repeated_finished,
    sold_out,
    shown_sold_out,  // by the gate's board
    limit_reached,
    rebuilding,
    unknown,
    nothing,  // until the buyer's patience ended
};
constexpr std::array<std::string_view, 9> cluster_heard_names = {
    "accepted",      "repeated",   "repeated_finished", "sold_out", "shown_sold_out",
    "limit_reached", "rebuilding", "unknown",           "nothing"};

// What came of it behind the gates.
enum class ClusterDeed : uint8_t {
    rebuilt,
    rebuild_lost,  // to another coordinator, or to an unknown commit
    swept,
    duplicate,       // a record of a purchase that is known by the same take
    late,            // a record behind the SEAL of its epoch
    late_cancelled,  // and no purchase by the next one
    late_won,        // and its id has won under a newer epoch
    released,
    absorbed,
    order_cancelled,
    restocked,
    worker_overtaken,  // found its partition taken over
    winner_released,   // repeated a purchase whose units had gone back
    contention,
};
constexpr std::array<std::string_view, 14> cluster_deed_names = {
    "rebuilt",        "rebuild_lost",     "swept",           "duplicate", "late",
    "late_cancelled", "late_won",         "released",        "absorbed",  "order_cancelled",
    "restocked",      "worker_overtaken", "winner_released", "contention"};

struct ClusterCoverage {
    std::array<uint64_t, cluster_fault_names.size()> fault_count{};
    std::array<uint64_t, cluster_heard_names.size()> heard_count{};
    std::array<uint64_t, cluster_deed_names.size()> deed_count{};
    uint64_t seeds = 0, asks = 0;

    void did(ClusterDeed deed, uint64_t times = 1) { deed_count[static_cast<size_t>(deed)] += times; }
    void add(const ClusterCoverage& other) {
        for (size_t i = 0; i < fault_count.size(); ++i) fault_count[i] += other.fault_count[i];
        for (size_t i = 0; i < heard_count.size(); ++i) heard_count[i] += other.heard_count[i];
        for (size_t i = 0; i < deed_count.size(); ++i) deed_count[i] += other.deed_count[i];
        seeds += other.seeds;
        asks += other.asks;
    }
};

}  // namespace doorbuster::sim::cluster
