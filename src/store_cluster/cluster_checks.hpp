// ClusterChecks: everything that is looked at before a sale may be `ready` on the cluster.
#pragma once

#include <memory>
#include <vector>

#include "store/warm_up.hpp"
#include "store_cluster/kafka_topics.hpp"
#include "store_cluster/pg_pool.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/redis_caller.hpp"

namespace doorbuster {

struct ClusterCheckTerms {
    RedisCaller::Options redis;
    milliseconds redis_round_trip_max{20};
    pg::ConnectionOptions postgres;
    size_t connections_per_node = 0;   // to PostgreSQL, of all pools and single ones, overflow included
    std::vector<pg::Pool*> pools{};    // opened by the check, so that nobody waits for it in the rush
    pg::Pool* replica_pool = nullptr;  // opened, too; where it cannot be, the primary answers
    KafkaTopics::Options kafka;
    KafkaTopicTerms topic;
    std::function<Instant()> now = &MonotonicClock::system_now;
};

// Asks all three stores, over connections of its own; blocks for as long as they take to answer, or not to.
[[nodiscard]] WarmUpFindings check_cluster(const ClusterCheckTerms&);

// Whether the books of the sale are loaded: every item has an open epoch, by a lease that holds.
[[nodiscard]] WarmUpFindings check_books(const Sale&, const EpochLease*, pg::BootTime now = pg::boot_time());

}  // namespace doorbuster
