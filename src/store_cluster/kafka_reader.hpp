// KafkaReader: the ledger's topic, read from positions that are handed in.
//
// Positions live in PostgreSQL, so there is no consumer group and nothing is committed to Kafka. A
// position that the topic does not have is `damaged`: records that were promised are gone, and
// whoever reads must stop. It never goes on somewhere else.
//
// Thread safety: none; a reader belongs to one thread.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store_cluster/kafka_handle.hpp"
#include "store_cluster/kafka_record.hpp"

namespace doorbuster {

struct KafkaPosition {
    int32_t partition = 0;
    int64_t offset = 0;  // of the next record
};

struct KafkaReadRecord {
    int32_t partition;
    int64_t offset;
    KafkaRecord record;
};

struct KafkaBatch {
    std::vector<KafkaReadRecord> records;  // in order within each partition
    std::vector<int32_t> at_end;           // partitions that had nothing behind what was read so far
};

class KafkaReader {
public:
    struct Options {
        std::string brokers;
        std::string topic;
        milliseconds broker_wait_max{5'000};  // for an answer of a broker
        uint32_t ahead_kbytes_max = 16'384;   // fetched and not yet read
        // How long a broker keeps a question that it has nothing new for. An end is told after it.
        milliseconds quiet_max{500};
    };

    [[nodiscard]] static StoreResult<KafkaReader> open(const Options&);
    KafkaReader(KafkaReader&&) = default;
    KafkaReader& operator=(KafkaReader&&) = delete;
    ~KafkaReader();

    // Reads these from now on, and no others. Asks a broker: `unavailable` if none answers, `not_found`
    // for a topic or partition that is not there.
    [[nodiscard]] StoreResult<void> assign(std::span<const KafkaPosition>);

    // At most `count_max` records, waiting at most `wait_max` for the first. After an error every call
    // repeats it until the next assign(); what was read together with it is not handed out, and the
    // positions are the caller's.
    [[nodiscard]] StoreResult<KafkaBatch> read(size_t count_max, milliseconds wait_max);

    // The offset behind the last record of the partition, as a broker says now.
    [[nodiscard]] StoreResult<int64_t> end_of(int32_t partition);

private:
    struct Assigned {
        int64_t offset_next;
        bool is_at_end = false;
    };
    struct Brokers {  // has an address that stays
        bool are_away = false;
    };

    explicit KafkaReader(const Options& options) : options_(options) {}
    void stop_all();
    std::optional<StoreError> take(const rd_kafka_message_t&, KafkaBatch&);
    StoreError error_of(const rd_kafka_message_t&) const;
    // How many partitions the topic has, as a broker says now.
    StoreResult<int32_t> ask_partitions();

    Options options_;
    std::unique_ptr<Brokers> brokers_;
    KafkaClient client_;
    KafkaTopic topic_;
    KafkaQueue queue_;  // topic and queue go before the client
    std::map<int32_t, Assigned> assigned_;
    std::optional<StoreError> stopped_by_;
};

}  // namespace doorbuster
