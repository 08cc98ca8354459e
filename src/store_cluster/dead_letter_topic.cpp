#include "store_cluster/dead_letter_topic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "store_cluster/pg_contention.hpp"
#include "store_cluster/pg_rows.hpp"

namespace doorbuster {

using pg::Params;
using pg::Row;
using pg::Rows;

namespace {

constexpr std::string_view operation = "tell of dead letters";

struct Letter {
    int64_t partition, position;
    std::string reason, record;
    int64_t buried_at_ms;
    rd_kafka_resp_err_t heard = RD_KAFKA_RESP_ERR__TIMED_OUT;  // of its delivery

    // A position is the offset of the next record.
    std::string key() const { return fmt::format("{}/{}", partition, position - 1); }
};

Letter letter_of(const Row& row) {
    return {.partition = row.integer(0),
            .position = row.integer(1),
            .reason = std::string(row.text(2)),
            .record = std::string(row.bytes(3)),
            .buried_at_ms = row.integer(4)};
}

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    static_cast<Letter*>(message->_private)->heard = message->err;
}

rd_kafka_vu_t header(const char* name, const std::string& value) {
    rd_kafka_vu_t part{.vtype = RD_KAFKA_VTYPE_HEADER, .u = {}};
    part.u.header = {.name = name, .val = value.data(), .size = static_cast<ssize_t>(value.size())};
    return part;
}

// The library copies everything.
void send(rd_kafka_t* client, rd_kafka_topic_t* topic, const std::string& ledger, Letter& letter) {
    const std::string key = letter.key(), buried_at = fmt::to_string(letter.buried_at_ms),
                      bytes = fmt::to_string(letter.record.size());
    std::vector<rd_kafka_vu_t> parts{header("reason", letter.reason), header("topic", ledger),
                                     header("buried_at_ms", buried_at)};
    if (letter.record.size() > DeadLetterTopic::value_bytes_max) parts.push_back(header("bytes", bytes));
    const auto add = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
        return parts.emplace_back(rd_kafka_vu_t{.vtype = type, .u = {}});
    };
    add(RD_KAFKA_VTYPE_RKT).u.rkt = topic;
    add(RD_KAFKA_VTYPE_PARTITION).u.i32 = RD_KAFKA_PARTITION_UA;
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY;
    add(RD_KAFKA_VTYPE_KEY).u.mem = {.ptr = const_cast<char*>(key.data()), .size = key.size()};
    add(RD_KAFKA_VTYPE_VALUE).u.mem = {
        .ptr = letter.record.data(),
        .size = std::min(letter.record.size(), DeadLetterTopic::value_bytes_max)};
    add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = &letter;
    rd_kafka_error_t* const refused = rd_kafka_produceva(client, parts.data(), parts.size());
    if (refused == nullptr) return;
    letter.heard = rd_kafka_error_code(refused);
    rd_kafka_error_destroy(refused);
}

}  // namespace

StoreResult<void> DeadLetterTopic::prepare() {
    if (is_there_) return {};
    auto topics = KafkaTopics::open({.brokers = options_.brokers, .wait_max = options_.wait_max});
    if (!topics) return topics.error();
    const auto made = topics->create(options_.topic);
    if (!made && made.error().code != StoreErrc::exists) return made.error();
    is_there_ = true;
    return {};
}

StoreResult<size_t> DeadLetterTopic::step(Instant now) {
    if (const auto prepared = prepare(); !prepared) return prepared.error();
    std::vector<Letter> letters;
    const auto read = pg::guarded("reading dead letters", [&] {
        const Rows waiting = connection_.run(
            "SELECT partition, position, reason, record, buried_at_ms FROM dead_letters "
            "WHERE told_at_ms IS NULL ORDER BY buried_at_ms, partition, position LIMIT $1",
            Params().add(rows_max));
        letters = pg::all_of(waiting, letter_of);
    });
    if (!read) return read.error();
    if (letters.empty()) return size_t{0};

    auto conf =
        kafka_conf(options_.brokers, {{"acks", "all"},
                                      {"enable.idempotence", "true"},
                                      {"message.timeout.ms", fmt::to_string(options_.wait_max.count())}});
    if (!conf) return conf.error();
    rd_kafka_conf_set_dr_msg_cb(conf->get(), &on_delivery);
    {
        // Letters are rare: one producer for each turn, which takes what it has not sent with it.
        auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
        if (!client) return client.error();
        const KafkaTopic topic(rd_kafka_topic_new(client->get(), options_.topic.name.c_str(), nullptr));
        if (!topic) return kafka_error(StoreErrc::not_allowed, operation, rd_kafka_last_error());
        for (Letter& letter : letters) send(client->get(), topic.get(), options_.ledger, letter);
        rd_kafka_flush(client->get(), static_cast<int>(options_.wait_max.count()));
    }

    pg::Integers partitions, positions;
    rd_kafka_resp_err_t wrong = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (const Letter& letter : letters) {
        if (letter.heard != RD_KAFKA_RESP_ERR_NO_ERROR) {
            wrong = letter.heard;
            continue;
        }
        partitions.push(letter.partition);
        positions.push(letter.position);
    }
    const auto marked = pg::guarded("marking dead letters", [&] {
        if (partitions.size() == 0) return;
        pg::Transaction transaction(connection_);
        connection_.queue(
            "UPDATE dead_letters d SET told_at_ms = $3 FROM unnest($1::bigint[], $2::bigint[]) "
            "AS told(partition, position) "
            "WHERE d.partition = told.partition AND d.position = told.position",
            Params().add(partitions).add(positions).add(to_ms(now)));
        transaction.commit();
    });
    if (!marked) return marked.error();
    if (wrong == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || wrong == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
        is_there_ = false;  // somebody has removed it
    }
    if (wrong != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(StoreErrc::unavailable, operation, wrong);
    return partitions.size();
}

}  // namespace doorbuster
