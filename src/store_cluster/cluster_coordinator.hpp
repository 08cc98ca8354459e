// ClusterCoordinator: sees that every item that may be sold has an open epoch on a Redis that is what it was.
//
// It looks at all items, and begins a rebuild where
//   - the item has never been loaded, and its sale is warming or beyond
//   - the Redis that answers is not the pinned one, or does not have the book
//   - a worker, the audit or the operator has asked for it (a row in rebuild_requests)
//   - somebody else's rebuild has not moved for long: it is taken over, from its first step on
// A sale that is closed is ended: the chain as far as the SEAL. A word of the operator that Redis has missed
// is told again.
//
// Any number of them may run: PostgreSQL lets one through. A Redis that does not answer is no reason for
// anything; the gates cannot sell from it, and what it is shows when it is back.
//
// Steppable: time is handed in. Thread safety: none, but for the figures.
#pragma once

#include <atomic>
#include <map>

#include "store_cluster/cluster_rebuild.hpp"

namespace doorbuster {

class ClusterCoordinator {
public:
    struct Options {
        ClusterRebuild::Options rebuild;
        milliseconds look_every{500};
        milliseconds again_after{200};  // a step that met a store in trouble, or that waits
        // Without a step, which is much longer than one takes, unless the workers are far behind. For every
        // two steps beyond those of one rebuild, twice as long: coordinators that take a slow one from each
        // other let it come to its end. An item that is open begins anew.
        milliseconds takeover_after{45'000};
        size_t cuts_max = 4;  // items whose purchases are in memory at a time
    };

    ClusterCoordinator(const ClusterRebuild::Means& means, const Options& options)
        : means_(means), options_(options), epochs_(means.connection) {}

    // Looks when it is time to, and lets every rebuild go on as far as it can. Answers when to come again.
    pg::BootTime step(pg::BootTime now);

    // Any thread.
    struct Figures {
        std::atomic<uint64_t> rebuilds_begun{0}, rebuilds_done{0}, rebuilds_lost{0};
        std::atomic<uint64_t> under_way{0};
        std::atomic<uint64_t> looks_without_redis{0};
    };
    const Figures& figures() const { return figures_; }

private:
    using ItemKey = std::pair<SaleId, ItemId>;
    struct Plan {
        ClusterRebuild::Purpose purpose;
        std::string reason;
    };
    struct Closed {
        uint64_t first_epoch, epoch;  // when it was first seen, and now
        pg::BootTime since;           // of the latter
        // Up to here it may be our own step that set it, and we did not hear of it: nobody is at work.
        uint64_t own_epoch = 0;
    };
    static constexpr uint64_t doublings_max = 6;

    void look(pg::BootTime now);
    StoreResult<std::optional<Plan>> plan_for(const WatchedItem& item, pg::BootTime now);
    std::string what_is_wrong(const WatchedItem& item);
    void tell_word(const WatchedItem& item);
    void note(const ItemEpoch& item, pg::BootTime now);
    bool is_stuck(const ItemEpoch& item, pg::BootTime now) const;
    void go_on(pg::BootTime now);
    void run(ClusterRebuild& rebuild, pg::BootTime now);

    const ClusterRebuild::Means means_;
    const Options options_;
    PostgresEpochs epochs_;

    std::map<ItemKey, ClusterRebuild> rebuilds_;  // bound: the items
    std::map<ItemKey, Closed> closed_;            // the items that are not open
    pg::BootTime looks_at_{};
    bool has_redis_ = true;  // it has answered in this look
    bool was_told_ = false;  // that it does not answer
    Figures figures_;
};

}  // namespace doorbuster
