// The embedded store passes the contract of the outbox.
#include "store/outbox_contract.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

class SqliteOutboxFixture {
public:
    SqliteOutboxFixture() { reopen(); }
    Orders& orders() { return *orders_; }
    Outbox& outbox() { return orders_->outbox(); }
    void reopen() {
        orders_.reset();
        orders_ = std::move(*SqliteOrders::open(folder_.path("orders.db")));
    }

private:
    testing::TemporaryFolder folder_;
    std::unique_ptr<SqliteOrders> orders_;
};

// What found nothing is not looked for again until something was written: it must be found then.
TEST(SqliteOutbox, FindsWhatCameAfterALookForNothing) {
    using namespace testing;
    SqliteOutboxFixture fixture;
    ASSERT_TRUE(fixture.orders().create_sale(phone_drop(2), SaleState::open, t0).has_value());
    const auto take = [&](bool deliver) { return *fixture.outbox().take_events(100, deliver, t0); };
    while (take(false) > 0) {
    }
    const auto place = [&](uint64_t position, uint64_t expected_position) {
        std::vector<Placement> batch;
        batch.push_back({{.position = position, .entry = entry(static_cast<uint32_t>(position), alice)},
                         OrderId{static_cast<int64_t>(position)}});
        return fixture.orders().place(expected_position, batch, t0);
    };
    EXPECT_EQ(take(true), 0u);
    ASSERT_FALSE(place(2, 1).has_value()) << "rolled back: the worker is not at 1";
    EXPECT_EQ(take(true), 0u);
    ASSERT_TRUE(place(1, 0).has_value());
    EXPECT_EQ(take(true), 1u);
    EXPECT_EQ(take(true), 0u);
    fixture.reopen();
    EXPECT_EQ(take(true), 0u);
    ASSERT_TRUE(fixture.orders().tell_sold_out(phone_drop(2).id, true, t0).has_value());
    EXPECT_EQ(take(false), 1u);
}

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, OutboxContract, SqliteOutboxFixture);

}  // namespace
}  // namespace doorbuster
