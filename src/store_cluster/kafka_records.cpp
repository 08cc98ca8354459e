#include "store_cluster/kafka_records.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/log.hpp"
#include "store_cluster/kafka_handle.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster {

namespace {

using std::chrono::steady_clock;

constexpr milliseconds poll_max{50};        // how long a close or a fatal error goes unseen
constexpr milliseconds replay_poll_max{2};  // as long as two producers are looked at in turn
constexpr milliseconds replace_pause{250};  // between two producers that die at once
constexpr int replay_share = 4;             // of message_max; what has less left is not replayed
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
    // Names that differ in their last character only differ in the lower bits so far.
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    return static_cast<int32_t>((hash >> 32) % static_cast<uint64_t>(partitions));
}

// What was produced and is not reported, in the order in which it was produced.
//
// Thread safety: any thread. A record stays where it is until it is taken out.
class KafkaRecords::InHand {
public:
    struct Record {
        int32_t partition;
        std::string key, bytes;
        pg::BootTime give_up_at;  // by the clock of leases: no later than this may it be sent
        Reported reported;
        bool is_returned = false;  // its producer has nothing more to say of it
        bool is_replayed = false;  // an earlier attempt may have been written
    };

    explicit InHand(const Options& options)
        : count_max_(options.queue_messages_max), bytes_max_(size_t{options.queue_kbytes_max} * 1024) {}

    // None: as much is in hand as may be.
    std::optional<uint64_t> add(Record record) {
        std::lock_guard lock(mutex_);
        const size_t bytes = bytes_ + size_of(record);
        if (records_.size() >= count_max_ || bytes > bytes_max_) return std::nullopt;
        bytes_ = bytes;
        records_.emplace(++ticket_last_, std::move(record));
        return ticket_last_;
    }
    // To be read until it is taken out, by whoever knows that nobody does so meanwhile.
    Record& at(uint64_t ticket) {
        std::lock_guard lock(mutex_);
        return records_.at(ticket);
    }
    Record take(uint64_t ticket) {
        std::lock_guard lock(mutex_);
        const auto found = records_.find(ticket);
        CHECK(found != records_.end());  // one report per record
        Record record = std::move(found->second);
        records_.erase(found);
        bytes_ -= size_of(record);
        return record;
    }
    void give_up(uint64_t ticket, const std::string& reason) {
        take(ticket).reported({KafkaDelivery::unknown, -1, reason});
    }

    std::vector<uint64_t> up_to(uint64_t ticket_max) const {
        std::lock_guard lock(mutex_);
        std::vector<uint64_t> tickets;
        for (auto at = records_.begin(); at != records_.end() && at->first <= ticket_max; ++at) {
            tickets.push_back(at->first);
        }
        return tickets;
    }
    bool has_up_to(uint64_t ticket_max) const {
        std::lock_guard lock(mutex_);
        return !records_.empty() && records_.begin()->first <= ticket_max;
    }
    uint64_t ticket_last() const {
        std::lock_guard lock(mutex_);
        return ticket_last_;
    }
    size_t count() const {
        std::lock_guard lock(mutex_);
        return records_.size();
    }

private:
    static size_t size_of(const Record& record) { return record.key.size() + record.bytes.size(); }

    const size_t count_max_, bytes_max_;

    mutable std::mutex mutex_;
    uint64_t ticket_last_ = 0;            // guarded by mutex_
    size_t bytes_ = 0;                    // guarded
    std::map<uint64_t, Record> records_;  // guarded; bound: count_max_, bytes_max_
};

// One producer of librdkafka.
class KafkaRecords::Producer {
public:
    static StoreResult<std::unique_ptr<Producer>> make(const Options& options, InHand& in_hand,
                                                       milliseconds message_max) {
        const std::string message_ms = fmt::to_string(message_max.count());
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
        auto producer = std::unique_ptr<Producer>(new Producer(in_hand));
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

    rd_kafka_resp_err_t send(uint64_t ticket) {
        InHand::Record& record = in_hand_.at(ticket);
        // The library copies both.
        if (rd_kafka_produce(topic_.get(), record.partition, RD_KAFKA_MSG_F_COPY, record.bytes.data(),
                             record.bytes.size(), record.key.data(), record.key.size(),
                             reinterpret_cast<void*>(static_cast<uintptr_t>(ticket))) == 0) {
            return RD_KAFKA_RESP_ERR_NO_ERROR;
        }
        return rd_kafka_last_error();
    }

    void report(milliseconds wait_max) { rd_kafka_poll(client_.get(), static_cast<int>(wait_max.count())); }
    void flush_until(steady_clock::time_point deadline) {
        rd_kafka_flush(client_.get(), milliseconds_until(deadline));
    }

    // Nothing is sent any more after this. What comes to be known of its records by then is reported.
    void end() {
        rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        const auto deadline = steady_clock::now() + purge_reports_max;
        while (rd_kafka_outq_len(client_.get()) > 0 && steady_clock::now() < deadline) report(poll_max);
        topic_.reset();
        client_.reset();
    }
    // The same; what is not known stays in hand for another producer.
    void end_for_replay() {
        is_replaced_ = true;
        end();
    }

    bool has_failed() const { return rd_kafka_fatal_error(client_.get(), nullptr, 0) != 0; }
    std::string fatal_error() const {
        std::array<char, 512> why{};
        if (rd_kafka_fatal_error(client_.get(), why.data(), why.size()) == 0) return {};
        return why.data();
    }
    void break_for_tests() {
        rd_kafka_test_fatal_error(client_.get(), RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test");
    }

private:
    explicit Producer(InHand& in_hand) : in_hand_(in_hand) {}

    static void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
        static_cast<Producer*>(self)->deliver(*message);
    }
    void deliver(const rd_kafka_message_t& message) {
        const uint64_t ticket = reinterpret_cast<uintptr_t>(message._private);
        const KafkaDelivery delivery = delivery_of(message);
        // A fatal error purges the queue by itself: these are for the next producer.
        if (delivery == KafkaDelivery::unknown && (is_replaced_ || has_failed())) {
            in_hand_.at(ticket).is_returned = true;
            return;
        }
        const InHand::Record record = in_hand_.take(ticket);
        if (delivery == KafkaDelivery::durable) {
            record.reported({delivery, message.offset});
        } else {
            // A no to the second attempt says nothing of the first.
            record.reported(
                {record.is_replayed ? KafkaDelivery::unknown : delivery, -1, rd_kafka_err2str(message.err)});
        }
    }

    InHand& in_hand_;
    KafkaClient client_;
    KafkaTopic topic_;          // goes before the client
    bool is_replaced_ = false;  // the reporting thread's
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
    std::unique_ptr<KafkaRecords> records(new KafkaRecords(options));
    auto producer = Producer::make(options, *records->in_hand_, options.message_max);
    if (!producer) return producer.error();
    records->producer_ = std::move(*producer);
    records->reporting_ = std::thread([self = records.get()] { self->report_until_closed(); });
    return records;
}

KafkaRecords::KafkaRecords(const Options& options)
    : options_(options), in_hand_(std::make_unique<InHand>(options)) {}

KafkaRecords::~KafkaRecords() {
    close(milliseconds(0));
}

StoreResult<void> KafkaRecords::produce(const LedgerEntry& entry, Reported reported) {
    return send(kafka_partition_of(entry.sale, entry.item, entry.bucket, options_.partitions),
                fmt::format("{}/{}/{}", entry.sale.view(), entry.item.view(), entry.bucket), encode(entry),
                std::move(reported));
}

StoreResult<void> KafkaRecords::produce(const Seal& record, int32_t partition, Reported reported) {
    CHECK(partition >= 0 && partition < options_.partitions);
    return send(partition, fmt::format("{}/{}", record.sale.view(), record.item.view()), encode(record),
                std::move(reported));
}

StoreResult<void> KafkaRecords::send(int32_t partition, std::string key, std::string bytes,
                                     Reported reported) {
    constexpr std::string_view operation = "produce to Kafka";
    // Held until it is sent: so those that the old producer had are all before the new one's.
    std::shared_lock lock(producer_mutex_);
    if (is_closing_ || !producer_) return kafka_error(StoreErrc::unavailable, operation, "it is closed");
    const auto ticket = in_hand_->add({.partition = partition,
                                       .key = std::move(key),
                                       .bytes = std::move(bytes),
                                       .give_up_at = pg::boot_time() + options_.message_max,
                                       .reported = std::move(reported)});
    if (!ticket) return kafka_error(StoreErrc::unavailable, operation, RD_KAFKA_RESP_ERR__QUEUE_FULL);
    const rd_kafka_resp_err_t why = producer_->send(*ticket);
    if (why == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    static_cast<void>(in_hand_->take(*ticket));
    switch (why) {
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
    return in_hand_->count();
}

void KafkaRecords::break_producer_for_tests() {
    std::shared_lock lock(producer_mutex_);
    if (producer_) producer_->break_for_tests();
}

void KafkaRecords::report_until_closed() {
    // Only this thread swaps producer_, so that it may look at it without the lock.
    while (!is_closing_) {
        producer_->report(replaying_ ? replay_poll_max : poll_max);
        if (replaying_) replaying_->report(milliseconds(0));
        if (replaying_ && !in_hand_->has_up_to(replayed_up_to_)) replaying_.reset();
        if (steady_clock::now() < replace_at_) continue;
        if (producer_->has_failed()) {
            replace_producer();
        } else if (replaying_ && replaying_->has_failed()) {
            replace_at_ = steady_clock::now() + replace_pause;
            replay(replaying_->fatal_error());
        }
    }
    std::unique_ptr<Producer> last;
    {
        // Behind whoever was in the middle of a produce().
        std::lock_guard lock(producer_mutex_);
        last = std::move(producer_);
    }
    for (auto& producer : {&replaying_, &last}) {
        if (!*producer) continue;
        (*producer)->flush_until(close_by_);
        (*producer)->end();
    }
    for (const uint64_t ticket : in_hand_->up_to(in_hand_->ticket_last())) {
        in_hand_->give_up(ticket, "the producer was closed before its report");
    }
}

void KafkaRecords::replace_producer() {
    const std::string reason = producer_->fatal_error();
    replace_at_ = steady_clock::now() + replace_pause;
    auto next = Producer::make(options_, *in_hand_, options_.message_max);
    if (!next) {
        log_error("a Kafka producer that failed cannot be replaced yet", {{"reason", next.error().text()}});
        const pg::BootTime now = pg::boot_time();
        std::vector<uint64_t> tickets;
        {
            // Behind whoever is in the middle of a produce(), who may take its record back.
            std::lock_guard lock(producer_mutex_);
            tickets = in_hand_->up_to(in_hand_->ticket_last());
        }
        for (const uint64_t ticket : tickets) {
            const InHand::Record& record = in_hand_->at(ticket);
            if (record.is_returned && record.give_up_at <= now) in_hand_->give_up(ticket, reason);
        }
        return;
    }
    std::unique_ptr<Producer> failed = std::move(*next);
    {
        std::lock_guard lock(producer_mutex_);
        producer_.swap(failed);
        replayed_up_to_ = in_hand_->ticket_last();
    }
    replaced_.fetch_add(1, std::memory_order_relaxed);
    log_warn("a Kafka producer failed and was replaced",
             {{"reason", reason}, {"unreported", in_hand_->count()}});
    failed->end_for_replay();
    replay(reason);
}

// What is still in hand of producers before producer_, through one that has no more time than the oldest
// of it. librdkafka has one time for all records of a topic.
void KafkaRecords::replay(const std::string& reason) {
    if (replaying_) replaying_->end_for_replay();
    replaying_.reset();
    const auto give_up = [&](uint64_t ticket) {
        in_hand_->give_up(ticket, "the producer failed: " + reason);
    };
    milliseconds left_least = options_.message_max;
    std::vector<uint64_t> in_time;
    for (const uint64_t ticket : in_hand_->up_to(replayed_up_to_)) {
        const auto left = std::chrono::floor<milliseconds>(in_hand_->at(ticket).give_up_at - pg::boot_time());
        if (left < options_.message_max / replay_share) {
            give_up(ticket);
            continue;
        }
        left_least = std::min(left_least, left);
        in_time.push_back(ticket);
    }
    if (in_time.empty()) return;
    auto next = Producer::make(options_, *in_hand_, left_least);
    if (!next) {
        log_error("what a Kafka producer had in hand cannot be replayed", {{"reason", next.error().text()}});
        for (const uint64_t ticket : in_time) give_up(ticket);
        return;
    }
    replaying_ = std::move(*next);
    for (const uint64_t ticket : in_time) {
        InHand::Record& record = in_hand_->at(ticket);
        record.is_replayed = true;
        record.is_returned = false;
        if (replaying_->send(ticket) != RD_KAFKA_RESP_ERR_NO_ERROR) give_up(ticket);
    }
}

}  // namespace doorbuster
