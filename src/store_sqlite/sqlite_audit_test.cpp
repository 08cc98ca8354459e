// The embedded store passes the contract of the audit's store.
#include "store/audit_contract.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

class SqliteAuditFixture {
public:
    SqliteAuditFixture()
        : orders_(std::move(*SqliteOrders::open(folder_.path("orders.db")))),
          reader_(std::move(*SqliteAuditReader::open(folder_.path("orders.db")))) {}
    Orders& orders() { return *orders_; }
    AuditStore& audit() { return orders_->audit(); }
    AuditReader& reader() { return *reader_; }

private:
    testing::TemporaryFolder folder_;
    std::unique_ptr<SqliteOrders> orders_;
    std::unique_ptr<SqliteAuditReader> reader_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, AuditContract, SqliteAuditFixture);

}  // namespace
}  // namespace doorbuster
