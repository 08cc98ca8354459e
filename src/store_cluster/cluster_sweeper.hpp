// Sweeper: takes whose gate went away before it could bring them to the ledger.
//
// Redis remembers every take in the outbox until somebody has seen it durable in Kafka. What has stood there
// for longer than a gate needs is produced again, and only after the report is its entry removed: nothing
// else trims the outbox. A take that a gate and the sweeper both produce stands in Kafka twice, and becomes
// one order.
//
// Thread safety: none.
#pragma once

#include "store_cluster/kafka_records.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/redis_session.hpp"

namespace doorbuster {

class Sweeper {
public:
    struct Options {
        milliseconds age_min{2'000};      // younger ones are their gate's
        uint32_t entries_max = 1'000;     // of one item and turn
        milliseconds reports_max{5'000};  // what is not reported by then stays
    };
    struct Turn {
        size_t found = 0;
        size_t done = 0;  // durable, and gone from the outbox
    };

    Sweeper(RecordSink& records, const Options& options) : records_(records), options_(options) {}

    // One item under its lease. An error: the outbox could not be read; nothing was done.
    [[nodiscard]] RedisResult<Turn> sweep(const EpochLease& lease, const ItemEpoch& item, RedisCalls& redis,
                                          std::optional<Instant> handed_time = {});

private:
    std::vector<TakenAt> produce(const EpochLease& lease, const BookBucket& bucket,
                                 const std::vector<OutboxEntry>& entries);

    RecordSink& records_;
    const Options options_;
};

}  // namespace doorbuster
