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

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, OutboxContract, SqliteOutboxFixture);

}  // namespace
}  // namespace doorbuster
