// What a Redis must be before a sale is opened on it, looked at and judged.
//
// Failures: what would make it forget buyers, refuse writes or answer nobody. Warnings: that nothing is on
// its disk, that a replica is still being copied, that it is far away. It holds no promise, so losing it
// costs time and no yes.
#pragma once

#include <chrono>
#include <string>

#include "store/warm_up.hpp"
#include "store_cluster/redis_caller.hpp"

namespace doorbuster {

// What Redis keeps of one acceptance: the take, the buyer's right and the outbox entry, with room for the
// tables that grow by doubling. Measured: 454 bytes with buyer ids of 36 bytes (redis_checks_test.cpp).
constexpr uint64_t redis_bytes_per_acceptance = 512;
// Released units are taken again and finished takes stay for the epoch; replicas and clients have buffers.
constexpr uint64_t redis_memory_factor = 2;

struct RedisWanted {
    uint64_t acceptances = 0;                      // that are still to come
    std::chrono::milliseconds round_trip_max{20};  // every purchase waits for one
};

struct RedisFacts {
    std::string version, role, eviction;
    uint64_t bytes_used = 0, bytes_max = 0;  // as it may use: maxmemory, or all that the machine has
    bool has_maxmemory = false;
    bool appends = false, snapshots = false;
    std::string write_fault{};  // why it refuses writes, or will
    uint64_t replicas_wanted = 0, replicas_good = 0, replicas_coming = 0;
};

// `setup` reads settings: INFO and CONFIG GET.
[[nodiscard]] RedisResult<RedisFacts> read_redis_facts(RedisSession& setup);
[[nodiscard]] WarmUpFindings judge_redis(const RedisFacts&, uint64_t acceptances_expected);

// All of it, as both users: the settings, the function library as the gates call it, how far away it is.
[[nodiscard]] WarmUpFindings check_redis(const RedisCaller::Options&, const RedisWanted&);

}  // namespace doorbuster
