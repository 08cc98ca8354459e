// The embedded store passes the contracts of its ports.
#include <fmt/format.h>

#include <unordered_map>

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
    virtual ~SqliteLedgerFixture() = default;
    Ledger& ledger() { return *ledger_; }
    LedgerReader& reader() { return *reader_; }
    void reopen() {
        reader_.reset();
        ledger_.reset();
        ledger_ = std::move(*SqliteLedger::open(folder_.path("ledger.db")));
        reader_ = std::move(*SqliteLedgerReader::open(folder_.path("ledger.db"), tail()));
    }

private:
    testing::TemporaryFolder folder_;

protected:
    virtual std::shared_ptr<LedgerTail> tail() { return nullptr; }
    std::unique_ptr<SqliteLedger> ledger_;

private:
    std::unique_ptr<SqliteLedgerReader> reader_;
};

// As the worker reads: what is new comes from memory.
class SqliteTailFixture : public SqliteLedgerFixture {
public:
    SqliteTailFixture() { reopen(); }

private:
    std::shared_ptr<LedgerTail> tail() override { return ledger_->tail(); }
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
INSTANTIATE_TYPED_TEST_SUITE_P(SqliteTail, LedgerReaderContract, SqliteTailFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, LedgerContract, SqliteLedgerFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, OrdersContract, SqliteOrdersFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, SettingsContract, SqliteOrdersFixture);

// The index knows buyers by a number that two may share.
TEST(SqliteOrders, BuyersOfOneKeyAreNotTakenForEachOther) {
    std::unordered_map<int64_t, std::string> names;
    std::string one, other;
    for (int n = 0; other.empty(); ++n) {
        const std::string name = fmt::format("buyer-{}", n);
        const auto [known, is_new] = names.try_emplace(sqlite::buyer_key(name), name);
        if (!is_new) one = known->second, other = name;
    }
    SqliteOrdersFixture fixture;
    ASSERT_TRUE(fixture.orders().create_sale(testing::phone_drop(), SaleState::scheduled, testing::t0));
    auto place = [&](uint64_t position, const std::string& buyer) {
        const Placement placement{{.position = position,
                                   .entry = LedgerEntry{SaleId("phone-drop"),
                                                        ItemId("phone"),
                                                        {testing::purchase(static_cast<uint32_t>(position)),
                                                         BuyerId(buyer), 1, position, testing::t0}},
                                   .raw = {}},
                                  OrderId{static_cast<int64_t>(position)}};
        return fixture.orders().place(position - 1, {&placement, 1}, testing::t0).value().front();
    };
    EXPECT_EQ(place(1, one), Placed::ordered);
    EXPECT_EQ(place(2, other), Placed::ordered);
    EXPECT_EQ(place(3, one), Placed::cancelled) << "one has as many as one may";
    const auto mine = fixture.reader().orders_of(BuyerId(other), {}, 10).value();
    ASSERT_EQ(mine.size(), 1u);
    EXPECT_EQ(mine.front().id, OrderId{2});
}

}  // namespace
}  // namespace doorbuster
