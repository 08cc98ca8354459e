#include "store_cluster/kafka_reader.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace doorbuster {

namespace {

constexpr std::string_view reading = "read the Kafka ledger";

}  // namespace

StoreResult<KafkaReader> KafkaReader::open(const Options& options) {
    auto conf = kafka_conf(options.brokers,
                           {{"enable.auto.commit", "false"},
                            {"enable.auto.offset.store", "false"},
                            {"auto.offset.reset", "error"},
                            {"enable.partition.eof", "true"},
                            {"check.crcs", "true"},
                            {"socket.timeout.ms", fmt::to_string(options.broker_wait_max.count())},
                            {"fetch.wait.max.ms", fmt::to_string(options.quiet_max.count())},
                            {"allow.auto.create.topics", "false"},
                            {"queued.max.messages.kbytes", fmt::to_string(options.ahead_kbytes_max)}});
    if (!conf) return conf.error();
    KafkaReader reader(options);
    reader.brokers_ = std::make_unique<Brokers>();
    rd_kafka_conf_set_opaque(conf->get(), reader.brokers_.get());
    rd_kafka_conf_set_error_cb(conf->get(), [](rd_kafka_t*, int why, const char*, void* brokers) {
        if (why == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) static_cast<Brokers*>(brokers)->are_away = true;
    });
    auto client = kafka_client(RD_KAFKA_CONSUMER, std::move(*conf));
    if (!client) return client.error();
    reader.client_ = std::move(*client);
    reader.topic_.reset(rd_kafka_topic_new(reader.client_.get(), options.topic.c_str(), nullptr));
    if (!reader.topic_) return kafka_error(StoreErrc::not_allowed, reading, rd_kafka_last_error());
    return reader;
}

KafkaReader::~KafkaReader() {
    stop_all();
}

void KafkaReader::stop_all() {
    for (const auto& [partition, assigned] : assigned_) rd_kafka_consume_stop(topic_.get(), partition);
    assigned_.clear();
    queue_.reset();
}

StoreResult<void> KafkaReader::assign(std::span<const KafkaPosition> positions) {
    stop_all();
    // The library would wait without a word for a partition that is not there.
    const auto partitions = ask_partitions();
    if (!partitions) {
        stopped_by_ = partitions.error();
        return *stopped_by_;
    }
    stopped_by_.reset();
    // A queue of its own: nothing that was fetched for an earlier assignment can be in it.
    queue_.reset(rd_kafka_queue_new(client_.get()));
    for (const KafkaPosition& position : positions) {
        CHECK(position.partition >= 0 && position.offset >= 0 && !assigned_.contains(position.partition));
        if (position.partition >= *partitions) {
            stopped_by_ = kafka_error(StoreErrc::not_found, reading,
                                      fmt::format("{} has {} partitions, and partition {} is to be read",
                                                  options_.topic, *partitions, position.partition));
            return *stopped_by_;
        }
        if (rd_kafka_consume_start_queue(topic_.get(), position.partition, position.offset, queue_.get()) !=
            0) {
            stopped_by_ = kafka_error(StoreErrc::unavailable, reading, rd_kafka_last_error());
            return *stopped_by_;
        }
        assigned_.emplace(position.partition, Assigned{position.offset});
    }
    return {};
}

StoreResult<KafkaBatch> KafkaReader::read(size_t count_max, milliseconds wait_max) {
    if (stopped_by_) return *stopped_by_;
    CHECK(queue_);  // assign() comes first
    std::vector<rd_kafka_message_t*> taken(count_max);
    const ssize_t count = rd_kafka_consume_batch_queue(queue_.get(), static_cast<int>(wait_max.count()),
                                                       taken.data(), taken.size());
    if (count < 0) stopped_by_ = kafka_error(StoreErrc::unavailable, reading, rd_kafka_last_error());
    KafkaBatch batch;
    for (ssize_t i = 0; i < count; ++i) {
        const KafkaMessage message(taken[static_cast<size_t>(i)]);
        if (!stopped_by_) stopped_by_ = take(*message, batch);
    }
    rd_kafka_poll(client_.get(), 0);
    // Nothing new, or nobody there to tell: two different answers. What came may have been fetched
    // before they went, so only an answer of theirs says that they are back.
    if (count == 0 && brokers_->are_away) {
        if (const auto partitions = ask_partitions(); !partitions) stopped_by_ = partitions.error();
    }
    if (stopped_by_) return *stopped_by_;
    for (const auto& [partition, assigned] : assigned_) {
        if (assigned.is_at_end) batch.at_end.push_back(partition);
    }
    return batch;
}

std::optional<StoreError> KafkaReader::take(const rd_kafka_message_t& message, KafkaBatch& batch) {
    const auto found = assigned_.find(message.partition);
    if (found == assigned_.end()) return error_of(message);
    Assigned& assigned = found->second;
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        assigned.is_at_end = true;
        return std::nullopt;
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(message);
    // Without transactions and compaction the offsets are dense: a gap is records that are gone.
    if (message.offset != assigned.offset_next) {
        return kafka_error(
            StoreErrc::damaged, reading,
            fmt::format("partition {} of {} goes on at {} where {} was expected", message.partition,
                        options_.topic, message.offset, assigned.offset_next));
    }
    assigned = {.offset_next = message.offset + 1, .is_at_end = false};
    batch.records.push_back({message.partition, message.offset,
                             decode_record({static_cast<const char*>(message.payload), message.len})});
    return std::nullopt;
}

StoreError KafkaReader::error_of(const rd_kafka_message_t& message) const {
    const char* said = rd_kafka_message_errstr(&message);
    const std::string detail = fmt::format("partition {} of {}: {} ({})", message.partition, options_.topic,
                                           rd_kafka_err2name(message.err), said == nullptr ? "" : said);
    switch (message.err) {
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        case RD_KAFKA_RESP_ERR__BAD_MSG:
        case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
            return kafka_error(
                StoreErrc::damaged, reading,
                detail +
                    "; the recorded position and the topic do not belong together: see whether "
                    "retention removed records, or the topic was made anew");
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
            return kafka_error(StoreErrc::not_found, reading, detail);
        default:
            return kafka_error(StoreErrc::unavailable, reading, detail);
    }
}

StoreResult<int64_t> KafkaReader::end_of(int32_t partition) {
    // While the brokers are away the client forgets the topic, and learns of it again only when it is asked.
    if (const auto known = ask_partitions(); !known) return known.error();
    int64_t first = 0, end = 0;
    const auto why =
        rd_kafka_query_watermark_offsets(client_.get(), options_.topic.c_str(), partition, &first, &end,
                                         static_cast<int>(options_.broker_wait_max.count()));
    if (why != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(StoreErrc::unavailable, reading, why);
    return end;
}

StoreResult<int32_t> KafkaReader::ask_partitions() {
    auto metadata = kafka_metadata(client_.get(), topic_.get(), options_.broker_wait_max);
    if (!metadata) return metadata.error();
    brokers_->are_away = false;
    return (*metadata)->topics[0].partition_cnt;
}

}  // namespace doorbuster
