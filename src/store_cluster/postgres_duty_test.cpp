#include "store_cluster/postgres_duty.hpp"

#include <gtest/gtest.h>

#include "store/contract_testing.hpp"
#include "store_cluster/ledger_pin.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/purchase_changes.hpp"

namespace doorbuster {
namespace {

using namespace testing;

class PostgresDuty : public ::testing::Test {
protected:
    void end_session(std::string_view application) {
        connection.run(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = $1",
            pg::Params().add(application));
    }
    pg::ConnectionOptions named(const std::string& application) {
        pg::ConnectionOptions options = database.options();
        options.application = application;
        return options;
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
};

TEST_F(PostgresDuty, OneIsOnDutyUntilItsConnectionEnds) {
    Duty first(named("first")), second(named("second"));
    ASSERT_TRUE(first.look().has_value());
    ASSERT_TRUE(second.look().has_value());
    EXPECT_TRUE(first.is_on());
    EXPECT_FALSE(second.is_on());
    ASSERT_TRUE(first.look().has_value());
    EXPECT_TRUE(first.is_on()) << "it stays";

    end_session("first");
    ASSERT_TRUE(second.look().has_value());
    EXPECT_TRUE(second.is_on());
    // The first notices, or makes a connection anew; either way the duty is the other's.
    (void)first.look();
    ASSERT_TRUE(first.look().has_value());
    EXPECT_FALSE(first.is_on());
}

TEST_F(PostgresDuty, APartitionCountIsPinnedByTheFirst) {
    EXPECT_EQ(*pin_partitions(connection, 4), 4u);
    EXPECT_EQ(*pin_partitions(connection, 8), 4u);
}

TEST_F(PostgresDuty, TheMarkOfTheSalesMovesWithEveryChange) {
    const int64_t none = *orders->sales_mark();
    const auto created = orders->create_sale(phone_drop(), SaleState::scheduled, t0);
    ASSERT_TRUE(created.has_value());
    const int64_t with_one = *orders->sales_mark();
    EXPECT_NE(with_one, none);
    SaleRecord changed = *created;
    changed.state = SaleState::warming;
    ASSERT_TRUE(orders->change_sale(changed, false, t0).has_value());
    EXPECT_NE(*orders->sales_mark(), with_one);
}

TEST_F(PostgresDuty, ADoubtEndsItsOwnEpochOnly) {
    ASSERT_TRUE(orders->create_sale(phone_drop(), SaleState::open, t0).has_value());
    PostgresEpochs epochs(connection);
    const ItemEpoch phone = epochs.watch()->front().now;
    ASSERT_TRUE(epochs.doubt(phone, "a repair").has_value());
    EXPECT_EQ(epochs.watch()->front().asked_for, "a repair");
    ASSERT_TRUE(epochs.close(phone.sale, phone.item, phone.epoch)->has_value());
    ASSERT_TRUE(epochs.doubt(phone, "too late").has_value());
    EXPECT_EQ(epochs.watch()->front().asked_for, "");
}

TEST_F(PostgresDuty, ChangedPurchasesAreToldOnce) {
    ASSERT_TRUE(orders->create_sale(phone_drop(), SaleState::open, t0).has_value());
    pg::Pool pool({.connection = database.options(), .connections = 1, .overflow_max = 1});
    PurchaseChanges changes(pool);
    EXPECT_TRUE(changes.take()->empty()) << "what was before is nobody's news";
    const LedgerEntry taken = entry(1);
    const std::vector<Placement> placed{placement(1, taken)};
    ASSERT_TRUE(orders->place(0, placed, t0).has_value());
    EXPECT_EQ(*changes.take(), std::vector{taken.acceptance.purchase});
    EXPECT_TRUE(changes.take()->empty());
}

}  // namespace
}  // namespace doorbuster
