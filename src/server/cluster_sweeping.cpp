#include "server/cluster_sweeping.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace doorbuster {

namespace {

constexpr milliseconds relay_every{100};  // a unit that came back is for sale this late
constexpr milliseconds rest_in_trouble{500};
constexpr std::chrono::seconds sweep_every{1};
constexpr std::chrono::seconds letters_every{1};
constexpr std::chrono::seconds letters_rest_in_trouble{10};

}  // namespace

ClusterSweeping::ClusterSweeping(const ClusterPlaces& places, KafkaRecords& records, Clock& clock,
                                 CurrentLease lease)
    : clock_(clock),
      lease_(std::move(lease)),
      relay_connection_(places.postgres),
      relay_redis_(places.redis_caller()),
      relay_(relay_connection_),
      // A gate gives a record up after message_max; until then it is its own.
      sweeper_(records, {.age_min = ClusterPlaces::message_max}),
      sweep_thread_("relay", [this] { return sweep(); }),
      coordinator_connection_(places.postgres),
      coordinator_redis_(places.redis_caller()),
      coordinator_({coordinator_connection_, coordinator_redis_, records},
                   {.rebuild = {.partitions = places.topic.partitions,
                                .lease = ClusterPlaces::lease,
                                .name = places.name}}),
      coordinator_thread_("coordinator",
                          [this] {
                              const pg::BootTime next = coordinator_.step(pg::boot_time());
                              return std::max(milliseconds(1),
                                              std::chrono::ceil<milliseconds>(next - pg::boot_time()));
                          }),
      letters_connection_(places.postgres),
      letters_(letters_connection_,
               {.brokers = places.brokers, .topic = places.dead_letters, .ledger = places.topic.name}),
      letters_thread_("letters", [this] { return tell_letters(); }) {}

void ClusterSweeping::start() {
    sweep_thread_.start();
    coordinator_thread_.start();
    letters_thread_.start();
}

void ClusterSweeping::stop() {
    letters_thread_.stop();
    coordinator_thread_.stop();
    sweep_thread_.stop();
}

milliseconds ClusterSweeping::sweep() {
    const std::shared_ptr<const EpochLease> lease = lease_();
    if (!lease || !lease->holds()) return relay_every;
    const auto redis = relay_redis_.session();
    if (!redis) {
        if (!std::exchange(is_in_trouble_, true))
            log_warn("released units wait for Redis", {{"error", redis.error().detail}});
        return rest_in_trouble;
    }
    const milliseconds wait = relay(*lease, **redis);
    if (clock_.uptime() >= sweeps_at_) {
        sweeps_at_ = clock_.uptime() + sweep_every;
        sweep_outboxes(*lease, **redis);
    }
    return wait;
}

milliseconds ClusterSweeping::relay(const EpochLease& lease, RedisCalls& redis) {
    const auto turn = relay_.step(lease, redis, clock_.now());
    if (!turn) {
        if (!std::exchange(is_in_trouble_, true))
            log_warn("released units wait for PostgreSQL", {{"error", turn.error().text()}});
        return rest_in_trouble;
    }
    is_in_trouble_ = false;
    figures_.releases_applied.fetch_add(turn->applied, std::memory_order_relaxed);
    figures_.releases_kept.store(turn->kept, std::memory_order_relaxed);
    const bool has_more = turn->applied + turn->absorbed == Relay::rows_max;
    return has_more ? milliseconds(0) : relay_every;
}

milliseconds ClusterSweeping::tell_letters() {
    const auto told = letters_.step(clock_.now());
    if (!told) {
        if (!std::exchange(are_letters_stuck_, true))
            log_warn("dead letters wait to be told in their topic", {{"error", told.error().text()}});
        return letters_rest_in_trouble;
    }
    are_letters_stuck_ = false;
    return *told == DeadLetterTopic::rows_max ? milliseconds(0) : letters_every;
}

void ClusterSweeping::sweep_outboxes(const EpochLease& lease, RedisCalls& redis) {
    for (const ItemEpoch& item : lease.items()) {
        if (!item.pin || !lease.holds()) continue;
        const auto turn = sweeper_.sweep(lease, item, redis);
        if (!turn) return;  // the coordinator sees why
        figures_.takes_swept.fetch_add(turn->done, std::memory_order_relaxed);
        if (turn->found > 0 && turn->done == 0)
            return;  // Kafka does not answer: releases must not wait for it
    }
}

}  // namespace doorbuster
