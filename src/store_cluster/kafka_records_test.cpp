#include "store_cluster/kafka_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/pg_lease_time.hpp"

namespace doorbuster {
namespace {

using namespace testing;

constexpr milliseconds short_message = 1500ms;

KafkaRecords::Options nobody_there() {
    return {.brokers = "127.0.0.1:1",
            .topic = "ledger",
            .partitions = 1,
            .message_max = 60s,
            .lease = 90s,
            .queue_messages_max = 10};
}

// On a busy machine even a broker that is well may be too late for a short time-out.
bool produce_until_durable(KafkaRecords& records, Reports& reports, uint32_t& next) {
    const size_t before = reports.count(KafkaDelivery::durable);
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    while (std::chrono::steady_clock::now() < deadline) {
        if (!produce_when_there_is_room(records, reports, next++) || !reports.wait_for_all()) return false;
        if (reports.count(KafkaDelivery::durable) > before) return true;
    }
    return false;
}

class KafkaRecordsTest : public WithKafka {};

TEST(KafkaRecordsOptions, ARecordMayNotOutliveTheLease) {
    auto options = nobody_there();
    options.message_max = options.lease;
    const auto refused = KafkaRecords::open(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::not_allowed);
    options.message_max -= 1ms;
    EXPECT_TRUE(KafkaRecords::open(options));
}

TEST(KafkaRecordsOptions, PartitionsMustBePinned) {
    auto options = nobody_there();
    options.partitions = 0;
    EXPECT_FALSE(KafkaRecords::open(options));
}

// Records of an earlier version of this program are looked for where it put them.
TEST(KafkaRecordsOptions, AnItemBucketKeepsItsPartition) {
    const SaleId sale("phone-drop");
    const auto at = [&](std::string_view item, uint32_t bucket) {
        return kafka_partition_of(sale, ItemId(item), bucket, 12);
    };
    EXPECT_EQ(std::vector({at("phone", 0), at("phone", 1), at("phone", 2), at("case", 0)}),
              std::vector({7, 9, 8, 5}));
    std::vector<int> items(12);
    for (int i = 0; i < 1200; ++i) ++items[static_cast<size_t>(at("item-" + std::to_string(i), 0))];
    EXPECT_GT(*std::min_element(items.begin(), items.end()), 50);
}

TEST(KafkaRecordsBound, AFullQueueIsUnavailableAndACloseAnswersWhatItTook) {
    const auto options = nobody_there();
    Reports reports;
    const auto records = producer(options);
    for (uint32_t i = 0; i < options.queue_messages_max; ++i) ASSERT_TRUE(produce(*records, reports, i));
    const auto refused = produce(*records, reports, 99);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::unavailable);
    EXPECT_FALSE(refused.error().outcome_unknown);
    EXPECT_EQ(reports.count(), 0u);

    records->close(1ms);
    EXPECT_EQ(reports.count(KafkaDelivery::unknown), options.queue_messages_max);
    EXPECT_EQ(reports.count(), options.queue_messages_max);
    const auto closed = produce(*records, reports, 100);
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().code, StoreErrc::unavailable);
}

TEST_F(KafkaRecordsTest, WhatIsDurableIsReadBackInOrderOncePerProduction) {
    constexpr int32_t partitions = 3;
    constexpr uint32_t count = 3000;
    const std::string topic = kafka().create_topic(partitions);
    const std::vector<std::string> items{"phone", "case", "cable", "watch", "band"};
    Reports reports;
    const auto records = producer(producer_options(topic, partitions));
    std::map<int32_t, std::vector<uint32_t>> produced;
    for (uint32_t i = 0; i < count; ++i) {
        // One in a hundred twice: the sweeper may meet a gate.
        for (int times = i % 100 == 0 ? 2 : 1; times > 0; --times) {
            const std::string& item = items[i % items.size()];
            ASSERT_TRUE(produce(*records, reports, i, item));
            const SaleId sale("phone-drop");
            produced[kafka_partition_of(sale, ItemId(item), 0, partitions)].push_back(i);
        }
    }
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(reports.count(KafkaDelivery::durable), count + count / 100);
    EXPECT_EQ(records->unreported(), 0u);

    const auto read = read_whole(topic, partitions);
    std::map<int32_t, std::vector<uint32_t>> found;
    for (const KafkaReadRecord& record : read) found[record.partition].push_back(number_of(record));
    EXPECT_EQ(found, produced);
    EXPECT_GT(found.size(), 1u);
    // With one partition the offsets can be compared, too; here the same number may stand in two.
    EXPECT_EQ(read.size(), reports.count(KafkaDelivery::durable));
}

TEST_F(KafkaRecordsTest, ASealStandsInEveryPartitionThatItWasSentTo) {
    const std::string topic = kafka().create_topic(3);
    Reports reports;
    const auto records = producer(producer_options(topic, 3));
    for (int32_t partition = 0; partition < 3; ++partition) {
        ASSERT_TRUE(
            records->produce(Seal{SaleId("phone-drop"), ItemId("phone"), 7}, partition, reports.expect(0)));
    }
    ASSERT_TRUE(reports.wait_for_all());
    const auto read = read_whole(topic, 3);
    ASSERT_EQ(read.size(), 3u);
    for (const KafkaReadRecord& record : read) {
        EXPECT_EQ(std::get<Seal>(record.record).epoch, 7u);
        EXPECT_EQ(record.offset, 0);
    }
}

TEST_F(KafkaRecordsTest, ACloseWaitsForWhatIsUnderWay) {
    const std::string topic = kafka().create_topic(1);
    Reports reports;
    const auto records = producer(producer_options(topic, 1));
    for (uint32_t i = 0; i < 500; ++i) ASSERT_TRUE(produce(*records, reports, i));
    records->close(reports_max);
    EXPECT_EQ(reports.count(KafkaDelivery::durable), 500u);
    expect_reports_hold(reports, read_whole(topic, 1));
}

TEST_F(KafkaRecordsTest, ABrokerThatStandsStillLeavesTheOutcomeUnknown) {
    const std::string topic = kafka().create_topic(1), full_topic = kafka().create_topic(1);
    Reports reports, full_reports;
    auto options = producer_options(topic, 1, short_message), full_options = producer_options(full_topic, 1);
    options.queue_messages_max = full_options.queue_messages_max = 20;
    const auto records = producer(options);
    // None of its records is given up while its queue is looked at, however slow this thread is.
    const auto full = producer(full_options);
    // Connected, so that what follows is really sent.
    uint32_t next = 0, full_next = 0;
    ASSERT_TRUE(produce_until_durable(*records, reports, next));
    ASSERT_TRUE(produce_until_durable(*full, full_reports, full_next));
    const size_t before = reports.count();

    kafka().freeze();
    for (uint32_t i = 0; i < full_options.queue_messages_max; ++i) {
        ASSERT_TRUE(produce_when_there_is_room(*full, full_reports, full_next++));
    }
    const auto refused = produce(*full, full_reports, full_next);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::unavailable);

    for (uint32_t i = 0; i < options.queue_messages_max; ++i) {
        ASSERT_TRUE(produce_when_there_is_room(*records, reports, next++));
    }
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(reports.count(), before + options.queue_messages_max);
    EXPECT_GE(reports.count(KafkaDelivery::unknown), options.queue_messages_max);
    EXPECT_EQ(reports.count(KafkaDelivery::failed), 0u);

    // With room again it takes more, and a broker that wakes up may still write what it had received.
    kafka().thaw();
    ASSERT_TRUE(produce_until_durable(*records, reports, next));
    expect_reports_hold(reports, read_whole(topic, 1));
    ASSERT_TRUE(full_reports.wait_for_all());
    expect_reports_hold(full_reports, read_whole(full_topic, 1));
}

// A broker that stands still has what was sent in its socket, and meets it again on the next
// connection: it must tell that these are the same.
TEST_F(KafkaRecordsTest, WhatIsSentAgainIsWrittenOnce) {
    const std::string topic = kafka().create_topic(1);
    Reports reports, passed;
    auto options = producer_options(topic, 1);
    options.attempt_max = short_message / 3;
    const auto records = producer(options);
    ASSERT_TRUE(produce(*records, reports, 0));
    ASSERT_TRUE(reports.wait_for_all());

    kafka().freeze();
    for (uint32_t i = 1; i <= 20; ++i) ASSERT_TRUE(produce(*records, reports, i));
    // The record of another producer, which is given up later than the first attempt of these.
    const auto watch = producer(producer_options("nowhere", 1, short_message));
    ASSERT_TRUE(produce(*watch, passed, 0));
    ASSERT_TRUE(passed.wait_for_all());
    EXPECT_EQ(records->unreported(), 20u);
    kafka().thaw();

    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(reports.count(KafkaDelivery::durable), 21u);
    const auto read = read_whole(topic, 1);
    EXPECT_EQ(read.size(), 21u);
    for (size_t i = 0; i < read.size(); ++i) EXPECT_EQ(number_of(read[i]), i);
}

// Moves when it is told to: a record has as much time left as the test says, however long that takes.
class HandedClock final : public pg::VirtualTime {
public:
    pg::BootTime now() override { return pg::BootTime(now_ns_); }
    void pause(std::chrono::microseconds) override {}
    void pass(pg::BootTime time) { now_ns_ += time.count(); }

private:
    std::atomic<int64_t> now_ns_{pg::BootTime(1h).count()};
};

class KafkaReplayTest : public WithKafka {
protected:
    void TearDown() override { pg::virtual_time = nullptr; }
    // Connected, and the broker stands still with `count` records of it, from 1 on. From here on records are
    // given up by `clock`.
    void stand_still_with(uint32_t count, milliseconds message_max = reports_max / 2) {
        topic = kafka().create_topic(1);
        records = producer(producer_options(topic, 1, message_max));
        // Its report comes on the thread that replays, which has the clock from then on.
        ASSERT_TRUE(records->produce(accepted(0), [this, told = reports.expect(0)](const auto& report) {
            pg::virtual_time = &clock;
            told(report);
        }));
        ASSERT_TRUE(reports.wait_for_all());
        pg::virtual_time = &clock;
        kafka().freeze();
        for (uint32_t i = 1; i <= count; ++i) ASSERT_TRUE(produce(*records, reports, i));
    }
    void fail_producer() {
        const uint64_t replaced = records->producers_replaced();
        records->break_producer_for_tests();
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (records->producers_replaced() == replaced) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
            std::this_thread::yield();
        }
    }
    // All of them, each once.
    void expect_heard(uint32_t count, KafkaDelivery delivery) {
        ASSERT_TRUE(reports.wait_for_all());
        const auto heard = reports.heard();
        for (uint32_t i = 1; i <= count; ++i) {
            ASSERT_EQ(heard.at(i).size(), 1u) << i;
            EXPECT_EQ(heard.at(i).front().delivery, delivery) << i << " " << heard.at(i).front().reason;
        }
        EXPECT_EQ(records->unreported(), 0u);
    }

    std::string topic;
    HandedClock clock;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
};

TEST_F(KafkaReplayTest, WhatAFailedProducerHadInHandBecomesDurableByItself) {
    stand_still_with(50);
    fail_producer();
    for (uint32_t i = 51; i <= 60; ++i) ASSERT_TRUE(produce(*records, reports, i)) << "the new one is there";
    EXPECT_EQ(records->unreported(), 60u);
    kafka().thaw();
    expect_heard(60, KafkaDelivery::durable);
    auto heard = reports.heard();
    for (uint32_t i = 2; i <= 50; ++i) {
        EXPECT_LT(heard[i - 1].front().offset, heard[i].front().offset) << "in their order";
    }
    EXPECT_EQ(records->producers_replaced(), 1u);
    expect_reports_hold(reports, read_whole(topic, 1), 1);
}

TEST_F(KafkaReplayTest, AProducerThatFailsDuringTheReplayLosesNothing) {
    stand_still_with(20);
    fail_producer();
    for (uint32_t i = 21; i <= 40; ++i) ASSERT_TRUE(produce(*records, reports, i));
    fail_producer();
    fail_producer();
    kafka().thaw();
    expect_heard(40, KafkaDelivery::durable);
    auto heard = reports.heard();
    for (uint32_t i = 2; i <= 40; ++i) EXPECT_LT(heard[i - 1].front().offset, heard[i].front().offset) << i;
    expect_reports_hold(reports, read_whole(topic, 1), 3);
}

TEST_F(KafkaReplayTest, WhatHasTooLittleTimeLeftIsUnknownAndTheRestIsReplayed) {
    stand_still_with(10);
    clock.pass(producer_options(topic, 1).message_max * 7 / 8);
    for (uint32_t i = 11; i <= 20; ++i) ASSERT_TRUE(produce(*records, reports, i));
    fail_producer();
    ASSERT_TRUE(reports.wait_for(1 + 10));
    EXPECT_EQ(reports.count(KafkaDelivery::unknown), 10u);
    EXPECT_THAT(reports.heard()[1].front().reason, ::testing::StartsWith("the producer failed"));
    EXPECT_EQ(records->unreported(), 10u);
    kafka().thaw();
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(reports.count(KafkaDelivery::durable), 1u + 10u);
    expect_reports_hold(reports, read_whole(topic, 1), 1);
}

TEST_F(KafkaReplayTest, AReplayTakesNoLongerThanTheRecordMay) {
    // More than a quarter, so that it is replayed. A broker that stands still for longer than its session
    // (9 s) is fenced when it wakes.
    constexpr milliseconds message_max = 16s, left = 5s;
    stand_still_with(10, message_max);
    clock.pass(message_max - left);
    const auto failed_at = std::chrono::steady_clock::now();
    fail_producer();
    expect_heard(10, KafkaDelivery::unknown);
    const auto took = std::chrono::steady_clock::now() - failed_at;
    EXPECT_LT(took, message_max) << "a time of its own would have begun anew";
    EXPECT_GT(took, message_max / 4) << "it was replayed, and waited for";
}

// The first attempt may have been written all the same.
TEST_F(KafkaReplayTest, ANoToTheReplayIsNoCertainty) {
    topic = kafka().create_topic(1);
    kafka().freeze();
    records = producer(producer_options(topic, 64));
    ASSERT_TRUE(produce(*records, reports, 1));
    fail_producer();
    kafka().thaw();
    expect_heard(1, KafkaDelivery::unknown);
    const auto refused = produce_when_there_is_room(*records, reports, 2);
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_TRUE(!refused || reports.count(KafkaDelivery::failed) == 1u) << "the partition is not there";
}

TEST_F(KafkaReplayTest, ACloseDuringTheReplayAnswersEverybodyOnce) {
    stand_still_with(20);
    fail_producer();
    for (uint32_t i = 21; i <= 30; ++i) ASSERT_TRUE(produce(*records, reports, i));
    // Not replaced yet: another one has just been.
    records->break_producer_for_tests();
    records->close(1ms);
    EXPECT_EQ(reports.count(), 31u);
    expect_heard(30, KafkaDelivery::unknown);
}

TEST_F(KafkaRecordsTest, APartitionThatIsNotThereIsCertainlyNotWritten) {
    const std::string topic = kafka().create_topic(1);
    Reports reports;
    const auto records = producer(producer_options(topic, 64));
    const std::string item = "phone";
    ASSERT_NE(kafka_partition_of(SaleId("phone-drop"), ItemId(item), 0, 64), 0);
    // Before the topic is known it is taken, and failed; afterwards it is refused.
    ASSERT_TRUE(produce(*records, reports, 0, item));
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(reports.count(KafkaDelivery::failed), 1u);
    const auto refused = produce(*records, reports, 1, item);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::not_found);
    EXPECT_TRUE(read_whole(topic, 1).empty());
}

TEST_F(KafkaRecordsTest, AReportMayProduceAgain) {
    const std::string topic = kafka().create_topic(1);
    Reports reports;
    const auto records = producer(producer_options(topic, 1));
    const auto last = reports.expect(1);
    const auto first = reports.expect(0);
    ASSERT_TRUE(records->produce(accepted(0), [&](const DeliveryReport& report) {
        EXPECT_TRUE(records->produce(accepted(1), last));
        first(report);
    }));
    ASSERT_TRUE(reports.wait_for_all());
    expect_reports_hold(reports, read_whole(topic, 1));
}

}  // namespace
}  // namespace doorbuster
