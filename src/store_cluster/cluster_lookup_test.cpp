#include "store_cluster/cluster_lookup.hpp"

#include <gtest/gtest.h>

#include "store_cluster/cluster_books_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

class ClusterLookupTest : public ClusterFixture {
protected:
    // As GET /v1/purchases/{id}, behind a first look into PostgreSQL that had nothing.
    StoreResult<std::optional<LedgerRecord>> look_up(uint32_t number) {
        return lookup.find_after(0, purchase(number));
    }
    bool is_known(uint32_t number) {
        const auto found = look_up(number);
        EXPECT_TRUE(found.has_value()) << found.error().text();
        return found.has_value() && found->has_value();
    }

    pg::Pool pool{{.connection = database.options(), .connections = 1, .overflow_max = 1}};
    std::shared_ptr<const EpochLease> held;
    ClusterLookup lookup{
        {.redis = server.address(), .redis_wait_max = redis_wait_max}, pool, [this] { return held; }};
};

TEST_F(ClusterLookupTest, WhatIsOnItsWayToPostgresIsFoundInRedis) {
    create(10);
    Gate& gate = add_gate();
    held = lease();
    EXPECT_FALSE(is_known(1));
    expect_outcome(buy(gate, 1, alice), accepted);
    await_outbox(0);
    const auto found = look_up(1);
    ASSERT_TRUE(found.has_value() && found->has_value());
    const LedgerEntry& entry = *(*found)->entry;
    EXPECT_EQ(entry.acceptance.buyer, alice);
    EXPECT_EQ(entry.acceptance.sequence, 1u);
    EXPECT_EQ(entry.item, item);
}

TEST_F(ClusterLookupTest, WhatPostgresGotMeanwhileIsFoundThere) {
    create(10);
    held = lease();
    const std::vector batch{placement(1, entry(1))};
    ASSERT_TRUE(orders->place(0, batch, t0).has_value());
    EXPECT_TRUE(is_known(1)) << "Redis never had it";
    EXPECT_FALSE(is_known(2));
}

TEST_F(ClusterLookupTest, ABookThatIsYoungerThanTheLeaseMayHaveIt) {
    held = lease();
    ASSERT_TRUE(held->items().empty());
    create(10);  // and others, who have a newer lease, sell from it
    const auto unknown = look_up(1);
    ASSERT_FALSE(unknown.has_value());
    EXPECT_TRUE(unknown.error().outcome_unknown);
    held = lease();
    EXPECT_FALSE(is_known(1));
}

TEST_F(ClusterLookupTest, InDoubtNobodyHearsThatThereIsNone) {
    create(10);
    EXPECT_FALSE(look_up(1).has_value()) << "no lease";
    held = lease(0ms);
    EXPECT_FALSE(look_up(1).has_value()) << "it is over";
    held = lease();
    EXPECT_FALSE(is_known(1));

    // In the outbox only: nobody was told yes for it.
    RedisSession redis = server.connect();
    const std::vector<ReserveEntry> taken{{.purchase = purchase(7), .buyer = alice}};
    (void)ask(redis, reserve_call(bucket, fence, taken));
    const auto pending = look_up(7);
    ASSERT_FALSE(pending.has_value());
    EXPECT_TRUE(pending.error().outcome_unknown);

    ASSERT_TRUE((*epochs.close(sale, item, fence.epoch)).has_value());
    EXPECT_FALSE(is_known(1)) << "its lease still holds: nobody has moved on";
    held = lease();
    EXPECT_FALSE(look_up(1).has_value()) << "it is being rebuilt";
    rebuild();
    held = lease();
    EXPECT_FALSE(is_known(1));
    (void)ask(redis, {"FLUSHALL"});
    EXPECT_FALSE(look_up(1).has_value()) << "fenced";
    server.stop();
    EXPECT_FALSE(look_up(1).has_value()) << "no answer";
    server.start();
    EXPECT_FALSE(look_up(1).has_value()) << "nothing in it";
    rebuild();
    held = lease();
    EXPECT_FALSE(is_known(1));
}

}  // namespace
}  // namespace doorbuster
