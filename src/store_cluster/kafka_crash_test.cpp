// A broker that is killed while purchases are on their way.
#include <gtest/gtest.h>

#include "store_cluster/kafka_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class KafkaCrash : public WithKafka {};

TEST_F(KafkaCrash, WhatWasReportedDurableIsThereAfterAKill) {
    constexpr uint32_t before = 1000, during = 200, after = 300;
    const std::string topic = kafka().create_topic(1);
    KafkaReader tail = reader(topic, 5s);  // so long it looks for a broker that is away
    const std::vector<KafkaPosition> beginning{{0, 0}};
    ASSERT_TRUE(tail.assign(beginning));
    Reports reports;
    const auto records = producer(producer_options(topic, 1));
    uint32_t next = 0;
    const auto send = [&](uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) ASSERT_TRUE(produce(*records, reports, next++));
    };

    send(before);
    ASSERT_TRUE(reports.wait_for(before / 2));
    // It dies where it stands still: some are on their way, however late the kill comes.
    kafka().freeze();
    send(before);
    EXPECT_GE(records->unreported(), before);
    kafka().stop(SIGKILL);
    send(during);

    // Nobody there is not the same as nothing new.
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    auto batch = tail.read(5000, 100ms);
    while (batch && std::chrono::steady_clock::now() < deadline) batch = tail.read(5000, 100ms);
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().code, StoreErrc::unavailable);

    kafka().start();
    send(after);
    ASSERT_TRUE(reports.wait_for_all());
    EXPECT_GE(reports.count(KafkaDelivery::durable), before / 2);
    EXPECT_EQ(reports.count(KafkaDelivery::failed), 0u);
    const auto read = read_whole(topic, 1);
    expect_reports_hold(reports, read);
    // In the order in which they were produced, repeats by the library included.
    for (size_t i = 1; i < read.size(); ++i) ASSERT_LT(number_of(read[i - 1]), number_of(read[i]));
    EXPECT_TRUE(tail.assign(beginning));
    EXPECT_TRUE(tail.read(10, 1s));
}

}  // namespace
}  // namespace doorbuster
