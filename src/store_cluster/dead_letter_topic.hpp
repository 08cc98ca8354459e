// DeadLetterTopic: the ledger's dead letters in a topic of their own, for whoever watches Kafka.
//
// The row in PostgreSQL is the letter: it is written in the transaction that moves the position past its
// record, and is retried or dropped there. The topic tells of it, at least once: a row is marked when every
// in-sync replica has it.
//   key      PARTITION/OFFSET of the record in the ledger, the same in every repeat
//   value    the record's bytes; of one that can be read, its text
//   headers  reason, topic (the ledger's), buried_at_ms, bytes (of the whole record, where the value is cut)
//
// Thread safety: none.
#pragma once

#include "store_cluster/kafka_topics.hpp"
#include "store_cluster/pg_connection.hpp"

namespace doorbuster {

class DeadLetterTopic {
public:
    struct Options {
        std::string brokers;
        KafkaTopicTerms topic;         // made if it is not there
        std::string ledger;            // the topic that the letters are of
        milliseconds wait_max{3'000};  // for each of Kafka's answers
    };
    static constexpr size_t rows_max = 100;             // of one turn
    static constexpr size_t value_bytes_max = 512'000;  // with key and headers below any broker's limit

    DeadLetterTopic(pg::Connection& connection, Options options)
        : connection_(connection), options_(std::move(options)) {}

    // Tells what waits, oldest first, and answers how many; an error: the rest waits for the next turn.
    [[nodiscard]] StoreResult<size_t> step(Instant now);

private:
    StoreResult<void> prepare();

    pg::Connection& connection_;
    const Options options_;
    bool is_there_ = false;
};

}  // namespace doorbuster
