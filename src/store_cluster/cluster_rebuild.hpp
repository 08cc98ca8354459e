// ClusterRebuild: one item's way from a closed epoch to the next open one, as section "Rebuild" has it.
//
//   close_epoch   1  e -> e+1, rebuilding: nobody is given a lease any more
//   await_leases  2  until the last lease has ended, counted from behind that commit
//   drain         2  what the pinned Redis, if it still answers, has in its outbox goes to the ledger
//   seal          3  SEAL(e) into every partition of the item, reported durable
//   await_seals   4  the workers have passed it in all of them
//   cut           5  e+1 -> e+2, and everything that is to be loaded, as of one moment
//   load          6  into Redis, refused unless what is there is older
//   open          7  the same Redis still? e+2, open, with its pin
//
// Every step in PostgreSQL is conditional on the epoch that the one before it set, so that of several
// coordinators one gets through; the others end as `lost`, and so does one that does not know whether its
// step has landed. Whoever takes over begins at 1. The end of a sale is the same as far as 4, behind `shut`,
// which closes the book in Redis first.
//
// Steppable: time is handed in. Thread safety: none.
#pragma once

#include <memory>
#include <optional>

#include "store_cluster/cluster_sweeper.hpp"
#include "store_cluster/redis_caller.hpp"

namespace doorbuster {

class ClusterRebuild {
public:
    struct Options {
        int32_t partitions = 1;           // of the ledger, as pinned
        milliseconds lease{10'000};       // the longest that anybody is given
        milliseconds drift{1'000};        // how far clocks may go apart meanwhile
        milliseconds reports_max{5'000};  // for the reports of what is drained, a turn of the sweeper
        std::string name{"coordinator"};  // for people: host and process
    };
    struct Means {
        pg::Connection& connection;
        RedisCaller& redis;
        RecordSink& records;
    };
    enum class Purpose : uint8_t { reopen, end_sale };
    enum class Step : uint8_t {
        shut,
        close_epoch,
        await_leases,
        drain,
        seal,
        await_seals,
        cut,
        load,
        open,
        done,
        lost,  // another coordinator is further, or it cannot be known: look again
    };

    // Whether the chain of this item, which is being rebuilt, has got through step 4.
    [[nodiscard]] static StoreResult<bool> is_sealed(PostgresEpochs& epochs, const ItemEpoch& item,
                                                     int32_t partitions);

    // `from`: the item as it was seen.
    ClusterRebuild(const Means& means, const Options& options, ItemEpoch from, Purpose purpose);

    // Tries the step that it is at. An error: a store is in trouble; the same step comes again.
    [[nodiscard]] StoreResult<void> step(pg::BootTime now);
    Step at() const { return at_; }
    bool is_over() const { return at_ == Step::done || at_ == Step::lost; }
    // Whether the next call has nothing to do but wait.
    bool is_waiting() const { return is_waiting_; }
    // Where it does not know whether its last step has landed: the epoch that this one sets.
    std::optional<uint64_t> left_behind() const { return left_behind_; }

private:
    class SealReports;

    StoreResult<Step> try_step(pg::BootTime now);
    StoreResult<Step> shut();
    StoreResult<Step> close_epoch();
    StoreResult<Step> await_leases(pg::BootTime now);
    StoreResult<Step> drain();
    StoreResult<Step> seal();
    StoreResult<Step> await_seals();
    StoreResult<Step> cut();
    StoreResult<Step> load();
    StoreResult<Step> open();
    // Whether nothing is left in the outbox, or nothing can be done about it.
    bool sweep(const EpochLease& lease);
    BookBucket bucket() const { return {from_.sale, from_.item}; }

    const Means means_;
    const Options options_;
    const ItemEpoch from_;
    const Purpose purpose_;
    PostgresEpochs epochs_;

    Step at_;
    bool is_waiting_ = false;
    std::optional<uint64_t> left_behind_;
    uint64_t closed_ = 0;                        // the epoch that step 1 set
    std::optional<pg::BootTime> leases_end_at_;  // known from the first look behind step 1 on
    std::shared_ptr<SealReports> seals_;
    BookLoad load_;  // from the cut to the end
    std::string pin_;
};

std::string_view name_of(ClusterRebuild::Step);

}  // namespace doorbuster
