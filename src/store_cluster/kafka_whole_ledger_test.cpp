#include "store_cluster/kafka_whole_ledger.hpp"

#include <gtest/gtest.h>

#include <set>

#include "store_cluster/kafka_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class WholeLedgerTest : public WithKafka {
protected:
    static constexpr int32_t partitions = 3;

    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(partitions);
        auto opened = KafkaWholeLedger::open({.reader = {.brokers = kafka().brokers(),
                                                         .topic = topic,
                                                         .broker_wait_max = reports_max,
                                                         .quiet_max = 10ms},
                                              .partitions = partitions,
                                              .read_wait_max = reports_max,
                                              .scan_records_max = 40});
        ASSERT_TRUE(opened.has_value());
        ledger = std::move(*opened);
        records = producer(producer_options(topic, partitions));
        for (uint32_t i = 0; i < 30; ++i)
            ASSERT_TRUE(produce(*records, reports, i, "phone-" + std::to_string(i % 10)));
        ASSERT_TRUE(reports.wait_for_all());
    }

    std::string topic;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
    std::unique_ptr<KafkaWholeLedger> ledger;
};

TEST_F(WholeLedgerTest, EveryRecordComesOnceHoweverManyAreAskedForAtATime) {
    for (const size_t at_a_time : {1u, 4u, 100u}) {
        std::set<PurchaseId> seen;
        std::set<uint64_t> in;
        for (uint64_t after = 0;;) {
            const auto some = ledger->read_after(after, at_a_time);
            ASSERT_TRUE(some.has_value()) << some.error().text();
            if (some->empty()) break;
            for (const LedgerRecord& one : *some) {
                EXPECT_GT(one.position, after);
                after = one.position;
                in.insert(LedgerPlace::of(after).partition);
                EXPECT_TRUE(seen.insert(one.entry->acceptance.purchase).second);
            }
        }
        EXPECT_EQ(seen.size(), 30u);
        EXPECT_EQ(in.size(), 3u);
    }
    const auto end = ledger->end();
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->records(), 30u);
    EXPECT_EQ(end->partitions(), 3u);
}

TEST_F(WholeLedgerTest, ARecordIsFoundByItsPositionAndByItsPurchase) {
    for (uint32_t i = 0; i < 30; ++i) {
        const auto found = ledger->find_after(0, purchase(i));
        ASSERT_TRUE(found.has_value() && *found);
        const uint64_t position = (*found)->position;
        const auto there = ledger->read_after(position - 1, 1);
        ASSERT_TRUE(there.has_value() && there->size() == 1);
        EXPECT_EQ(there->front().position, position);
        EXPECT_EQ(there->front().entry->acceptance.purchase, purchase(i));
    }
    EXPECT_FALSE(ledger->find_after(0, purchase(99))->has_value());
}

TEST_F(WholeLedgerTest, ASearchIsBounded) {
    for (uint32_t i = 30; i < 60; ++i) ASSERT_TRUE(produce(*records, reports, i));
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_EQ(ledger->find_after(0, purchase(99)).error().code, StoreErrc::unavailable);
}

}  // namespace
}  // namespace doorbuster
