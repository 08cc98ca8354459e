#include "store_cluster/cluster_rebuild.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "base/check.hpp"
#include "base/log.hpp"
#include "store_cluster/cluster_load.hpp"

namespace doorbuster {

namespace {

constexpr uint32_t buckets = 1;

std::vector<int32_t> partitions_of(const ItemEpoch& item, int32_t partitions) {
    std::vector<int32_t> all;
    for (uint32_t bucket = 0; bucket < buckets; ++bucket) {
        const int32_t one = kafka_partition_of(item.sale, item.item, bucket, partitions);
        if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    }
    return all;
}

StoreError of_redis(std::string_view operation, const RedisError& error) {
    return {StoreErrc::unavailable, std::string(operation), error.detail};
}

}  // namespace

std::string_view name_of(ClusterRebuild::Step step) {
    static constexpr std::array<std::string_view, 11> names = {"shut", "close_epoch", "await_leases", "drain",
                                                               "seal", "await_seals", "cut",          "load",
                                                               "open", "done",        "lost"};
    return names[static_cast<size_t>(step)];
}

// Which partitions have the SEAL. Outlives the rebuild: reports may come later.
class ClusterRebuild::SealReports {
public:
    explicit SealReports(const std::vector<int32_t>& partitions) {
        for (const int32_t partition : partitions) states_[partition] = State::missing;
    }
    // Those that have to be produced, which are under way from here on.
    std::vector<int32_t> take_missing() {
        std::lock_guard lock(mutex_);
        std::vector<int32_t> missing;
        for (auto& [partition, state] : states_) {
            if (state != State::missing) continue;
            state = State::under_way;
            missing.push_back(partition);
        }
        return missing;
    }
    // Not durable: it may stand there all the same, and a second one closes nothing more.
    void report(int32_t partition, bool is_durable) {
        std::lock_guard lock(mutex_);
        State& state = states_.at(partition);
        if (state != State::durable) state = is_durable ? State::durable : State::missing;
    }
    bool are_durable() const {
        std::lock_guard lock(mutex_);
        return std::ranges::all_of(states_, [](const auto& one) { return one.second == State::durable; });
    }

private:
    enum class State : uint8_t { missing, under_way, durable };
    mutable std::mutex mutex_;
    std::map<int32_t, State> states_;  // guarded by mutex_
};

ClusterRebuild::ClusterRebuild(const Means& means, const Options& options, ItemEpoch from, Purpose purpose)
    : means_(means),
      options_(options),
      from_(std::move(from)),
      purpose_(purpose),
      epochs_(means.connection),
      at_(purpose == Purpose::end_sale ? Step::shut : Step::close_epoch) {}

StoreResult<void> ClusterRebuild::step(pg::BootTime now) {
    CHECK(!is_over());
    const auto next = try_step(now);
    if (!next && !next.error().outcome_unknown) return next.error();
    // It may have landed: only a fresh look tells, and then the chain begins at 1.
    if (!next && at_ != Step::shut) left_behind_ = at_ == Step::close_epoch ? from_.epoch + 1 : closed_ + 1;
    const Step to = next ? *next : Step::lost;
    is_waiting_ = to == at_;
    at_ = to;
    return {};
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::try_step(pg::BootTime now) {
    switch (at_) {
        case Step::shut:
            return shut();
        case Step::close_epoch:
            return close_epoch();
        case Step::await_leases:
            return await_leases(now);
        case Step::drain:
            return drain();
        case Step::seal:
            return seal();
        case Step::await_seals:
            return await_seals();
        case Step::cut:
            return cut();
        case Step::load:
            return load();
        case Step::open:
            return open();
        case Step::done:
        case Step::lost:
            break;
    }
    return at_;
}

// Whoever still has a lease goes on with what Redis has accepted before.
StoreResult<ClusterRebuild::Step> ClusterRebuild::shut() {
    if (!from_.pin) return Step::close_epoch;
    const auto record = epochs_.sale(from_.sale);
    if (!record) return record.error();
    const auto lease = epochs_.lease(options_.name, options_.lease);
    if (!lease) return lease.error();
    const Fence fence{*from_.pin, from_.epoch};
    const auto told = means_.redis.run(set_state_call(bucket(), fence, book_word_of(*record, from_.item)));
    // A Redis that is away, or is not the one that was pinned, sells nothing: the fence or the seal sees to
    // it.
    if (!told || error_in(**told)) return Step::close_epoch;
    return sweep(*lease) ? Step::close_epoch : Step::shut;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::close_epoch() {
    const auto closed = epochs_.close(from_.sale, from_.item, from_.epoch);
    if (!closed) return closed.error();
    if (!*closed) return Step::lost;
    closed_ = **closed;
    return Step::await_leases;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::await_leases(pg::BootTime now) {
    if (from_.epoch == 0) return Step::drain;  // no lease has ever named a Redis for it
    // `now` was read behind the commit that closed the epoch.
    if (!leases_end_at_) leases_end_at_ = now + options_.lease + options_.drift;
    return now < *leases_end_at_ ? Step::await_leases : Step::drain;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::drain() {
    if (!from_.pin) return Step::seal;
    // Nobody else acts on this epoch any more, and its Redis still fences all others off.
    const EpochLease own(pg::LeaseTime(pg::boot_time(), options_.lease), {from_});
    return sweep(own) ? Step::seal : Step::drain;
}

bool ClusterRebuild::sweep(const EpochLease& lease) {
    // Finds out whether the connection still stands, so that the sweeper has one that does.
    if (const auto there = means_.redis.peek(bucket()); !there) return true;
    const auto session = means_.redis.session();
    if (!session) return true;
    Sweeper sweeper(means_.records, {.age_min = milliseconds::zero(), .reports_max = options_.reports_max});
    const auto turn = sweeper.sweep(lease, from_, **session);
    // Where Kafka reports nothing, what is left comes behind the SEAL, if it comes, and is cancelled there.
    return !turn || turn->done == 0;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::seal() {
    if (!seals_) seals_ = std::make_shared<SealReports>(partitions_of(from_, options_.partitions));
    if (seals_->are_durable()) return Step::await_seals;
    const Seal seal{from_.sale, from_.item, closed_ - 1};
    std::optional<StoreError> refused;
    for (const int32_t partition : seals_->take_missing()) {
        const auto taken = means_.records.produce(
            seal, partition, [seals = seals_, partition](const DeliveryReport& report) {
                seals->report(partition, report.delivery == KafkaDelivery::durable);
            });
        if (taken) continue;
        seals_->report(partition, false);
        refused = taken.error();
    }
    if (refused) return *refused;
    return Step::seal;
}

StoreResult<bool> ClusterRebuild::is_sealed(PostgresEpochs& epochs, const ItemEpoch& item,
                                            int32_t partitions) {
    std::vector<int64_t> of_item;
    for (const int32_t one : partitions_of(item, partitions)) of_item.push_back(one);
    return epochs.is_sealed(item.sale, item.item, item.epoch - 1, of_item);
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::await_seals() {
    const auto passed = is_sealed(epochs_, {from_.sale, from_.item, closed_}, options_.partitions);
    if (!passed) return passed.error();
    if (!*passed) return Step::await_seals;
    return purpose_ == Purpose::end_sale ? Step::done : Step::cut;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::cut() {
    const auto cut = epochs_.cut(from_.sale, from_.item, closed_);
    if (!cut) return cut.error();
    if (!*cut) return Step::lost;
    load_ = book_load_of(**cut, from_.item);
    return Step::load;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::load() {
    constexpr std::string_view operation = "load a book into Redis";
    if (const auto ready = means_.redis.load_library(); !ready) return of_redis(operation, ready.error());
    const auto reply = means_.redis.run(load_call(bucket(), load_));
    if (!reply) return of_redis(operation, reply.error());
    const auto pin = read_pin(**reply);
    if (pin) {
        pin_ = *pin;
        return Step::open;
    }
    if (pin.error().code != RedisErrc::newer) return of_redis(operation, pin.error());

    const auto there = means_.redis.peek(bucket());
    if (!there) return of_redis(operation, there.error());
    const bool is_ours = *there && (*there)->book->epoch == load_.epoch;
    if (is_ours) {  // only who made the cut has this epoch: an answer of ours was lost
        pin_ = (*there)->pin;
        return Step::open;
    }
    log_error(
        "Redis has a book of a newer epoch than PostgreSQL: another coordinator is further, or one of them "
        "was restored",
        {{"sale", from_.sale.view()}, {"item", from_.item.view()}, {"epoch", load_.epoch}});
    return Step::lost;
}

StoreResult<ClusterRebuild::Step> ClusterRebuild::open() {
    const auto there = means_.redis.peek(bucket());
    if (!there) return of_redis("look at a loaded book", there.error());
    // It was replaced since: nothing was sold from it, so that what is loaded is still what belongs there.
    if (!*there || (*there)->pin != pin_ || (*there)->book->epoch != load_.epoch) return Step::load;
    const auto opened = epochs_.open(from_.sale, from_.item, load_.epoch, pin_);
    if (!opened) return opened.error();
    return *opened ? Step::done : Step::lost;
}

}  // namespace doorbuster
