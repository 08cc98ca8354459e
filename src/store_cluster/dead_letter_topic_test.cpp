#include "store_cluster/dead_letter_topic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

struct Told {
    std::string key, value, reason, ledger;
    bool operator==(const Told&) const = default;
};

class DeadLetterTopicTest : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        ledger = kafka().create_topic(1);
        options = {.brokers = kafka().brokers(),
                   .topic = kafka().terms(ledger + ".dead-letters", 1),
                   .ledger = ledger,
                   .wait_max = reports_max};
    }
    void bury(uint64_t position, const std::string& raw) {
        ASSERT_TRUE(
            orders
                ->bury(position - 1, {.position = position, .entry = {}, .raw = raw}, "it cannot be read", t0)
                .has_value());
    }
    size_t tell() {
        DeadLetterTopic letters(connection, options);
        const auto told = letters.step(t0);
        EXPECT_TRUE(told.has_value()) << told.error().text();
        return told ? *told : 0;
    }
    int64_t waiting() {
        return connection.read_integer("SELECT count(*) FROM dead_letters WHERE told_at_ms IS NULL");
    }
    // The first `count` that stand in the topic.
    std::vector<Told> in_topic(size_t count) {
        auto conf = kafka_conf(kafka().brokers(), {{"group.id", "nobody"}});
        auto client = kafka_client(RD_KAFKA_CONSUMER, std::move(*conf));
        const KafkaTopic topic(rd_kafka_topic_new(client->get(), options.topic.name.c_str(), nullptr));
        EXPECT_EQ(rd_kafka_consume_start(topic.get(), 0, RD_KAFKA_OFFSET_BEGINNING), 0);
        std::vector<Told> all;
        while (all.size() < count) {
            const KafkaMessage message(
                rd_kafka_consume(topic.get(), 0, static_cast<int>(reports_max.count())));
            if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) break;
            const auto text = [](const void* bytes, size_t size) {
                return std::string(static_cast<const char*>(bytes), size);
            };
            rd_kafka_headers_t* headers = nullptr;
            EXPECT_EQ(rd_kafka_message_headers(message.get(), &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
            const auto header = [&](const char* name) {
                const void* value = nullptr;
                size_t size = 0;
                if (rd_kafka_header_get_last(headers, name, &value, &size) != 0) return std::string();
                return text(value, size);
            };
            all.push_back({text(message->key, message->key_len), text(message->payload, message->len),
                           header("reason"), header("topic")});
        }
        rd_kafka_consume_stop(topic.get(), 0);
        return all;
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    std::string ledger;
    DeadLetterTopic::Options options;
};

TEST_F(DeadLetterTopicTest, ALetterIsToldWithItsPlaceItsBytesAndItsReason) {
    EXPECT_EQ(tell(), 0u);
    const std::string binary("\x00\xff\n", 3);
    bury(1, "rubbish");
    bury(2, binary);
    EXPECT_EQ(tell(), 2u);
    EXPECT_EQ(waiting(), 0);
    EXPECT_THAT(in_topic(2), ::testing::ElementsAre(Told{"0/0", "rubbish", "it cannot be read", ledger},
                                                    Told{"0/1", binary, "it cannot be read", ledger}));
    EXPECT_EQ(tell(), 0u);
}

TEST_F(DeadLetterTopicTest, OneThatIsToldAgainHasTheSameKey) {
    bury(1, "rubbish");
    EXPECT_EQ(tell(), 1u);
    connection.run("UPDATE dead_letters SET told_at_ms = NULL");  // as if it had died before the mark
    EXPECT_EQ(tell(), 1u);
    const auto told = in_topic(2);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0], told[1]);
}

TEST_F(DeadLetterTopicTest, ATurnIsBoundedAndALongLetterIsCut) {
    const std::string longest(1'000'000, 'x');
    bury(1, longest);
    for (uint64_t position = 2; position <= DeadLetterTopic::rows_max + 1; ++position) bury(position, "?");
    EXPECT_EQ(tell(), DeadLetterTopic::rows_max);
    EXPECT_EQ(waiting(), 1);
    EXPECT_EQ(tell(), 1u);
    EXPECT_EQ(in_topic(1).at(0).value, longest.substr(0, DeadLetterTopic::value_bytes_max));
}

TEST_F(DeadLetterTopicTest, WithoutKafkaTheyWait) {
    auto alone = options;
    alone.wait_max = 300ms;
    alone.brokers = "127.0.0.1:1";
    DeadLetterTopic letters(connection, alone);
    bury(1, "rubbish");
    for (int times = 0; times < 2; ++times) {
        const auto told = letters.step(t0);
        ASSERT_FALSE(told.has_value());
        EXPECT_EQ(told.error().code, StoreErrc::unavailable);
    }
    EXPECT_EQ(waiting(), 1);
    EXPECT_EQ(tell(), 1u);
}

TEST_F(DeadLetterTopicTest, WhatABrokerDoesNotConfirmIsNotMarked) {
    auto short_of_time = options;
    short_of_time.wait_max = 2s;
    DeadLetterTopic letters(connection, short_of_time);
    bury(1, "rubbish");
    // It has found the topic, so that what follows is really sent. A busy machine may need another turn.
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    while (waiting() > 0 && std::chrono::steady_clock::now() < deadline) (void)letters.step(t0);
    ASSERT_EQ(waiting(), 0);

    bury(2, "more of it");
    kafka().freeze();
    const auto told = letters.step(t0);
    ASSERT_FALSE(told.has_value());
    EXPECT_EQ(told.error().code, StoreErrc::unavailable);
    EXPECT_EQ(waiting(), 1);
    kafka().thaw();
    EXPECT_EQ(tell(), 1u);
    EXPECT_EQ(waiting(), 0);
}

}  // namespace
}  // namespace doorbuster
