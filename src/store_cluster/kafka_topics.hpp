// KafkaTopics: the ledger's topic as the promises need it, made and looked at.
//
// A record that a broker acknowledged must be there until its sale is archived: in two places at
// least, or on the disk of a lone broker; no replica that missed it may lead; nothing may clean it up.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "store/warm_up.hpp"
#include "store_cluster/kafka_handle.hpp"

namespace doorbuster {

struct KafkaTopicTerms {
    std::string name;
    int32_t partitions = 0;      // as pinned in PostgreSQL
    int32_t replicas = 3;        // 1: a lone broker, which then flushes every message
    int32_t insync_min = 2;      // as many have a record before it is acknowledged
    milliseconds retention{-1};  // at least until the sale is archived; -1: for ever
};

class KafkaTopics {
public:
    struct Options {
        std::string brokers;
        milliseconds wait_max{10'000};  // for each answer
    };

    [[nodiscard]] static StoreResult<KafkaTopics> open(const Options&);

    // Returns when brokers lead it. `exists` if there is one of that name, whatever its settings. After a
    // time-out it may have been made: look.
    [[nodiscard]] StoreResult<void> create(const KafkaTopicTerms&);

    // What is wrong with the topic, each with how to mend it, for an operator. Empty: as it must be.
    // `not_found`: there is none.
    [[nodiscard]] StoreResult<WarmUpFindings> differences(const KafkaTopicTerms&);

private:
    KafkaTopics(const Options& options, KafkaClient client) : options_(options), client_(std::move(client)) {}

    using Start = void (*)(rd_kafka_t*, const KafkaTopicTerms&, const rd_kafka_AdminOptions_t*,
                           rd_kafka_queue_t*);
    StoreResult<KafkaEvent> ask(std::string_view operation, rd_kafka_admin_op_t, Start,
                                const KafkaTopicTerms&);
    StoreResult<void> wait_until_led(const KafkaTopicTerms&);
    StoreResult<void> compare_layout(const KafkaTopicTerms&, WarmUpFindings& wrong);
    StoreResult<void> compare_settings(const KafkaTopicTerms&, WarmUpFindings& wrong);

    Options options_;
    KafkaClient client_;
};

}  // namespace doorbuster
