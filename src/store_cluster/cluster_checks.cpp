#include "store_cluster/cluster_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "store_cluster/clock_check.hpp"
#include "store_cluster/postgres_checks.hpp"
#include "store_cluster/primary_clock.hpp"
#include "store_cluster/redis_checks.hpp"

namespace doorbuster {

namespace {

void append(WarmUpFindings& found, WarmUpFindings more) {
    std::ranges::move(more, std::back_inserter(found));
}

StoreResult<Instant> time_of(pg::Connection& connection) {
    return pg::guarded("reading PostgreSQL's clock", [&] { return pg::hear_time(connection).told; });
}

RedisResult<Instant> time_of(RedisSession& redis) {
    const auto reply = redis.run({"TIME"});
    if (!reply) return reply.error();
    return read_time(**reply);
}

// Where one of them does not answer its own check says so.
WarmUpFindings check_clocks(const ClusterCheckTerms& terms, pg::Connection& connection) {
    auto redis = RedisSession::open(terms.redis.address, terms.redis.wait_max);
    if (!redis) return {};
    const auto of_redis = read_clock<RedisError>("Redis", terms.now, [&] { return time_of(*redis); });
    const auto of_postgres =
        read_clock<StoreError>("PostgreSQL", terms.now, [&] { return time_of(connection); });
    if (!of_redis || !of_postgres) return {};
    return judge_clocks(*of_redis, *of_postgres);
}

WarmUpFindings check_topic(const ClusterCheckTerms& terms) {
    const auto unanswered = [&](const StoreError& error) {
        if (error.code == StoreErrc::not_found) {
            return WarmUpFinding{
                .check = "kafka.topic",
                .what = fmt::format("there is no Kafka topic {}", terms.topic.name),
                .mend = fmt::format("make it: kafka-topics.sh --create --topic {} --partitions {} "
                                    "--replication-factor {} --config min.insync.replicas={}",
                                    terms.topic.name, terms.topic.partitions, terms.topic.replicas,
                                    terms.topic.insync_min)};
        }
        return WarmUpFinding{
            .check = error.code == StoreErrc::not_allowed ? "kafka.terms" : "kafka.reachable",
            .what = "the Kafka topic cannot be looked at: " + error.detail,
            .mend = "start the brokers, or set kafka.brokers and the terms of the topic right"};
    };
    auto topics = KafkaTopics::open(terms.kafka);
    if (!topics) return {unanswered(topics.error())};
    auto found = topics->differences(terms.topic);
    if (!found) return {unanswered(found.error())};
    return *std::move(found);
}

WarmUpFindings open_pools(const ClusterCheckTerms& terms) {
    for (pg::Pool* pool : terms.pools) {
        if (const auto opened = pool->warm(); !opened) {
            return {{.check = "postgres.pool",
                     .what = "not all connections to PostgreSQL could be opened: " + opened.error().detail,
                     .mend =
                         "see that max_connections, and the limits of the role and of the database, allow "
                         "for them"}};
        }
    }
    return {};
}

WarmUpFindings open_replica_pool(const ClusterCheckTerms& terms) {
    if (terms.replica_pool == nullptr) return {};
    const auto opened = terms.replica_pool->warm();
    if (opened) return {};
    return {{.check = "postgres.replica",
             .severity = Severity::warning,
             .what = "not all connections to the read replica could be opened: " + opened.error().detail +
                     ": buyers' orders are read from the primary",
             .mend = "start the replica and see that its max_connections allows for them, set "
                     "postgres.replica_url right, or leave it empty"}};
}

}  // namespace

WarmUpFindings check_cluster(const ClusterCheckTerms& terms) {
    WarmUpFindings found;
    std::optional<pg::Connection> connection;
    const auto facts = [&]() -> StoreResult<PostgresFacts> {
        const auto opened =
            pg::guarded("connecting to PostgreSQL", [&] { connection.emplace(terms.postgres); });
        if (!opened) return opened.error();
        return read_postgres_facts(*connection);
    }();
    append(found, facts ? judge_postgres(*facts, terms.connections_per_node)
                        : WarmUpFindings{postgres_unanswered(facts.error())});
    const uint64_t acceptances = facts ? static_cast<uint64_t>(facts->acceptances_expected) : 0;
    append(found, check_redis(terms.redis, {acceptances, terms.redis_round_trip_max}));
    append(found, check_topic(terms));
    if (!facts) return found;
    append(found, check_clocks(terms, *connection));
    append(found, open_pools(terms));
    append(found, open_replica_pool(terms));
    return found;
}

WarmUpFindings check_books(const Sale& sale, const EpochLease* lease, pg::BootTime now) {
    if (lease == nullptr || !lease->holds(now)) {
        return {
            {.check = "books.lease",
             .what = "this node has no lease: it may not sell",
             .mend = "see that the PostgreSQL primary answers and can be written: a lease is a written row"}};
    }
    std::string missing;
    for (const Item& item : sale.items) {
        if (const ItemEpoch* leased = lease->find(sale.id, item.id); leased != nullptr && leased->pin)
            continue;
        if (!missing.empty()) missing += ", ";
        missing += item.id.view();
    }
    if (missing.empty()) return {};
    return {{.check = "books.loaded",
             .what = "not all books of the sale are loaded into Redis yet: " + missing,
             .mend =
                 "a coordinator loads them, and the order workers have to have passed the ledger's seals: if "
                 "this stays, the log of the servers says which step it waits at"}};
}

}  // namespace doorbuster
