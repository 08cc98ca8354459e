#include "store_cluster/cluster_rebuild.hpp"

#include <gtest/gtest.h>

#include "store_cluster/cluster_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using Step = ClusterRebuild::Step;
using RebuildTest = WithCluster;

TEST_F(RebuildTest, ARedisThatGoesBetweenTheLoadAndTheOpeningIsLoadedAgain) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    ClusterRebuild rebuild(means(one), {.partitions = 1, .lease = lease}, now(),
                           ClusterRebuild::Purpose::reopen);
    const auto reaches = [&](Step step) {
        return run({}, [&] {
            if (rebuild.at() == step) return true;
            (void)rebuild.step(clock);  // an error: the connection went with the Redis
            return false;
        });
    };
    ASSERT_TRUE(reaches(Step::open));
    server->stop(SIGKILL);
    server->start();
    ASSERT_TRUE(reaches(Step::load));
    ASSERT_TRUE(reaches(Step::done));
    EXPECT_EQ(now().epoch, 4u);
    ASSERT_TRUE(buy(2)) << "the pin is that of the Redis that is there";
    expect_promises_kept();
}

// A connection to a real Redis; once, nobody hears what Redis says to the load of a book.
class LosesAnAnswer final : public RedisCalls {
public:
    LosesAnAnswer(std::unique_ptr<RedisCalls> calls, bool& has_lost)
        : calls_(std::move(calls)), has_lost_(has_lost) {}

    RedisResult<RedisReplyPtr> run(const RedisCall& call) override {
        auto reply = calls_->run(call);
        if (has_lost_ || call.size() < 2 || call[1] != "doorbuster_load") return reply;
        has_lost_ = is_broken_ = true;
        return RedisError{RedisErrc::late, "no answer in time", true};
    }
    bool is_broken() const override { return is_broken_ || calls_->is_broken(); }

private:
    const std::unique_ptr<RedisCalls> calls_;
    bool& has_lost_;
    bool is_broken_ = false;
};

TEST_F(RebuildTest, ALoadWhoseAnswerWasLostIsFoundToHaveLanded) {
    Process one(*this);
    ASSERT_TRUE(open_by(one));
    ASSERT_TRUE(buy(1));
    bool has_lost = false;
    RedisCaller redis({.address = server->address(),
                       .setup = server->address(),
                       .wait_max = redis_wait_max,
                       .open = [&](const RedisAddress& address, std::chrono::milliseconds wait_max)
                           -> RedisResult<std::unique_ptr<RedisCalls>> {
                           auto opened = RedisCaller::open_session(address, wait_max);
                           if (!opened) return opened.error();
                           return std::unique_ptr<RedisCalls>(
                               std::make_unique<LosesAnAnswer>(std::move(*opened), has_lost));
                       }});
    ClusterRebuild rebuild({one.connection, redis, *records}, {.partitions = 1, .lease = lease}, now(),
                           ClusterRebuild::Purpose::reopen);
    ASSERT_TRUE(run({}, [&] {
        if (rebuild.at() == Step::load) return true;
        EXPECT_TRUE(rebuild.step(clock).has_value());
        return false;
    }));
    EXPECT_FALSE(rebuild.step(clock).has_value()) << "no answer";
    EXPECT_EQ(name_of(rebuild.at()), "load");
    RedisSession session = server->connect();
    EXPECT_EQ(read_peek(*ask(session, peek_call(bucket)))->book.value().epoch, now().epoch) << "it is there";
    ASSERT_TRUE(run({}, [&] {
        if (rebuild.is_over()) return true;
        EXPECT_TRUE(rebuild.step(clock).has_value());
        return false;
    }));
    EXPECT_EQ(name_of(rebuild.at()), "done");
    expect_promises_kept();
}

// One dies before this step, and another takes over; then the first one wakes.
class CoordinatorDies : public WithCluster, public ::testing::WithParamInterface<Step> {};

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

}  // namespace
}  // namespace doorbuster
