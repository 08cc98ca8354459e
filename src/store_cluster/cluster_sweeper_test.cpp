#include "store_cluster/cluster_sweeper.hpp"

#include <gtest/gtest.h>

#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class SweeperTest : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(1);
        records = producer(producer_options(topic, 1));
    }
    void take(uint32_t from, uint32_t to) {
        std::vector<ReserveEntry> entries;
        for (uint32_t i = from; i <= to; ++i) {
            entries.push_back({.purchase = purchase(i), .buyer = BuyerId("buyer-" + std::to_string(i))});
        }
        const auto said = book.reserve(entries);
        ASSERT_TRUE(said.has_value());
    }
    ItemEpoch item() const { return {book.bucket.sale, book.bucket.item, book.fence.epoch, book.fence.pin}; }
    EpochLease lease(milliseconds lasts = 60s) const {
        return {pg::LeaseTime(pg::boot_time(), lasts), {item()}};
    }
    Sweeper::Turn sweep(const EpochLease& under, Instant now = t0 + 10s) {
        Sweeper sweeper(*records, {.reports_max = reports_max});
        const auto turn = sweeper.sweep(under, item(), book.redis, now);
        EXPECT_TRUE(turn.has_value()) << turn.error().detail;
        return *turn;
    }
    uint64_t in_outbox() { return book.peek().book->outbox_entries; }

    LoadedBook book{1000};
    std::string topic;
    std::unique_ptr<KafkaRecords> records;
};

TEST_F(SweeperTest, WhatNobodyBroughtToTheLedgerIsBroughtThere) {
    take(1, 200);
    take(201, 400);
    take(401, 600);  // and here their gate dies
    const Sweeper::Turn turn = sweep(lease());
    EXPECT_EQ(turn.found, 600u);
    EXPECT_EQ(turn.done, 600u);
    EXPECT_EQ(in_outbox(), 0u);
    const auto read = read_whole(topic, 1);
    ASSERT_EQ(read.size(), 600u);
    for (uint32_t i = 1; i <= 600; ++i) {
        const auto& record = std::get<LedgerEntry>(read[i - 1].record);
        EXPECT_EQ(record.acceptance.sequence, i) << "in the order in which they were taken";
        EXPECT_EQ(record.acceptance.purchase, purchase(i));
        EXPECT_EQ(record.epoch, book.fence.epoch);
    }
    EXPECT_EQ(sweep(lease()).found, 0u);
}

TEST_F(SweeperTest, WhatIsYoungIsLeftToItsGate) {
    take(1, 5);
    EXPECT_EQ(sweep(lease(), t0 + 1s).found, 0u);
    EXPECT_EQ(in_outbox(), 5u);
    EXPECT_EQ(sweep(lease(), t0 + 3s).done, 5u);
}

TEST_F(SweeperTest, NothingIsDoneWithoutALeaseOrInAnotherEpoch) {
    take(1, 5);
    EXPECT_EQ(sweep(EpochLease()).found, 0u);
    EXPECT_EQ(sweep(lease(0ms)).found, 0u);
    EXPECT_EQ(in_outbox(), 5u);

    ItemEpoch old = item();
    old.epoch -= 1;
    Sweeper sweeper(*records, {});
    const auto fenced = sweeper.sweep(lease(), old, book.redis, t0 + 10s);
    ASSERT_FALSE(fenced.has_value());
    EXPECT_EQ(fenced.error().code, RedisErrc::fenced);
    EXPECT_TRUE(read_whole(topic, 1).empty());
}

TEST_F(SweeperTest, WhatIsNotReportedStaysInTheOutbox) {
    take(1, 5);
    kafka().freeze();
    Sweeper sweeper(*records, {.reports_max = 1ms});
    const auto turn = sweeper.sweep(lease(), item(), book.redis, t0 + 10s);
    kafka().thaw();
    ASSERT_TRUE(turn.has_value());
    EXPECT_EQ(turn->done, 0u);
    EXPECT_EQ(in_outbox(), 5u) << "they may stand in Kafka by now, or soon";
    EXPECT_EQ(sweep(lease()).done, 5u) << "once more does no harm: the id and the take are the same";
    EXPECT_GE(read_whole(topic, 1).size(), 5u);
}

}  // namespace
}  // namespace doorbuster
