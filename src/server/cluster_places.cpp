#include "server/cluster_places.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "server/pacing.hpp"

namespace doorbuster {

namespace {

RedisAddress address_of(const std::string& text) {
    const auto url = parse_redis_url(text);
    CHECK(url);  // judged with the configuration
    return {.host = url->host,
            .port = url->port,
            .socket = url->socket,
            .user = url->user,
            .password = url->password};
}

std::string name_of_this_process() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) return fmt::format("process {}", getpid());
    return fmt::format("{} process {}", host.data(), getpid());
}

}  // namespace

ClusterRoles ClusterRoles::of(const Config& config) {
    const std::vector<std::string> named = parts_of(config.server.roles.value());
    const auto has = [&](std::string_view role) { return std::ranges::find(named, role) != named.end(); };
    return {.gate = has("gate"), .worker = has("worker"), .sweeper = has("sweeper")};
}

ClusterPlaces ClusterPlaces::of(const Config& config) {
    const pg::ConnectionOptions postgres{.url = config.postgres.url};
    const std::string& setup = config.redis.setup_url;
    const uint32_t replicas = config.kafka.replicas;
    const size_t connections = config.postgres.connections, overflow = config.postgres.overflow_max;
    const pg::PoolOptions pool{.connection = postgres,
                               .connections = connections == 0 ? pg::default_connections() : connections,
                               .overflow_max = overflow == 0 ? pg::default_connections() : overflow,
                               .wait_max = milliseconds(config.postgres.wait_ms_max.value())};
    std::optional<pg::PoolOptions> replica_pool;
    if (const std::string& replica = config.postgres.replica_url; !replica.empty()) {
        replica_pool = pool;
        replica_pool->connection.url = replica;
    }
    const std::string& letters = config.kafka.dead_letters_topic;
    const KafkaTopicTerms topic{.name = config.kafka.topic,
                                .partitions = static_cast<int32_t>(config.kafka.partitions.value()),
                                .replicas = static_cast<int32_t>(replicas),
                                .insync_min = static_cast<int32_t>(std::min(replicas, 2u))};
    KafkaTopicTerms dead_letters = topic;
    dead_letters.name = letters.empty() ? topic.name + ".dead-letters" : letters;
    dead_letters.partitions = 1;
    return {.name = name_of_this_process(),
            .roles = ClusterRoles::of(config),
            .postgres = postgres,
            .pool = pool,
            .replica_pool = replica_pool,
            .redis = address_of(config.redis.url),
            .redis_setup = address_of(setup.empty() ? config.redis.url.value() : setup),
            .redis_connections = config.redis.connections,
            .redis_call_max = milliseconds(config.redis.call_ms_max.value()),
            .topic = topic,
            .dead_letters = dead_letters,
            .brokers = config.kafka.brokers,
            .orders_rate_per_second_max = orders_per_second_of(config.orders, postgres_orders_per_second_max),
            .orders_batch_max = config.orders.batch_max,
            .queue_capacity = config.shard.queue_capacity,
            .pace = pacing_of(config.shard)};
}

KafkaRecords::Options ClusterPlaces::records() const {
    return {.brokers = brokers,
            .topic = topic.name,
            .partitions = topic.partitions,
            .message_max = message_max,
            .lease = lease};
}

}  // namespace doorbuster
