#include "store_cluster/kafka_reader.hpp"

#include <gtest/gtest.h>

#include "store_cluster/kafka_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class KafkaReaderTest : public WithKafka {
protected:
    // A topic with `count` records in its one partition.
    static std::string filled_topic(uint32_t count) {
        const std::string topic = kafka().create_topic(1);
        Reports reports;
        const auto records = producer(producer_options(topic, 1));
        for (uint32_t i = 0; i < count; ++i) EXPECT_TRUE(produce(*records, reports, i));
        EXPECT_TRUE(reports.wait_for_all());
        EXPECT_EQ(reports.count(KafkaDelivery::durable), count);
        return topic;
    }

    // Reads until there is a record, an end or an error.
    static StoreResult<KafkaBatch> read_something(KafkaReader& from, size_t count_max) {
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        auto batch = from.read(count_max, 100ms);
        while (batch && batch->records.empty() && batch->at_end.empty() &&
               std::chrono::steady_clock::now() < deadline) {
            batch = from.read(count_max, 100ms);
        }
        return batch;
    }

    // What another program, or a later version of this one, might write.
    static void write_raw(const std::string& topic, const std::vector<std::string>& values) {
        auto conf = kafka_conf(kafka().brokers(), {{"acks", "all"}});
        ASSERT_TRUE(conf);
        auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
        ASSERT_TRUE(client);
        const KafkaTopic to(rd_kafka_topic_new(client->get(), topic.c_str(), nullptr));
        for (const std::string& value : values) {
            ASSERT_EQ(rd_kafka_produce(to.get(), 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(value.data()),
                                       value.size(), nullptr, 0, nullptr),
                      0);
        }
        ASSERT_EQ(rd_kafka_flush(client->get(), static_cast<int>(reports_max.count())), 0);
    }

    // As retention does.
    static void remove_before(const std::string& topic, int64_t offset) {
        auto conf = kafka_conf(kafka().brokers(), {});
        ASSERT_TRUE(conf);
        auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
        ASSERT_TRUE(client);
        rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = offset;
        rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(list);
        const KafkaQueue answers(rd_kafka_queue_new(client->get()));
        rd_kafka_DeleteRecords(client->get(), &request, 1, nullptr, answers.get());
        const KafkaEvent event(rd_kafka_queue_poll(answers.get(), static_cast<int>(reports_max.count())));
        rd_kafka_DeleteRecords_destroy(request);
        rd_kafka_topic_partition_list_destroy(list);
        ASSERT_TRUE(event);
        ASSERT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
};

TEST_F(KafkaReaderTest, BatchesAreBoundedAndTheEndIsTold) {
    const std::string topic = filled_topic(25);
    KafkaReader from = reader(topic);
    ASSERT_TRUE(from.assign(std::vector<KafkaPosition>{{0, 5}}));
    std::vector<uint32_t> numbers;
    std::vector<int32_t> at_end;
    while (at_end.empty()) {
        const auto batch = read_something(from, 7);
        ASSERT_TRUE(batch) << batch.error().text();
        ASSERT_LE(batch->records.size(), 7u);
        for (const KafkaReadRecord& record : batch->records) {
            EXPECT_EQ(record.offset, number_of(record));
            numbers.push_back(number_of(record));
        }
        at_end = batch->at_end;
    }
    ASSERT_EQ(numbers.size(), 20u);
    EXPECT_EQ(numbers.front(), 5u);
    EXPECT_EQ(numbers.back(), 24u);

    // It stays the end until there is more.
    const auto nothing = from.read(7, 10ms);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->records.empty());
    EXPECT_EQ(nothing->at_end, std::vector{0});
    write_raw(topic, {encode(accepted(25))});
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    auto more = from.read(7, 100ms);
    while (more && more->records.empty() && std::chrono::steady_clock::now() < deadline) {
        more = from.read(7, 100ms);
    }
    ASSERT_TRUE(more);
    EXPECT_EQ(number_of(more->records.at(0)), 25u);
}

TEST_F(KafkaReaderTest, APositionBehindTheEndIsDamagedUntilAnotherIsGiven) {
    const std::string topic = filled_topic(3);
    KafkaReader from = reader(topic);
    ASSERT_TRUE(from.assign(std::vector<KafkaPosition>{{0, 4}}));
    for (int times = 0; times < 2; ++times) {
        const auto batch = read_something(from, 10);
        ASSERT_FALSE(batch);
        EXPECT_EQ(batch.error().code, StoreErrc::damaged) << batch.error().text();
    }
    ASSERT_TRUE(from.assign(std::vector<KafkaPosition>{{0, 2}}));
    const auto batch = read_something(from, 10);
    ASSERT_TRUE(batch) << batch.error().text();
    EXPECT_EQ(number_of(batch->records.at(0)), 2u);
}

TEST_F(KafkaReaderTest, APositionWhoseRecordsAreGoneIsDamaged) {
    const std::string topic = filled_topic(10);
    remove_before(topic, 6);
    KafkaReader from = reader(topic);
    ASSERT_TRUE(from.assign(std::vector<KafkaPosition>{{0, 5}}));
    const auto gone = read_something(from, 10);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, StoreErrc::damaged) << gone.error().text();
    ASSERT_TRUE(from.assign(std::vector<KafkaPosition>{{0, 6}}));
    const auto batch = read_something(from, 10);
    ASSERT_TRUE(batch) << batch.error().text();
    EXPECT_EQ(batch->records.at(0).offset, 6);
}

TEST_F(KafkaReaderTest, APartitionThatIsNotThereIsToldAsSuch) {
    KafkaReader from = reader(filled_topic(1));
    const auto refused = from.assign(std::vector<KafkaPosition>{{0, 0}, {1, 0}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::not_found) << refused.error().text();
    EXPECT_FALSE(from.read(10, 1ms));
    KafkaReader nowhere = reader("nowhere");
    const auto missing = nowhere.assign(std::vector<KafkaPosition>{{0, 0}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, StoreErrc::not_found) << missing.error().text();
}

TEST_F(KafkaReaderTest, WhatCannotBeReadComesWithItsBytesAndTheRestFollows) {
    const std::string topic = kafka().create_topic(1);
    write_raw(topic, {"rubbish", "\x02of a later version", "", encode(accepted(3))});
    const auto read = read_whole(topic, 1);
    ASSERT_EQ(read.size(), 4u);
    const auto unreadable = [&](size_t i) { return std::get<UnreadableRecord>(read[i].record); };
    EXPECT_EQ(unreadable(0).raw, "rubbish");
    EXPECT_EQ(unreadable(1).why, UnreadableWhy::newer);
    EXPECT_EQ(unreadable(2).raw, "");
    EXPECT_EQ(number_of(read[3]), 3u);
}

}  // namespace
}  // namespace doorbuster
