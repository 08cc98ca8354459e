#include "store_cluster/cluster_sweeper.hpp"

#include <algorithm>
#include <condition_variable>

namespace doorbuster {

namespace {

// What has been reported so far; outlives whoever waits for it, since reports may come later.
class Heard {
public:
    void expect() {
        std::lock_guard lock(mutex_);
        ++left_;
    }
    void report(const TakenAt& taken, KafkaDelivery delivery) {
        std::lock_guard lock(mutex_);
        if (delivery == KafkaDelivery::durable) durable_.push_back(taken);
        --left_;
        changed_.notify_all();
    }
    void refuse() {
        std::lock_guard lock(mutex_);
        --left_;
    }
    std::vector<TakenAt> wait(RecordSink& records, milliseconds wait_max) {
        std::unique_lock lock(mutex_);
        records.wait(lock, changed_, wait_max, [&] { return left_ == 0; });
        return durable_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t left_ = 0;
    std::vector<TakenAt> durable_;
};

}  // namespace

std::vector<TakenAt> Sweeper::produce(const EpochLease& lease, const BookBucket& bucket,
                                      const std::vector<OutboxEntry>& entries) {
    const auto heard = std::make_shared<Heard>();
    for (const OutboxEntry& entry : entries) {
        if (!lease.holds()) break;
        const TakenAt taken{entry.known.purchase, entry.known.take.sequence};
        heard->expect();
        const auto is_taken = records_.produce(
            ledger_entry_of(bucket, entry),
            [heard, taken](const DeliveryReport& report) { heard->report(taken, report.delivery); });
        if (!is_taken) {
            heard->refuse();
            break;
        }
    }
    return heard->wait(records_, options_.reports_max);
}

RedisResult<Sweeper::Turn> Sweeper::sweep(const EpochLease& lease, const ItemEpoch& item, RedisCalls& redis,
                                          std::optional<Instant> handed_time) {
    if (!item.pin || !lease.holds()) return Turn{};
    const BookBucket bucket{item.sale, item.item};
    const Fence fence{*item.pin, item.epoch};
    const auto reply = redis.run(outbox_call(
        bucket, fence, {.age_min = options_.age_min, .count_max = options_.entries_max}, handed_time));
    if (!reply) return reply.error();
    const auto entries = read_outbox(**reply);
    if (!entries) return entries.error();

    Turn turn{.found = entries->size(), .done = 0};
    const std::vector<TakenAt> durable = produce(lease, bucket, *entries);
    for (size_t at = 0; at < durable.size(); at += entries_per_call_max) {
        const auto some = std::span(durable).subspan(at, std::min(entries_per_call_max, durable.size() - at));
        const auto done = redis.run(done_call(bucket, fence, some));
        // They are in Kafka: whoever comes next finds them again, and they become one order each.
        if (!done || !read_number(**done)) break;
        turn.done += some.size();
    }
    return turn;
}

}  // namespace doorbuster
