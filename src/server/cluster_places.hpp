// ClusterPlaces: where the cluster's stores are and what this process does there, out of the configuration.
#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"
#include "store/pacing.hpp"
#include "store_cluster/kafka_reader.hpp"
#include "store_cluster/kafka_records.hpp"
#include "store_cluster/kafka_topics.hpp"
#include "store_cluster/kafka_whole_ledger.hpp"
#include "store_cluster/pg_pool.hpp"
#include "store_cluster/redis_caller.hpp"

namespace doorbuster {

struct ClusterRoles {
    bool gate = false, worker = false, sweeper = false;
    static ClusterRoles of(const Config& config);
};

struct ClusterPlaces {
    // How long a gate may sell on the primary's word; a rebuild waits for as long. Not to be configured: it
    // must be the same in every process.
    static constexpr milliseconds lease{5'000};
    // A record that Kafka has not acknowledged by then is `unknown`. Shorter than a lease.
    static constexpr milliseconds message_max{3'000};

    std::string name;  // for people: host and process
    ClusterRoles roles;
    pg::ConnectionOptions postgres;
    pg::PoolOptions pool;
    std::optional<pg::PoolOptions> replica_pool;  // of a copy that buyers' orders may be read from
    RedisAddress redis, redis_setup;
    size_t redis_connections = 10;
    milliseconds redis_call_max{500};
    KafkaTopicTerms topic;  // its partitions as configured, until they are read from where they are pinned
    KafkaTopicTerms dead_letters;
    std::string brokers;
    uint32_t orders_rate_per_second_max = 0;
    size_t orders_batch_max = 0;
    size_t queue_capacity = 0;
    Pacing pace;

    static ClusterPlaces of(const Config& config);

    RedisCaller::Options redis_caller() const { return {.address = redis, .setup = redis_setup}; }
    KafkaRecords::Options records() const;
    KafkaWholeLedger::Options whole_ledger() const {
        KafkaReader::Options soon = reader();
        soon.quiet_max = milliseconds(50);  // whoever reads everything waits for the end of every partition
        return {.reader = std::move(soon), .partitions = static_cast<uint64_t>(topic.partitions)};
    }
    KafkaReader::Options reader() const { return {.brokers = brokers, .topic = topic.name}; }
};

}  // namespace doorbuster
