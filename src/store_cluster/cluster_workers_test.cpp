#include "store_cluster/cluster_workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class ClusterWorkersTest : public WithKafka {
protected:
    static constexpr int32_t partitions = 4;
    // By the clock of PostgreSQL, which nobody hands in: however long a test takes, none ends by itself.
    static constexpr milliseconds lease = 1h;
    static constexpr Uptime until_next_look = lease;

    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(partitions);
        records = producer(producer_options(topic, partitions));
        Sale drop = phone_drop(1000, 1000);
        drop.items.clear();
        // Enough of them to have some in every partition.
        for (int i = 0; i < 16; ++i) {
            Item one = phone_drop(1000, 1000).items.front();
            one.id = ItemId("phone-" + std::to_string(i));
            drop.items.push_back(one);
        }
        ASSERT_TRUE(orders->create_sale(drop, SaleState::open, t0).has_value());
    }

    ClusterWorkers::Options options(const std::string& owner) {
        return {.postgres = database.options(),
                .kafka = {.brokers = kafka().brokers(), .topic = topic, .quiet_max = 10ms},
                .now = [] { return t0; },
                .partitions = partitions,
                .lease = {.owner = owner, .lasts = lease},
                .again_max = 1ms};
    }
    void accept(uint32_t from, uint32_t to) {
        for (uint32_t i = from; i <= to; ++i) {
            ASSERT_TRUE(produce(*records, reports, i, "phone-" + std::to_string(i % 16)));
        }
        ASSERT_TRUE(reports.wait_for_all());
    }
    // Lets them all step, and the time pass, until it is so.
    bool run(std::vector<ClusterWorkers*> workers, const std::function<bool()>& is_so, Uptime stride = 10ms) {
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (!is_so()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            for (ClusterWorkers* one : workers) (void)one->step(uptime);
            uptime += stride;
        }
        return true;
    }
    int64_t count(std::string_view sql) { return connection.read_integer(sql); }
    int64_t ordered() { return count("SELECT count(*) FROM orders"); }
    // As if so much time had passed for the server.
    void pass(milliseconds time) {
        for (const char* table : {"partition_leases", "workers"}) {
            connection.run_script(std::string("UPDATE doorbuster.") + table +
                                  " SET expires_at = expires_at - interval '1 ms' * " +
                                  std::to_string(time.count()));
        }
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    std::string topic;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
    Snowflake ids{1}, other_ids{2};
    Uptime uptime = 1min;
};

TEST_F(ClusterWorkersTest, EveryRecordOfEveryPartitionBecomesOneOrder) {
    accept(1, 200);
    ClusterWorkers workers(options("one"), ids);
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 200; }));
    EXPECT_EQ(workers.figures().partitions_held, 4u);
    EXPECT_EQ(workers.figures().ordered, 200u);
    EXPECT_EQ(count("SELECT count(*) FROM partition_offsets WHERE position > 0"), 4);
    EXPECT_EQ(count("SELECT sum(units_held)::bigint FROM items"), 200);
    accept(201, 240);
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 240; }));
}

TEST_F(ClusterWorkersTest, AnOrderIsDatedWhenItIsMadeHoweverLongTheLeasesWaited) {
    std::atomic<int64_t> now_ms = to_ms(t0);
    ClusterWorkers::Options dated = options("one");
    dated.now = [&] { return from_ms(now_ms); };
    accept(1, 16);
    ClusterWorkers workers(dated, ids);
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 16; }));
    accept(17, 32);

    // Somebody has the leases' rows, and a minute passes while the next look waits for them.
    pg::Connection watching{database.options()};
    {
        pg::Transaction holding(connection);
        connection.run("SELECT 1 FROM partition_leases FOR UPDATE");
        auto stepped = std::async([&] { (void)workers.step(uptime += until_next_look); });
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (watching.read_integer("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        }
        now_ms += 60'000;
        holding.commit();
        stepped.get();
    }
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 32; }));
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM orders WHERE created_at_ms = $1",
                                      pg::Params().add(now_ms.load())),
              16);
}

TEST_F(ClusterWorkersTest, WorkersShareThePartitionsAndThoseOfOneThatGoesAreTaken) {
    ClusterWorkers first(options("first"), ids);
    ASSERT_TRUE(run({&first}, [&] { return first.figures().partitions_held == 4; }));
    ClusterWorkers second(options("second"), other_ids);
    ASSERT_TRUE(run(
        {&first, &second},
        [&] { return first.figures().partitions_held == 2 && second.figures().partitions_held == 2; },
        until_next_look));
    accept(1, 100);
    ASSERT_TRUE(run({&first, &second}, [&] { return ordered() == 100; }));
    EXPECT_GT(first.figures().ordered, 0u);
    EXPECT_GT(second.figures().ordered, 0u);
    EXPECT_EQ(first.figures().lost + second.figures().lost, 0u);

    first.give_all_back();
    ASSERT_TRUE(run(
        {&second}, [&] { return second.figures().partitions_held == 4; }, until_next_look));
    accept(101, 150);
    ASSERT_TRUE(run({&second}, [&] { return ordered() == 150; }));
}

TEST_F(ClusterWorkersTest, OneThatSleptPlacesNothingOfWhatAnotherHasTakenOver) {
    accept(1, 50);
    ClusterWorkers sleeper(options("sleeper"), ids);
    ASSERT_TRUE(run({&sleeper}, [&] { return ordered() == 50; }));
    pass(lease + 1s);
    ClusterWorkers next(options("next"), other_ids);
    ASSERT_TRUE(run({&next}, [&] { return next.figures().partitions_held == 4; }));
    accept(51, 100);
    // It wakes, with the leases that it believes in: not yet time to look after them.
    ASSERT_TRUE(run({&sleeper}, [&] { return sleeper.figures().partitions_held == 0; }));
    EXPECT_EQ(sleeper.figures().ordered, 50u);
    EXPECT_EQ(sleeper.figures().lost, 4u);
    ASSERT_TRUE(run({&next}, [&] { return ordered() == 100; }));
    EXPECT_EQ(next.figures().ordered, 50u);
}

TEST_F(ClusterWorkersTest, APartitionThatIsLostStopsThatOneOnly) {
    ClusterWorkers workers(options("one"), ids);
    ASSERT_TRUE(run({&workers}, [&] { return workers.figures().partitions_held == 4; }));
    connection.run_script(
        "UPDATE doorbuster.partition_leases SET owner = 'two', generation = generation + 1, "
        "expires_at = clock_timestamp() + interval '1 hour' WHERE partition = 2;"
        "UPDATE doorbuster.partition_offsets SET generation = generation + 1 WHERE partition = 2");
    accept(1, 100);
    std::set<uint32_t> elsewhere;
    for (uint32_t i = 1; i <= 100; ++i) {
        const ItemId item("phone-" + std::to_string(i % 16));
        if (kafka_partition_of(SaleId("phone-drop"), item, 0, partitions) != 2) elsewhere.insert(i);
    }
    ASSERT_LT(elsewhere.size(), 100u);
    ASSERT_TRUE(run({&workers}, [&] {
        return ordered() == static_cast<int64_t>(elsewhere.size()) && workers.figures().lost == 1;
    }));
    EXPECT_EQ(workers.figures().partitions_held, 3u);
    EXPECT_EQ(count("SELECT position FROM partition_offsets WHERE partition = 2"), 0);
}

TEST_F(ClusterWorkersTest, StoresThatAreAwayCancelNothingHoweverLongItTakes) {
    accept(1, 60);
    ClusterWorkers workers(options("one"), ids);
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 60; }));
    postgres().stop();
    accept(61, 100);
    const uint64_t before = workers.figures().troubles;
    ASSERT_TRUE(run({&workers}, [&] { return workers.figures().troubles >= before + 12; }))
        << "each begins anew, again and again";
    postgres().start();
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 100; }));
    EXPECT_EQ(count("SELECT count(*) FROM purchases WHERE state = 'cancelled'"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM dead_letters"), 0);
}

TEST_F(ClusterWorkersTest, TheRateCapIsOneForAllPartitions) {
    accept(1, 100);
    auto capped = options("one");
    capped.rate_per_second_max = 10;
    capped.batch_max = 5;
    ClusterWorkers workers(capped, ids);
    const Uptime from = uptime;
    ASSERT_TRUE(run({&workers}, [&] { return ordered() == 100; }));
    EXPECT_GE(uptime - from, 9s) << "ten a second of the time that was handed in, and one batch at once";
}

TEST_F(ClusterWorkersTest, ARecordOfALaterVersionLeavesItsPartitionToOthersAndHoldsUpNoOther) {
    write_raw(topic, {"\x02of a later version"});  // into partition 0
    accept(1, 100);
    ClusterWorkers workers(options("one"), ids);
    ASSERT_TRUE(run({&workers}, [&] { return workers.figures().unreadable == 1; }));
    ASSERT_TRUE(run({&workers}, [&] { return workers.figures().ordered > 0; }));
    EXPECT_EQ(count("SELECT position FROM partition_offsets WHERE partition = 0"), 0);
    EXPECT_EQ(count("SELECT count(*) FROM partition_leases WHERE partition = 0 AND expires_at > "
                    "clock_timestamp()"),
              0);
    EXPECT_EQ(count("SELECT count(*) FROM dead_letters"), 0);
}

TEST_F(ClusterWorkersTest, WhatCannotBeReadBecomesADeadLetter) {
    write_raw(topic, {"rubbish"});
    ClusterWorkers workers(options("one"), ids);
    ASSERT_TRUE(run({&workers}, [&] { return workers.figures().dead_letters == 1; }));
    EXPECT_EQ(count("SELECT count(*) FROM dead_letters WHERE partition = 0 AND position = 1"), 1);
    EXPECT_EQ(count("SELECT position FROM partition_offsets WHERE partition = 0"), 1);
}

}  // namespace
}  // namespace doorbuster
