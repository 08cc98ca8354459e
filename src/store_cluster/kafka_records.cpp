#include "store_cluster/kafka_records.hpp"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/check.hpp"
#include "base/log.hpp"
#include "store_cluster/kafka_handle.hpp"

namespace doorbuster {

namespace {

using std::chrono::steady_clock;

constexpr milliseconds poll_max{50};        // how long a close or a fatal error goes unseen
constexpr milliseconds replace_pause{250};  // between two producers that die at once
constexpr milliseconds purge_reports_max{2'000};

int milliseconds_until(steady_clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
    return static_cast<int>(std::max<int64_t>(left, 0));
}

// `failed` only where a broker, or the library before it asked one, has said no to the record itself,
// and no earlier attempt of it can have been written. Whatever else goes wrong is `unknown`.
KafkaDelivery delivery_of(const rd_kafka_message_t& message) {
    const rd_kafka_msg_status_t status = rd_kafka_message_status(&message);
    switch (message.err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            return status == RD_KAFKA_MSG_STATUS_PERSISTED ? KafkaDelivery::durable : KafkaDelivery::unknown;
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            return status == RD_KAFKA_MSG_STATUS_NOT_PERSISTED ? KafkaDelivery::failed
                                                               : KafkaDelivery::unknown;
        default:
            return KafkaDelivery::unknown;
    }
}

}  // namespace

int32_t kafka_partition_of(const SaleId& sale, const ItemId& item, uint32_t bucket, int32_t partitions) {
    CHECK(partitions > 0);
    // FNV-1a, the same on every machine and for ever; the zero keeps the parts apart.
    uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&hash](std::string_view bytes) {
        for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
    };
    add(sale.view());
    add(std::string_view("\0", 1));
    add(item.view());
    add(std::string_view("\0", 1));
    add(std::to_string(bucket));
    return static_cast<int32_t>((hash >> 32) % static_cast<uint64_t>(partitions));
}

// One producer of librdkafka, and who waits for its reports.
class KafkaRecords::Producer {
public:
    static StoreResult<std::unique_ptr<Producer>> make(const Options& options) {
        const std::string message_ms = fmt::to_string(options.message_max.count());
        auto conf = kafka_conf(options.brokers,
                               {{"acks", "all"},
                                {"enable.idempotence", "true"},
                                {"message.timeout.ms", message_ms},
                                {"request.timeout.ms", message_ms},
                                {"socket.timeout.ms", fmt::to_string(options.attempt_max.count())},
                                {"linger.ms", "1"},
                                {"queue.buffering.max.messages", fmt::to_string(options.queue_messages_max)},
                                {"queue.buffering.max.kbytes", fmt::to_string(options.queue_kbytes_max)}});
        if (!conf) return conf.error();
        auto producer = std::unique_ptr<Producer>(new Producer);
        rd_kafka_conf_set_opaque(conf->get(), producer.get());
        rd_kafka_conf_set_dr_msg_cb(conf->get(), &Producer::on_delivery);
        auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
        if (!client) return client.error();
        producer->client_ = std::move(*client);
        producer->topic_.reset(rd_kafka_topic_new(producer->client_.get(), options.topic.c_str(), nullptr));
        if (!producer->topic_) {
            return kafka_error(StoreErrc::not_allowed, "Kafka topic " + options.topic, rd_kafka_last_error());
        }
        return producer;
    }

    rd_kafka_resp_err_t send(int32_t partition, std::string_view key, const std::string& bytes,
                             Reported reported) {
        uint64_t ticket;
        {
            std::lock_guard lock(waiting_mutex_);
            ticket = ++ticket_last_;
            waiting_.emplace(ticket, std::move(reported));
        }
        // The library copies both.
        if (rd_kafka_produce(topic_.get(), partition, RD_KAFKA_MSG_F_COPY, const_cast<char*>(bytes.data()),
                             bytes.size(), key.data(), key.size(),
                             reinterpret_cast<void*>(static_cast<uintptr_t>(ticket))) == 0) {
            return RD_KAFKA_RESP_ERR_NO_ERROR;
        }
        const rd_kafka_resp_err_t why = rd_kafka_last_error();
        std::lock_guard lock(waiting_mutex_);
        waiting_.erase(ticket);
        return why;
    }

    void report(milliseconds wait_max) { rd_kafka_poll(client_.get(), static_cast<int>(wait_max.count())); }
    void flush_until(steady_clock::time_point deadline) {
        rd_kafka_flush(client_.get(), milliseconds_until(deadline));
    }

    // Nothing is written any more after this, and everybody has an answer.
    void end(std::string_view reason) {
        rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        const auto deadline = steady_clock::now() + purge_reports_max;
        while (rd_kafka_outq_len(client_.get()) > 0 && steady_clock::now() < deadline) report(poll_max);
        topic_.reset();
        client_.reset();
        for (auto& [ticket, reported] : waiting_) reported({KafkaDelivery::unknown, -1, std::string(reason)});
        waiting_.clear();
    }

    std::string fatal_error() const {
        std::array<char, 512> why{};
        if (rd_kafka_fatal_error(client_.get(), why.data(), why.size()) == 0) return {};
        return why.data();
    }
    void break_for_tests() {
        rd_kafka_test_fatal_error(client_.get(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test");
    }
    size_t unreported() const {
        std::lock_guard lock(waiting_mutex_);
        return waiting_.size();
    }

private:
    Producer() = default;

    static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
        static_cast<Producer*>(self)->deliver(*message);
    }
    void deliver(const rd_kafka_message_t& message) {
        Reported reported;
        {
            std::lock_guard lock(waiting_mutex_);
            const auto found = waiting_.find(reinterpret_cast<uintptr_t>(message._private));
            CHECK(found != waiting_.end());  // one report per record
            reported = std::move(found->second);
            waiting_.erase(found);
        }
        const KafkaDelivery delivery = delivery_of(message);
        if (delivery == KafkaDelivery::durable) {
            reported({delivery, message.offset});
        } else {
            reported({delivery, -1, rd_kafka_err2str(message.err)});
        }
    }

    KafkaClient client_;
    KafkaTopic topic_;  // goes before the client

    mutable std::mutex waiting_mutex_;
    uint64_t ticket_last_ = 0;                        // guarded by waiting_mutex_
    std::unordered_map<uint64_t, Reported> waiting_;  // guarded; bound: queue_messages_max
};

StoreResult<std::unique_ptr<KafkaRecords>> KafkaRecords::open(const Options& options) {
    if (options.partitions <= 0) {
        return kafka_error(StoreErrc::not_allowed, "open the Kafka ledger",
                           "the count of partitions must be pinned");
    }
    if (options.message_max <= milliseconds(0) || options.message_max >= options.lease) {
        return kafka_error(
            StoreErrc::not_allowed, "open the Kafka ledger",
            fmt::format("message_max ({} ms) must be shorter than the gate's lease ({} ms): what is "
                        "sent under a lease must not be written long after it",
                        options.message_max.count(), options.lease.count()));
    }
    auto producer = Producer::make(options);
    if (!producer) return producer.error();
    std::unique_ptr<KafkaRecords> records(new KafkaRecords(options));
    records->producer_ = std::move(*producer);
    records->reporting_ = std::thread([self = records.get()] { self->report_until_closed(); });
    return records;
}

KafkaRecords::KafkaRecords(const Options& options) : options_(options) {}

KafkaRecords::~KafkaRecords() {
    close(milliseconds(0));
}

StoreResult<void> KafkaRecords::produce(const LedgerEntry& entry, Reported reported) {
    const std::string key = fmt::format("{}/{}/{}", entry.sale.view(), entry.item.view(), entry.bucket);
    return send(kafka_partition_of(entry.sale, entry.item, entry.bucket, options_.partitions), key,
                encode(entry), std::move(reported));
}

StoreResult<void> KafkaRecords::produce(const Seal& record, int32_t partition, Reported reported) {
    CHECK(partition >= 0 && partition < options_.partitions);
    const std::string key = fmt::format("{}/{}", record.sale.view(), record.item.view());
    return send(partition, key, encode(record), std::move(reported));
}

StoreResult<void> KafkaRecords::send(int32_t partition, std::string_view key, const std::string& bytes,
                                     Reported reported) {
    constexpr std::string_view operation = "produce to Kafka";
    std::shared_lock lock(producer_mutex_);
    if (is_closing_ || !producer_) return kafka_error(StoreErrc::unavailable, operation, "it is closed");
    const rd_kafka_resp_err_t why = producer_->send(partition, key, bytes, std::move(reported));
    switch (why) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            return {};
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return kafka_error(
                StoreErrc::not_found, operation,
                fmt::format("{}, partition {}: {}", options_.topic, partition, rd_kafka_err2str(why)));
        default:
            return kafka_error(StoreErrc::unavailable, operation, why);
    }
}

void KafkaRecords::close(milliseconds wait_max) {
    if (!reporting_.joinable()) return;
    close_by_ = steady_clock::now() + wait_max;
    is_closing_ = true;
    reporting_.join();
}

size_t KafkaRecords::unreported() const {
    std::shared_lock lock(producer_mutex_);
    return producer_ ? producer_->unreported() : 0;
}

void KafkaRecords::break_producer_for_tests() {
    std::shared_lock lock(producer_mutex_);
    if (producer_) producer_->break_for_tests();
}

void KafkaRecords::report_until_closed() {
    // Only this thread swaps producer_, so that it may look at it without the lock.
    while (!is_closing_) {
        producer_->report(poll_max);
        if (!producer_->fatal_error().empty() && steady_clock::now() >= replace_at_) replace_producer();
    }
    std::unique_ptr<Producer> last;
    {
        // Behind whoever was in the middle of a produce().
        std::lock_guard lock(producer_mutex_);
        last = std::move(producer_);
    }
    last->flush_until(close_by_);
    last->end("the producer was closed before its report");
}

void KafkaRecords::replace_producer() {
    const std::string reason = producer_->fatal_error();
    replace_at_ = steady_clock::now() + replace_pause;
    auto next = Producer::make(options_);
    if (!next) {
        log_error("a Kafka producer that failed cannot be replaced yet", {{"reason", next.error().text()}});
        return;
    }
    std::unique_ptr<Producer> failed = std::move(*next);
    {
        std::lock_guard lock(producer_mutex_);
        producer_.swap(failed);
    }
    replaced_.fetch_add(1, std::memory_order_relaxed);
    log_warn("a Kafka producer failed and was replaced",
             {{"reason", reason}, {"unreported", failed->unreported()}});
    failed->end("the producer failed: " + reason);
}

}  // namespace doorbuster
