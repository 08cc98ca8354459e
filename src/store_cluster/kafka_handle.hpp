// A thin hold on librdkafka's C objects: each is freed with what holds it.
//
// Inside this folder only; what leaves it is a StoreError.
#pragma once

#include <librdkafka/rdkafka.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "store/errors.hpp"

namespace doorbuster {

template <auto free>
struct KafkaFree {
    template <class T>
    void operator()(T* object) const {
        free(object);
    }
};
template <class T, auto free>
using KafkaHeld = std::unique_ptr<T, KafkaFree<free>>;

using KafkaClient = KafkaHeld<rd_kafka_t, &rd_kafka_destroy>;
using KafkaTopic = KafkaHeld<rd_kafka_topic_t, &rd_kafka_topic_destroy>;
using KafkaQueue = KafkaHeld<rd_kafka_queue_t, &rd_kafka_queue_destroy>;
using KafkaEvent = KafkaHeld<rd_kafka_event_t, &rd_kafka_event_destroy>;
using KafkaMessage = KafkaHeld<rd_kafka_message_t, &rd_kafka_message_destroy>;
using KafkaMetadata = KafkaHeld<const rd_kafka_metadata_t, &rd_kafka_metadata_destroy>;
using KafkaConf = KafkaHeld<rd_kafka_conf_t, &rd_kafka_conf_destroy>;

struct KafkaSetting {
    const char* name;
    std::string value;
};

// Settings that this program chooses are right or it is a bug; brokers come from an operator.
StoreResult<KafkaConf> kafka_conf(const std::string& brokers, std::initializer_list<KafkaSetting>);
StoreResult<KafkaClient> kafka_client(rd_kafka_type_t, KafkaConf);

// What a broker says of one topic. `unavailable` if none answers, `not_found` if there is no such topic.
StoreResult<KafkaMetadata> kafka_metadata(rd_kafka_t*, rd_kafka_topic_t*, milliseconds wait_max);

StoreError kafka_error(StoreErrc, std::string_view operation, std::string_view detail);
StoreError kafka_error(StoreErrc, std::string_view operation, rd_kafka_resp_err_t);

}  // namespace doorbuster
