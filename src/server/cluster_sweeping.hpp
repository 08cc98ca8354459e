// ClusterSweeping: the sweeper role: released units on their way into Redis, takes whose gate died on their
// way into Kafka, and on threads of their own the coordinator that rebuilds books and the dead letters'
// topic.
//
// Any number of processes may do this at the same time: what they do is keyed or conditional.
//
// Thread safety: start and stop from one thread, wake and figures from any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/clock.hpp"
#include "server/cluster_places.hpp"
#include "server/step_thread.hpp"
#include "store_cluster/cluster_coordinator.hpp"
#include "store_cluster/cluster_relay.hpp"
#include "store_cluster/cluster_sweeper.hpp"
#include "store_cluster/dead_letter_topic.hpp"

namespace doorbuster {

class ClusterSweeping {
public:
    using CurrentLease = std::function<std::shared_ptr<const EpochLease>()>;

    ClusterSweeping(const ClusterPlaces& places, KafkaRecords& records, Clock& clock, CurrentLease lease);

    void start();
    void stop();

    struct Figures {
        std::atomic<uint64_t> releases_applied{0}, releases_kept{0};  // kept: in the last turn
        std::atomic<uint64_t> takes_swept{0};
    };
    const Figures& figures() const { return figures_; }
    const ClusterCoordinator::Figures& rebuilds() const { return coordinator_.figures(); }

private:
    milliseconds sweep();
    milliseconds relay(const EpochLease& lease, RedisCalls& redis);
    void sweep_outboxes(const EpochLease& lease, RedisCalls& redis);
    milliseconds tell_letters();

    Clock& clock_;
    const CurrentLease lease_;

    // The relay's thread.
    pg::Connection relay_connection_;
    RedisCaller relay_redis_;
    Relay relay_;
    Sweeper sweeper_;
    Uptime sweeps_at_{};
    bool is_in_trouble_ = false;  // and it has been told
    StepThread sweep_thread_;

    // The coordinator's thread.
    pg::Connection coordinator_connection_;
    RedisCaller coordinator_redis_;
    ClusterCoordinator coordinator_;
    StepThread coordinator_thread_;

    // The letters' thread: nobody waits for Kafka on their account.
    pg::Connection letters_connection_;
    DeadLetterTopic letters_;
    bool are_letters_stuck_ = false;  // and it has been told
    StepThread letters_thread_;

    Figures figures_;
};

}  // namespace doorbuster
