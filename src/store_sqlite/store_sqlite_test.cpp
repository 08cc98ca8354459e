// The embedded store passes the contracts of its ports.
#include "store/ledger_contract.hpp"
#include "store/orders_contract.hpp"
#include "store/settings_contract.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

class SqliteLedgerFixture {
public:
    SqliteLedgerFixture() { reopen(); }
    Ledger& ledger() { return *ledger_; }
    LedgerReader& reader() { return *reader_; }
    void reopen() {
        reader_.reset();
        ledger_.reset();
        ledger_ = std::move(*SqliteLedger::open(folder_.path("ledger.db")));
        reader_ = std::move(*SqliteLedgerReader::open(folder_.path("ledger.db")));
    }

private:
    testing::TemporaryFolder folder_;
    std::unique_ptr<SqliteLedger> ledger_;
    std::unique_ptr<SqliteLedgerReader> reader_;
};

class SqliteOrdersFixture {
public:
    SqliteOrdersFixture() { reopen(); }
    Orders& orders() { return *orders_; }
    OrdersReader& reader() { return *reader_; }
    Settings& settings() { return orders_->settings(); }
    void reopen() {
        reader_.reset();
        orders_.reset();
        orders_ = std::move(*SqliteOrders::open(path()));
        reader_ = std::move(*SqliteOrdersReader::open(path()));
    }
    void wipe() {
        ++lives_;
        reopen();
    }

private:
    std::string path() const { return folder_.path("orders-" + std::to_string(lives_) + ".db"); }

    testing::TemporaryFolder folder_;
    int lives_ = 0;
    std::unique_ptr<SqliteOrders> orders_;
    std::unique_ptr<SqliteOrdersReader> reader_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LedgerReaderContract, SqliteLedgerFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LedgerContract, SqliteLedgerFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, OrdersContract, SqliteOrdersFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, SettingsContract, SqliteOrdersFixture);

}  // namespace
}  // namespace doorbuster
