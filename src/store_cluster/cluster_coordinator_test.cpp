// Redis is lost in every way that it can be, coordinators race, and no promise breaks.
#include "store_cluster/cluster_coordinator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "store_cluster/cluster_testing.hpp"
#include "store_cluster/cutting_proxy_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using CoordinatorTest = WithCluster;

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
    ASSERT_TRUE(run({&one}, [&] { return !is_open(); }));
    RedisSession operators = server->connect();  // a connection may end while nobody uses it
    ASSERT_FALSE(error_in(*ask(operators, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"})));
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

// Between the SEAL of a rebuild and its cut the coordinator dies, and the operator closes the sale.
TEST_F(CoordinatorTest, WhatCameBehindTheSealOfARebuildIsCancelledWhenTheSaleEndsThere) {
    Process one(*this), two(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    const auto late = reserve(2, now());  // its gate is slow
    ASSERT_TRUE(late && late->outcome == ReserveOutcome::accepted);
    server->stop(SIGKILL);
    server->start();
    ClusterRebuild dying(means(one), {.partitions = 1, .lease = lease}, now(),
                         ClusterRebuild::Purpose::reopen);
    ASSERT_TRUE(run({}, [&] {
        if (dying.at() == ClusterRebuild::Step::cut) return true;
        (void)dying.step(clock);  // an error: the connection went with the Redis
        return false;
    }));
    produce_take(2, late->take);
    place_all();
    ASSERT_EQ(count("SELECT count(*) FROM late_records"), 1);
    connection.run("UPDATE sales SET state = 'closed', version = version + 1");
    ASSERT_TRUE(run({&two}, [&] { return reason_of(2) == reason_late; }));
    EXPECT_EQ(count("SELECT count(*) FROM late_records"), 0);
    EXPECT_EQ(reason_of(1), "");
    ASSERT_TRUE(run({&two}, [&] { return two.coordinator.figures().rebuilds_done == 1; }));
    const uint64_t ended = now().epoch;
    for (int i = 0; i < 100; ++i) (void)two.coordinator.step(clock += 1s);
    EXPECT_EQ(now().epoch, ended) << "that is the end";
}

TEST_F(CoordinatorTest, RebuildsThatWentWellMakeNobodyWaitLongerForTheNext) {
    // The clock runs on while Kafka takes its time: nobody is to take over for that.
    constexpr milliseconds takeover_after = 24h;
    Process one(*this, takeover_after), two(*this, takeover_after);
    ASSERT_TRUE(open_by(one));
    // Both look at the same times, and `one` first.
    const auto look_at_both = [&] {
        clock += 1s;
        for (Process* process : {&one, &two}) (void)process->coordinator.step(clock);
    };
    look_at_both();
    for (int rebuilds = 0; rebuilds < 4; ++rebuilds) {
        const uint64_t before = now().epoch;
        ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
        ASSERT_TRUE(run({&one, &two}, [&] { return is_open() && now().epoch > before; }));
        look_at_both();
    }
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(run({&one, &two}, [&] { return !is_open(); }));  // and here it dies
    (void)two.coordinator.step(clock += 1s);
    ASSERT_EQ(two.coordinator.figures().rebuilds_begun, 0u);
    (void)two.coordinator.step(clock += takeover_after);
    EXPECT_EQ(two.coordinator.figures().rebuilds_begun, 1u) << "not twice as long, or longer";
    ASSERT_TRUE(run({&two}, [&] { return is_open(); }));
    expect_promises_kept();
}

TEST_F(CoordinatorTest, TwoThatTakeASlowRebuildFromEachOtherLetItComeToItsEnd) {
    Process one(*this, 2s), two(*this, 2s);  // the leases alone are waited for for longer
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(epochs.ask_for_rebuild(sale, item, "the operator's word").has_value());
    ASSERT_TRUE(run({&one, &two}, [&] { return is_open() && now().epoch > 2; }));
    EXPECT_GE(two.coordinator.figures().rebuilds_begun, 1u) << "it was taken over";
    expect_promises_kept();
}

TEST_F(CoordinatorTest, WhatItsOwnUnknownStepLeftIsTakenUpAtOnce) {
    CuttingProxy proxy(CuttingProxy::Cut::after_it_landed);
    Process one(*this, 1h, proxy.options(database));
    ASSERT_TRUE(run({&one}, [&] { return one.coordinator.figures().rebuilds_lost == 1; }));
    ASSERT_TRUE(proxy.has_cut());
    EXPECT_EQ(now().epoch, 1u) << "it was closed, and nobody heard of it";
    const pg::BootTime lost_at = clock;
    ASSERT_TRUE(run({&one}, [&] { return one.coordinator.figures().rebuilds_begun == 2; }));
    EXPECT_LE(clock - lost_at, 1s) << "by the next look";
    ASSERT_TRUE(run({&one}, [&] { return is_open(); }));
    expect_promises_kept();
}

}  // namespace
}  // namespace doorbuster
