// Faults: what can go wrong in a run, and how often it did.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace doorbuster::sim {

enum class Fault : uint8_t {
    crash_between_steps,
    crash_before_write,  // the process dies, nothing was written
    crash_after_write,   // the write is durable, nobody hears of it
    failed_write,
    lost_acknowledgement,  // the write is durable, the store says that it failed
    slow_disk,
    clock_jump_forward,
    clock_jump_back,
    queue_full,
    message_lost,
    message_repeated,
    message_delayed,
    message_reordered,
    retry_same_key,
    retry_new_key,
};
constexpr size_t faults = 15;

constexpr std::array<std::string_view, faults> fault_names = {
    "crash_between_steps",  "crash_before_write", "crash_after_write",  "failed_write",
    "lost_acknowledgement", "slow_disk",          "clock_jump_forward", "clock_jump_back",
    "queue_full",           "message_lost",       "message_repeated",   "message_delayed",
    "message_reordered",    "retry_same_key",     "retry_new_key"};

// What a buyer can hear about a purchase.
enum class Heard : uint8_t {
    accepted,
    repeated,
    cancelled,  // repeated, and it has ended
    sold_out,
    limit_reached,
    not_open,
    ended,
    paused,
    key_mismatch,
    overloaded,
    rebuilding,
    unknown,
    nothing,  // until the buyer's patience ended
};
constexpr size_t heards = 13;

constexpr std::array<std::string_view, heards> heard_names = {
    "accepted", "repeated",     "cancelled",  "sold_out",   "limit_reached", "not_open", "ended",
    "paused",   "key_mismatch", "overloaded", "rebuilding", "unknown",       "nothing"};

struct Coverage {
    std::array<uint64_t, faults> fault_count{};
    std::array<uint64_t, heards> heard_count{};
    uint64_t commands = 0, crashes = 0, acceptances = 0, cancels = 0, restocks = 0, seeds = 0;

    void add(const Coverage& other) {
        for (size_t i = 0; i < faults; ++i) fault_count[i] += other.fault_count[i];
        for (size_t i = 0; i < heards; ++i) heard_count[i] += other.heard_count[i];
        commands += other.commands;
        crashes += other.crashes;
        acceptances += other.acceptances;
        cancels += other.cancels;
        restocks += other.restocks;
        seeds += other.seeds;
    }
};

}  // namespace doorbuster::sim
