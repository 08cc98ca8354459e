#include "store_cluster/cluster_lag.hpp"

#include <gtest/gtest.h>

#include "store_cluster/cluster_workers.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/kafka_whole_ledger.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using LagTest = WithKafka;

TEST_F(LagTest, ItIsWhatAllWorkersTogetherHaveNotPassed) {
    constexpr int32_t partitions = 3;
    const std::string topic = kafka().create_topic(partitions);
    const TestDatabase database;
    const auto orders = database.open();
    Sale drop = phone_drop(100, 100);
    for (int i = 0; i < 6; ++i) {
        drop.items.push_back(drop.items.front());
        drop.items.back().id = ItemId("phone-" + std::to_string(i));
    }
    ASSERT_TRUE(orders->create_sale(drop, SaleState::open, t0).has_value());
    const KafkaReader::Options reader{
        .brokers = kafka().brokers(), .topic = topic, .broker_wait_max = reports_max, .quiet_max = 10ms};
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 1});
    auto ledger =
        KafkaWholeLedger::open({.reader = reader, .partitions = partitions, .read_wait_max = reports_max});
    ASSERT_TRUE(ledger.has_value());
    ClusterLag lag(std::move(*ledger), std::make_unique<PostgresOrdersReader>(pool));
    ASSERT_TRUE(lag.look().has_value());
    EXPECT_EQ(lag.figures().records, 0u);
    EXPECT_FALSE(lag.figures().oldest);

    Reports reports;
    const auto records = producer(producer_options(topic, partitions));
    for (uint32_t i = 1; i <= 12; ++i) {
        LedgerEntry one = accepted(i, "phone-" + std::to_string(i % 6));
        one.acceptance.accepted_at = t0 + 12s - std::chrono::seconds(i);  // the last one is the oldest
        ASSERT_TRUE(records->produce(one, reports.expect(i)).has_value());
    }
    ASSERT_TRUE(reports.wait_for_all());
    ASSERT_TRUE(lag.look().has_value());
    EXPECT_EQ(lag.figures().records, 12u);
    ASSERT_TRUE(lag.figures().oldest);
    EXPECT_LT(*lag.figures().oldest, t0 + 12s) << "of the first ones of each partition";

    Snowflake ids{1};
    ClusterWorkers workers({.postgres = database.options(),
                            .kafka = reader,
                            .now = [] { return t0; },
                            .partitions = partitions,
                            .lease = {.owner = "one"},
                            .again_max = 1ms},
                           ids);
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    for (Uptime uptime = 1min; workers.figures().ordered < 12; uptime += 10ms) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        (void)workers.step(uptime);
    }
    ASSERT_TRUE(lag.look().has_value());
    EXPECT_EQ(lag.figures().records, 0u);
    EXPECT_FALSE(lag.figures().oldest);
    lag.start();
    lag.stop();
    EXPECT_EQ(lag.figures().records, 0u);
}

}  // namespace
}  // namespace doorbuster
