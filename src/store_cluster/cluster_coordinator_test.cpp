// Redis is lost in every way that it can be, coordinators die and race, and no promise breaks.
#include "store_cluster/cluster_coordinator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "orders/worker.hpp"
#include "store/row_words.hpp"
#include "store_cluster/cluster_relay.hpp"
#include "store_cluster/kafka_ledger.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using Step = ClusterRebuild::Step;

struct NoBooks final : BookControl {
    void control(ControlCommand, std::function<void()>) override {}
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)>) override {}
};

// A sale of ten, at most one each, on real servers; the gate is played by the test.
class CoordinatorTest : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(1);
        records = producer(producer_options(topic, 1));
        auto opened =
            KafkaLedger::open({.reader = {.brokers = kafka().brokers(), .topic = topic, .quiet_max = 10ms}});
        ASSERT_TRUE(opened.has_value());
        ledger = std::move(*opened);
        worker = std::make_unique<OrderWorker>(*ledger, *orders, books, ids, OrderWorker::Options{});
        worker->hurry();
        Sale drop = phone_drop(10, 1);
        drop.opens_at = from_ms(0);
        drop.closes_at = t0 + 24h * 365 * 50;
        ASSERT_TRUE(orders->create_sale(drop, SaleState::open, t0).has_value());
    }

    // One process' worth of coordinator.
    struct Process {
        explicit Process(CoordinatorTest& test, milliseconds takeover_after = 20s)
            : connection(test.database.options()),
              redis({.address = test.server->address(), .setup = test.server->address()}),
              coordinator(
                  {connection, redis, *test.records},
                  {.rebuild = {.partitions = 1, .lease = test.lease}, .takeover_after = takeover_after}) {}
        pg::Connection connection;
        RedisCaller redis;
        ClusterCoordinator coordinator;
    };
    ClusterRebuild::Means means(Process& process) { return {process.connection, process.redis, *records}; }

    ItemEpoch now() {
        const auto lease_now = epochs.lease("test", 60s);
        EXPECT_TRUE(lease_now.has_value());
        return lease_now->items().front();
    }
    bool is_open() { return now().pin.has_value(); }
    void step_worker() {
        const auto stepped = worker->step(t0, uptime += 1s);
        ASSERT_TRUE(stepped.has_value()) << stepped.error().text();
    }
    // Lets the time pass, the coordinators act and, where they may, the workers place, until it is so.
    bool run(std::vector<Process*> processes, const std::function<bool()>& is_so, bool with_worker = true) {
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (!is_so()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            for (Process* one : processes) (void)one->coordinator.step(clock);
            if (with_worker) step_worker();
            if (HasFatalFailure()) return false;
            clock += 250ms;
        }
        return true;
    }
    bool open_by(Process& process) {
        return run({&process}, [&] { return is_open(); });
    }
    bool rebuilt_by(Process& process, uint64_t from_epoch) {
        return run({&process}, [&] { return is_open() && now().epoch > from_epoch; });
    }
    // Everything that stands in the ledger becomes what it becomes.
    void place_all() {
        const auto whole = read_whole(topic, 1);
        ASSERT_TRUE(run({}, [&] { return worker->position() == whole.size(); }));
    }

    // The gate's way as far as Redis; the take, if it was accepted or is known.
    std::optional<ReserveVerdict> reserve(uint32_t number, const ItemEpoch& under) {
        RedisSession redis = server->connect();
        const std::vector<ReserveEntry> entries{{.purchase = purchase(number), .buyer = buyer(number)}};
        const auto said =
            read_reserve(*ask(redis, reserve_call(bucket, {*under.pin, under.epoch}, entries)), 1);
        if (!said) return std::nullopt;  // fenced: 503
        return said->at(0);
    }
    void produce_take(uint32_t number, const Take& take) {
        const LedgerEntry entry{.sale = sale,
                                .item = item,
                                .acceptance = {.purchase = purchase(number),
                                               .buyer = buyer(number),
                                               .units = take.units,
                                               .sequence = take.sequence,
                                               .accepted_at = take.accepted_at},
                                .epoch = take.epoch};
        ASSERT_TRUE(records->produce(entry, reports.expect(number)).has_value());
        ASSERT_TRUE(reports.wait_for_all());
    }
    void mark_done(uint32_t number, const ItemEpoch& under, const Take& take) {
        RedisSession redis = server->connect();
        const std::vector<TakenAt> taken{{purchase(number), take.sequence}};
        (void)ask(redis, done_call(bucket, {*under.pin, under.epoch}, taken));
    }
    // All of it: to a 202, which is then remembered.
    ::testing::AssertionResult buy(uint32_t number) {
        const ItemEpoch under = now();
        if (!under.pin) return ::testing::AssertionFailure() << "rebuilding";
        const auto said = reserve(number, under);
        if (!said) return ::testing::AssertionFailure() << "fenced";
        if (said->outcome != ReserveOutcome::accepted && said->outcome != ReserveOutcome::repeated) {
            return ::testing::AssertionFailure() << "outcome " << static_cast<int>(said->outcome);
        }
        if (said->is_pending) {
            produce_take(number, said->take);
            mark_done(number, under, said->take);
        }
        promised.insert(number);
        return ::testing::AssertionSuccess();
    }
    ReserveOutcome outcome_of(uint32_t number) { return reserve(number, now()).value().outcome; }
    static BuyerId buyer(uint32_t number) { return BuyerId("buyer-" + std::to_string(number)); }

    Stock in_redis() {
        RedisSession redis = server->connect();
        const auto peek = read_peek(*ask(redis, peek_call(bucket)));
        EXPECT_TRUE(peek.has_value() && peek->book);
        return peek->book->figures.stock;
    }
    Stock in_postgres() { return orders->reader().sales()->front().stock.front(); }
    int64_t count(std::string_view sql) { return connection.read_integer(sql); }
    std::string reason_of(uint32_t number) {
        const auto found = orders->reader().find_purchase(purchase(number));
        EXPECT_TRUE(found.has_value());
        return *found ? (*found)->reason : "unknown";
    }

    // The judge: every yes is an order, no unit was sold twice, and both books agree.
    void expect_promises_kept() {
        place_all();
        Relay relay(connection);
        RedisSession redis = server->connect();
        ASSERT_TRUE(relay.step(*epochs.lease("test", 60s), redis, t0).has_value());
        for (const uint32_t number : promised) EXPECT_EQ(reason_of(number), "") << number;
        const Stock stock = in_postgres();
        EXPECT_EQ(stock.units_held, count("SELECT count(*) FROM orders WHERE hold = 'held'"));
        EXPECT_LE(stock.units_held, 10u);
        EXPECT_EQ(in_redis(), stock);
        EXPECT_EQ(count("SELECT count(*) FROM (SELECT buyer FROM orders WHERE hold <> 'finished' "
                        "GROUP BY buyer HAVING count(*) > 1) AS twice"),
                  0);
        for (const uint32_t number : promised) {
            EXPECT_EQ(outcome_of(number), ReserveOutcome::repeated) << number << " is known";
        }
        EXPECT_EQ(in_redis(), stock) << "and to repeat it takes nothing";
    }

    const SaleId sale{"phone-drop"};
    const ItemId item{"phone"};
    const BookBucket bucket{sale, item};
    const milliseconds lease = 10s;

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    std::unique_ptr<RedisServer> server = std::make_unique<RedisServer>();
    std::string topic;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
    std::unique_ptr<KafkaLedger> ledger;
    NoBooks books;
    Snowflake ids{1};
    std::unique_ptr<OrderWorker> worker;
    pg::BootTime clock = 1h;
    Uptime uptime = 1min;
    std::set<uint32_t> promised;
};

TEST_F(CoordinatorTest, AnItemIsLoadedWhenItsSaleIsWarmingAndNotBefore) {
    connection.run("UPDATE sales SET state = 'scheduled'");
    Process one(*this);
    for (int i = 0; i < 5; ++i) (void)one.coordinator.step(clock += 1s);
    EXPECT_EQ(now().epoch, 0u);
    connection.run("UPDATE sales SET state = 'warming'");
    ASSERT_TRUE(open_by(one));
    EXPECT_EQ(now().epoch, 2u);
    EXPECT_EQ(in_redis(), (Stock{10, 10, 0, 0}));
    EXPECT_EQ(outcome_of(1), ReserveOutcome::not_open);
    // The operator's word does not reach Redis by itself; here its sender died behind the row.
    connection.run("UPDATE sales SET state = 'open', version = version + 1");
    ASSERT_TRUE(run({&one}, [&] { return static_cast<bool>(buy(1)); }));
    EXPECT_EQ(now().epoch, 2u) << "nothing was wrong with it";
    expect_promises_kept();
}

TEST_F(CoordinatorTest, NothingIsDoneWhileAllIsWell) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    for (int i = 0; i < 20; ++i) (void)one.coordinator.step(clock += 1s);
    EXPECT_EQ(one.coordinator.figures().rebuilds_begun, 1u);
    server->stop();
    for (int i = 0; i < 3; ++i) (void)one.coordinator.step(clock += 1s);
    EXPECT_EQ(one.coordinator.figures().rebuilds_begun, 1u) << "a Redis that does not answer tells nothing";
    EXPECT_GE(one.coordinator.figures().looks_without_redis, 3u);
}

TEST_F(CoordinatorTest, ARedisThatCameBackEmptyIsLoadedBehindWhatIsStillOnItsWay) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    for (uint32_t i = 1; i <= 4; ++i) ASSERT_TRUE(buy(i));  // in Kafka; no worker has seen them
    EXPECT_EQ(in_postgres().units_held, 0u);
    server->stop(SIGKILL);
    server->start();
    EXPECT_EQ(in_postgres().units_available, 10u);

    // Without the worker it comes as far as the SEAL, and waits.
    ASSERT_TRUE(run(
        {&one}, [&] { return !is_open(); }, false));
    for (int i = 0; i < 200; ++i) (void)one.coordinator.step(clock += 100ms);
    EXPECT_EQ(now().epoch, 3u);
    ASSERT_TRUE(rebuilt_by(one, 2));
    EXPECT_EQ(now().epoch, 4u);
    EXPECT_EQ(in_redis(), (Stock{10, 6, 4, 0}));
    for (uint32_t i = 5; i <= 10; ++i) ASSERT_TRUE(buy(i));
    EXPECT_EQ(outcome_of(11), ReserveOutcome::sold_out);
    expect_promises_kept();
}

TEST_F(CoordinatorTest, NobodySellsBeforeEveryLeaseOfTheOldEpochHasEnded) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(run({&one}, [&] { return now().epoch == 3; }));
    const pg::BootTime closed_at = clock;
    ASSERT_TRUE(rebuilt_by(one, 2));
    EXPECT_GE(clock - closed_at, lease) << "of the time that was handed in";
    EXPECT_EQ(now().epoch, 4u) << "once, for one word";
    for (int i = 0; i < 20; ++i) (void)one.coordinator.step(clock += 1s);
    EXPECT_EQ(now().epoch, 4u);
}

TEST_F(CoordinatorTest, WhatAGateLeftInTheOutboxOfARedisThatIsWellIsDrained) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_EQ(outcome_of(1), ReserveOutcome::accepted);  // and here its gate dies
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(rebuilt_by(one, 2));
    EXPECT_EQ(reason_of(1), "") << "it has its order";
    EXPECT_EQ(in_redis(), (Stock{10, 9, 1, 0}));
    expect_promises_kept();
}

TEST_F(CoordinatorTest, AWorkersMarkIsAReason) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    // A second purchase on the same take: what a Redis that rolled back under its own name would give out.
    produce_take(2, {.units = 1, .epoch = 2, .sequence = 1, .accepted_at = t0});
    place_all();
    ASSERT_TRUE(rebuilt_by(one, 2));
    EXPECT_EQ(in_redis(), (Stock{10, 8, 2, 0})) << "both were served: there were units";
    expect_promises_kept();
}

// Acknowledged writes are really lost: a copy from before them takes the place.
TEST_F(CoordinatorTest, AStaleCopyInThePlaceOfRedisSellsNothingTwice) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    for (uint32_t i = 1; i <= 3; ++i) ASSERT_TRUE(buy(i));
    {
        RedisSession redis = server->connect();
        ASSERT_FALSE(error_in(*ask(redis, {"SAVE"})));
    }
    for (uint32_t i = 4; i <= 6; ++i) ASSERT_TRUE(buy(i));
    const ItemEpoch before = now();
    const auto late = reserve(7, before);  // its gate is slow: nobody was told yes
    ASSERT_TRUE(late && late->outcome == ReserveOutcome::accepted);
    server->stop(SIGKILL);
    server->start();  // from the snapshot: it knows three
    EXPECT_FALSE(reserve(8, before)) << "fenced: it is not the Redis that the lease names";

    ASSERT_TRUE(rebuilt_by(one, 2));
    for (uint32_t i = 1; i <= 6; ++i) EXPECT_EQ(outcome_of(i), ReserveOutcome::repeated) << i;
    EXPECT_EQ(in_redis(), (Stock{10, 4, 6, 0}));
    produce_take(7, late->take);  // now the slow gate's record comes, behind the SEAL of its epoch
    place_all();
    EXPECT_EQ(reason_of(7), "unknown") << "it waits: its buyer may win with the same key";
    for (uint32_t i = 11; i <= 14; ++i) ASSERT_TRUE(buy(i));
    EXPECT_EQ(outcome_of(15), ReserveOutcome::sold_out);
    expect_promises_kept();
    EXPECT_EQ(in_postgres(), (Stock{10, 0, 10, 0}));

    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(rebuilt_by(one, 4));
    EXPECT_EQ(reason_of(7), reason_late) << "explicitly";
    expect_promises_kept();
}

TEST_F(CoordinatorTest, OfTwoThatRaceOneGetsThroughEachTime) {
    Process one(*this, 1h), two(*this, 1h);
    std::atomic<int64_t> shared_clock{clock.count()};
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (Process* process : {&one, &two}) {
        threads.emplace_back([&, process] {
            while (!is_over) (void)process->coordinator.step(pg::BootTime(shared_clock.load()));
        });
    }
    const auto await_epoch = [&](uint64_t epoch) {
        return run({}, [&] {
            shared_clock = clock.count();
            return is_open() && now().epoch >= epoch;
        });
    };
    EXPECT_TRUE(await_epoch(2));
    for (uint32_t round = 1; round <= 3 && !HasFailure(); ++round) {
        EXPECT_TRUE(buy(round));
        server->stop(SIGKILL);
        server->start();
        EXPECT_TRUE(await_epoch(2 + 2 * round));
        EXPECT_EQ(now().epoch, 2 + 2 * round) << "nobody's work was done twice";
    }
    is_over = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(one.coordinator.figures().rebuilds_done + two.coordinator.figures().rebuilds_done, 4u);
    expect_promises_kept();
}

// One dies before this step, and another takes over; then the first one wakes.
class CoordinatorDies : public CoordinatorTest, public ::testing::WithParamInterface<Step> {};

TEST_P(CoordinatorDies, AnotherOneTakesOverFromTheFirstStepOn) {
    Process one(*this), two(*this);
    ASSERT_TRUE(open_by(one));
    for (uint32_t i = 1; i <= 3; ++i) ASSERT_TRUE(buy(i));
    server->stop(SIGKILL);
    server->start();
    ClusterRebuild dying(means(one), {.partitions = 1, .lease = lease}, now(),
                         ClusterRebuild::Purpose::reopen);
    ASSERT_TRUE(run({}, [&] {
        if (dying.at() == GetParam()) return true;
        const auto stepped = dying.step(clock);
        EXPECT_TRUE(stepped.has_value()) << stepped.error().text();
        return false;
    }));
    ASSERT_TRUE(rebuilt_by(two, 2));
    const ItemEpoch reached = now();
    ASSERT_TRUE(buy(4));
    const Stock stock = in_redis();

    ASSERT_TRUE(run({}, [&] {
        if (dying.is_over()) return true;
        const auto stepped = dying.step(clock);
        EXPECT_TRUE(stepped.has_value()) << stepped.error().text();
        return false;
    }));
    EXPECT_EQ(name_of(dying.at()), GetParam() == Step::done ? "done" : "lost");
    EXPECT_EQ(now().epoch, reached.epoch) << "it undoes nothing";
    EXPECT_EQ(now().pin, reached.pin);
    EXPECT_EQ(in_redis(), stock);
    for (uint32_t i = 5; i <= 10; ++i) ASSERT_TRUE(buy(i));
    expect_promises_kept();
    EXPECT_EQ(in_postgres(), (Stock{10, 0, 10, 0}));
}

INSTANTIATE_TEST_SUITE_P(Before, CoordinatorDies,
                         ::testing::Values(Step::close_epoch, Step::await_leases, Step::drain, Step::seal,
                                           Step::await_seals, Step::cut, Step::load, Step::open, Step::done),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_F(CoordinatorTest, TheEndOfASaleStandsBehindItsSeal) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    ASSERT_EQ(outcome_of(2), ReserveOutcome::accepted);  // and here its gate dies
    const ItemEpoch before = now();
    connection.run("UPDATE sales SET state = 'closed', version = version + 1");
    ASSERT_TRUE(run({&one}, [&] { return one.coordinator.figures().rebuilds_done == 2; }));
    EXPECT_FALSE(is_open());
    EXPECT_EQ(now().epoch, 3u);
    EXPECT_EQ(reserve(3, before).value().outcome, ReserveOutcome::ended);
    place_all();
    EXPECT_EQ(reason_of(1), "");
    EXPECT_EQ(reason_of(2), "") << "accepted before: it stands";
    EXPECT_EQ(in_postgres(), (Stock{10, 8, 2, 0}));
    // What comes behind has no next SEAL to wait for.
    produce_take(9, {.units = 1, .epoch = 2, .sequence = 9, .accepted_at = t0});
    place_all();
    EXPECT_EQ(reason_of(9), reason_late);
    for (int i = 0; i < 50; ++i) (void)one.coordinator.step(clock += 1s);
    EXPECT_EQ(now().epoch, 3u) << "that is the end";
}

TEST_F(CoordinatorTest, AnEndThatNobodyFinishedIsTakenOver) {
    Process one(*this), two(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    connection.run("UPDATE sales SET state = 'closed', version = version + 1");
    ASSERT_TRUE(run({&one}, [&] { return now().epoch == 3; }));  // and here it dies
    ASSERT_TRUE(run({&two}, [&] { return two.coordinator.figures().rebuilds_done == 1; }));
    EXPECT_EQ(now().epoch, 4u);
    EXPECT_EQ(reason_of(1), "");
}

}  // namespace
}  // namespace doorbuster
