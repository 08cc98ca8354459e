// KafkaRecords: accepted purchases and seals into the ledger's topic, each with a report.
//
// produce() takes a record or refuses it at once; what it took is answered exactly once:
//   durable   every in-sync replica has it. The only ground for a 202
//   failed    certainly not written, and never will be
//   unknown   timed out, purged, or the producer died: it may be written, now or a little later.
//             Produce it again with the same identity, or tell the buyer so; never give the unit back
//
// librdkafka repeats what a broker did not acknowledge, and its idempotence keeps such repeats
// from being written twice. A fatal error of the producer ends that. Then a new producer takes its
// place, and another one replays what the old one had in hand, in the order in which it was produced
// and under the same identity; whoever waits hears the replay's report. So such a record may stand in the
// ledger twice, and new ones may stand before it. Its time counts from produce(): what has less than a
// quarter of it left is `unknown`, and a replay takes no longer than its oldest record may.
//
// Thread safety: produce() from any thread; it never blocks. Reports come from a thread of its own
// and may call produce(); they must not block. close() and the destructor: one thread.
// Bound: queue_messages_max records, queue_kbytes_max of them, from produce() to report.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "store_cluster/kafka_record.hpp"

namespace doorbuster {

enum class KafkaDelivery : uint8_t { durable, failed, unknown };

struct DeliveryReport {
    KafkaDelivery delivery;
    int64_t offset = -1;   // durable: where it stands; negative if the broker no longer knows
    std::string reason{};  // failed, unknown
};

// Where the records of an item bucket stand. Fixed for the life of a topic: the count is pinned.
int32_t kafka_partition_of(const SaleId&, const ItemId&, uint32_t bucket, int32_t partitions);

// What takes records for the ledger: the one below, or a simulation's.
class RecordSink {
public:
    using Reported = std::function<void(const DeliveryReport&)>;

    virtual ~RecordSink() = default;

    // An error: nothing was taken, and no report comes. `unavailable`: as much is under way as may be,
    // a new producer is being made, or it is closed.
    [[nodiscard]] virtual StoreResult<void> produce(const LedgerEntry&, Reported) = 0;
    // Into one partition. A seal of an item goes into every partition that the item has.
    [[nodiscard]] virtual StoreResult<void> produce(const Seal&, int32_t partition, Reported) = 0;

    // Lets somebody who holds `lock` wait until reports have made `is_done` true, at most so long.
    virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& reported,
                      milliseconds wait_max, const std::function<bool()>& is_done) {
        reported.wait_for(lock, wait_max, is_done);
    }
};

class KafkaRecords final : public RecordSink {
public:
    struct Options {
        std::string brokers;
        std::string topic;
        int32_t partitions = 0;           // as pinned
        milliseconds message_max{0};      // then a record is `unknown`
        milliseconds lease{0};            // of the gate. A record must not outlive it by far
        milliseconds attempt_max{3'000};  // without an answer, then it is sent again on a new connection
        uint32_t queue_messages_max = 100'000;
        uint32_t queue_kbytes_max = 65'536;
    };

    // Needs no broker: without one the records wait, and are `unknown` in the end.
    [[nodiscard]] static StoreResult<std::unique_ptr<KafkaRecords>> open(const Options&);
    ~KafkaRecords() override;
    KafkaRecords(const KafkaRecords&) = delete;
    KafkaRecords& operator=(const KafkaRecords&) = delete;

    [[nodiscard]] StoreResult<void> produce(const LedgerEntry&, Reported) override;
    [[nodiscard]] StoreResult<void> produce(const Seal&, int32_t partition, Reported) override;

    // Takes nothing more, and returns when everything is reported: what is not by then is `unknown`.
    void close(milliseconds wait_max);

    size_t unreported() const;
    uint64_t producers_replaced() const { return replaced_.load(std::memory_order_relaxed); }

    // As librdkafka would on a broker's word that its idempotence cannot go on from.
    void break_producer_for_tests();

private:
    class InHand;
    class Producer;

    explicit KafkaRecords(const Options&);
    StoreResult<void> send(int32_t partition, std::string key, std::string bytes, Reported);
    void report_until_closed();
    void replace_producer();
    void replay(const std::string& reason);

    const Options options_;
    const std::unique_ptr<InHand> in_hand_;  // of all producers

    // Swapped by the reporting thread only.
    mutable std::shared_mutex producer_mutex_;
    std::unique_ptr<Producer> producer_;  // guarded by producer_mutex_; none: closed

    // The reporting thread's.
    std::unique_ptr<Producer> replaying_;                 // none: nothing is replayed
    uint64_t replayed_up_to_ = 0;                         // tickets from here on are producer_'s
    std::chrono::steady_clock::time_point replace_at_{};  // not before

    std::atomic<uint64_t> replaced_{0};

    std::atomic<bool> is_closing_{false};
    std::chrono::steady_clock::time_point close_by_{};  // written before is_closing_
    std::thread reporting_;
};

}  // namespace doorbuster
