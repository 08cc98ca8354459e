#include "store_cluster/lease_keeper.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "sale/testing.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class LeaseKeeperTest : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(database.open()->create_sale(phone_drop(), SaleState::open, t0).has_value());
    }
    LeaseKeeper::Granted keep() {
        return [this](std::shared_ptr<const EpochLease> lease) {
            std::lock_guard lock(mutex);
            last = std::move(lease);
            ++grants;
        };
    }
    bool holds() {
        std::lock_guard lock(mutex);
        return last && last->holds();
    }
    template <class Happened>
    void await(Happened happened, const char* what) {
        for (const Patience patience; !happened(); patience.check(what)) usleep(1000);
    }

    TestDatabase database;
    std::mutex mutex;
    std::shared_ptr<const EpochLease> last;  // guarded by mutex
    std::atomic<uint64_t> grants{0};
};

TEST_F(LeaseKeeperTest, ALeaseIsKeptFreshAndShowsWhatHasChanged) {
    LeaseKeeper keeper(database.options(), {.holder = "test", .lasts = 1min}, keep());
    keeper.start();
    await([&] { return grants == 1; }, "no lease");
    EXPECT_TRUE(holds());
    ASSERT_EQ(last->items().size(), 1u);
    EXPECT_EQ(last->items().front().sale, SaleId("phone-drop"));
    const uint64_t epoch = last->items().front().epoch;

    pg::Connection connection(database.options());
    ASSERT_TRUE(PostgresEpochs(connection).close(SaleId("phone-drop"), ItemId("phone"), epoch)->has_value());
    keeper.ask_soon();
    await([&] { return grants == 2; }, "no second lease");
    EXPECT_EQ(last->items().front().epoch, epoch + 1);
    EXPECT_FALSE(last->items().front().pin);
    keeper.stop();
}

TEST_F(LeaseKeeperTest, WithoutPostgresTheLeaseRunsOutAndComesBackWithIt) {
    // It is also the bound on every question, the first connection's included.
    constexpr milliseconds lasts = 5s;
    LeaseKeeper keeper(database.options(), {.holder = "test", .lasts = lasts, .asks_per_lease = 100}, keep());
    keeper.start();
    await([&] { return grants >= 3; }, "it is not asked for again");
    postgres().stop();
    const uint64_t before = grants;
    await([&] { return !holds(); }, "a lease without an end");
    EXPECT_LE(grants, before + 1) << "at most one that was under way";
    postgres().start();
    await([&] { return grants > before + 1; }, "it does not come back");
    keeper.stop();
}

}  // namespace
}  // namespace doorbuster
