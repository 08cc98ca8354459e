#include "store_cluster/cluster_checks.hpp"

#include "store_cluster/checks_testing.hpp"
#include "store_cluster/clock_check.hpp"
#include "store_cluster/cluster_warm_up.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ClusterChecksTest : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        RedisSession session = redis.connect();
        ASSERT_FALSE(error_in(*ask(session, load_library_call())));
        terms = {.redis = {.address = redis.address(), .setup = redis.address(), .wait_max = redis_wait_max},
                 .redis_round_trip_max = redis_wait_max,
                 .postgres = durable_postgres().options(durable_database()),
                 .connections_per_node = 20,
                 .kafka = {.brokers = kafka().brokers(), .wait_max = 60s},
                 .topic = kafka().terms(kafka().create_topic(2), 2)};
    }

    RedisServer redis{{"--appendonly", "yes"}};
    ClusterCheckTerms terms;
};

TEST_F(ClusterChecksTest, OnOneMachineOnlyTheStandbyIsMissed) {
    const auto found = check_cluster(terms);
    EXPECT_THAT(told(found), ElementsAre("warning postgres.standby"));
    EXPECT_TRUE(is_warm(found));
}

TEST_F(ClusterChecksTest, TheCheckOpensThePools) {
    pg::Pool pool({.connection = terms.postgres, .connections = 3, .overflow_max = 0});
    terms.pools = {&pool};
    for (int time = 0; time < 2; ++time) {
        EXPECT_THAT(told(check_cluster(terms)), ElementsAre("warning postgres.standby"));
        EXPECT_EQ(pool.open(), 3u);
    }
}

TEST_F(ClusterChecksTest, TheCheckOpensTheReplicasPool) {
    pg::Pool replica({.connection = terms.postgres, .connections = 3, .overflow_max = 0});
    terms.replica_pool = &replica;
    EXPECT_THAT(told(check_cluster(terms)), ElementsAre("warning postgres.standby"));
    EXPECT_EQ(replica.open(), 3u);
}

TEST_F(ClusterChecksTest, AReplicaThatIsAwayKeepsNoSaleFromReady) {
    pg::Pool pool({.connection = terms.postgres, .connections = 2, .overflow_max = 0});
    pg::Pool replica({.connection = {.url = "host=/nowhere user=nobody"}, .connections = 3});
    terms.pools = {&pool};
    terms.replica_pool = &replica;
    const auto found = check_cluster(terms);
    EXPECT_THAT(told(found), ElementsAre("warning postgres.standby", "warning postgres.replica"));
    EXPECT_TRUE(is_warm(found));
    EXPECT_THAT(mend_of(found, "postgres.replica"), ::testing::HasSubstr("postgres.replica_url"));
    EXPECT_EQ(pool.open(), 2u);
    EXPECT_EQ(replica.open(), 0u);
}

TEST_F(ClusterChecksTest, AClockThatIsOffIsAFailure) {
    terms.now = [] { return MonotonicClock::system_now() - 60s; };
    EXPECT_THAT(told(check_cluster(terms)),
                ElementsAre("warning postgres.standby", "failure clock.redis", "failure clock.postgres"));
}

TEST_F(ClusterChecksTest, ATopicThatIsWrongOrMissingIsAFailure) {
    terms.topic.partitions = 4;
    EXPECT_THAT(told(check_cluster(terms)), Contains("failure kafka.partitions"));
    terms.topic.name = "nowhere";
    const auto found = check_cluster(terms);
    EXPECT_THAT(told(found), Contains("failure kafka.topic"));
    EXPECT_THAT(mend_of(found, "kafka.topic"),
                ::testing::HasSubstr("kafka-topics.sh --create --topic nowhere"));
}

TEST(ClusterChecks, EveryStoreThatIsSilentIsNamed) {
    const ClusterCheckTerms terms{
        .redis = {.address = {.socket = "/nowhere/redis"}, .setup = {.socket = "/nowhere/redis"}},
        .postgres = {.url = "host=/nowhere user=nobody"},
        .kafka = {.brokers = "127.0.0.1:1", .wait_max = 200ms},
        .topic = {.name = "ledger", .partitions = 1}};
    EXPECT_THAT(told(check_cluster(terms)),
                UnorderedElementsAre("failure postgres.reachable", "failure redis.reachable",
                                     "failure kafka.reachable"));
}

TEST(ClockCheck, WhatHalfARoundTripCanExplainIsNoDifference) {
    const auto judge = [](milliseconds redis, milliseconds postgres, milliseconds uncertainty) {
        return told(judge_clocks({"Redis", redis, uncertainty}, {"PostgreSQL", postgres, uncertainty}));
    };
    EXPECT_THAT(judge(500ms, 0ms, 0ms), IsEmpty());
    EXPECT_THAT(judge(700ms, 0ms, 200ms), IsEmpty());
    EXPECT_THAT(judge(-501ms, -400ms, 0ms), ElementsAre("failure clock.redis"));
    EXPECT_THAT(judge(300ms, -300ms, 0ms), ElementsAre("failure clock.stores"));
    EXPECT_THAT(judge(300ms, -300ms, 50ms), IsEmpty());
}

TEST(ClockCheck, TheShortestRoundTripCounts) {
    // Ours before and after each of the five questions; theirs is 1,000 ms ahead all the time.
    Instant now = t0;
    int question = 0;
    const auto read = read_clock<StoreError>(
        "it", [&] { return now; },
        [&]() -> StoreResult<Instant> {
            const milliseconds round_trip = ++question == 3 ? 20ms : 400ms;
            now += round_trip;
            return now - round_trip / 4 + 1s;
        });
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->uncertainty, 10ms);
    EXPECT_EQ(read->ahead, 1s + 5ms);
}

EpochLease lease_of(std::vector<ItemEpoch> items, pg::BootTime asked_at = pg::boot_time()) {
    return {pg::LeaseTime(asked_at, 60s), std::move(items)};
}

TEST(BooksCheck, EveryItemOfTheSaleNeedsAnOpenEpochUnderALeaseThatHolds) {
    Sale sale = phone_drop();
    sale.items.push_back(sale.items.front());
    sale.items.back().id = ItemId("case");
    const ItemEpoch phone{sale.id, ItemId("phone"), 2, "pin"}, closed{sale.id, ItemId("case"), 1},
        open{sale.id, ItemId("case"), 2, "pin"}, other{SaleId("other"), ItemId("case"), 2, "pin"};

    EXPECT_THAT(told(check_books(sale, nullptr)), ElementsAre("failure books.lease"));
    const EpochLease half = lease_of({phone, closed, other}), whole = lease_of({phone, open});
    const auto found = check_books(sale, &half);
    EXPECT_THAT(told(found), ElementsAre("failure books.loaded"));
    EXPECT_THAT(found.front().what, ::testing::EndsWith("yet: case"));
    EXPECT_THAT(told(check_books(sale, &whole)), IsEmpty());
    EXPECT_THAT(told(check_books(sale, &whole, pg::boot_time() + 1h)), ElementsAre("failure books.lease"));
}

// The checks of a thread that the test lets go one by one.
class Looked {
public:
    WarmUpFindings look() {
        std::unique_lock lock(mutex_);
        ++looks_;
        changed_.notify_all();
        changed_.wait_for(lock, redis_wait_max, [&] { return looks_ <= allowed_; });
        return findings_;
    }
    void allow(int looks, WarmUpFindings findings) {
        std::lock_guard lock(mutex_);
        allowed_ = looks;
        findings_ = std::move(findings);
        changed_.notify_all();
    }
    bool wait_for(int looks) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, redis_wait_max, [&] { return looks_ >= looks; });
    }
    int looks() {
        std::lock_guard lock(mutex_);
        return looks_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int looks_ = 0, allowed_ = 0;
    WarmUpFindings findings_;
};

TEST(ClusterWarmUpTest, WhoAsksWaitsForNobodyAndHearsTheLastResult) {
    Looked looked;
    const SaleRecord record{.sale = phone_drop(), .stock = {}};
    const auto lease =
        std::make_shared<const EpochLease>(lease_of({{record.sale.id, ItemId("phone"), 2, "pin"}}));
    ClusterWarmUp warm_up(
        {.check_every = 1ms, .wanted_for = 1h, .good_for = 1h}, [&] { return looked.look(); },
        [&] { return lease; });
    warm_up.start();
    EXPECT_EQ(looked.looks(), 0) << "nobody has asked";
    EXPECT_THAT(told(warm_up.findings_of(record)), ElementsAre("failure checks.under_way"));
    ASSERT_TRUE(looked.wait_for(1));
    EXPECT_THAT(told(warm_up.findings_of(record)), ElementsAre("failure checks.under_way"));

    looked.allow(1, {{.check = "redis.eviction", .what = "it evicts", .mend = "noeviction"}});
    ASSERT_TRUE(looked.wait_for(2)) << "the first look is over, and its result stands";
    EXPECT_THAT(told(warm_up.findings_of(record)), ElementsAre("failure redis.eviction"));
    looked.allow(2, {});
    ASSERT_TRUE(looked.wait_for(3));
    EXPECT_THAT(told(warm_up.findings_of(record)), IsEmpty());
    looked.allow(1'000'000, {});
    warm_up.stop();
}

TEST(ClusterWarmUpTest, ASaleWhoseBooksAreNotLoadedIsHeldWhateverTheChecksSay) {
    Looked looked;
    looked.allow(1'000'000, {});
    ClusterWarmUp warm_up(
        {.check_every = 1ms, .wanted_for = 1h, .good_for = 1h}, [&] { return looked.look(); },
        [] { return std::make_shared<const EpochLease>(lease_of({})); });
    warm_up.start();
    const SaleRecord record{.sale = phone_drop(), .stock = {}};
    (void)warm_up.findings_of(record);
    ASSERT_TRUE(looked.wait_for(2));
    EXPECT_THAT(told(warm_up.findings_of(record)), ElementsAre("failure books.loaded"));
    warm_up.stop();
}

}  // namespace
}  // namespace doorbuster
