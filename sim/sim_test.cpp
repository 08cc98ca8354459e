// The simulated stores pass the contracts of the real ones, and a seed is a seed.
#include "sim/memory_ledger.hpp"
#include "sim/memory_orders.hpp"
#include "sim/memory_outbox.hpp"
#include "sim/run.hpp"
#include "store/ledger_contract.hpp"
#include "store/orders_contract.hpp"
#include "store/outbox_contract.hpp"

namespace doorbuster {
namespace {

class SoundDisk {
protected:
    sim::Random random_{1};
    sim::Disk disk_{random_, {}};
};

class MemoryLedgerFixture : SoundDisk {
public:
    MemoryLedgerFixture() { reopen(); }
    Ledger& ledger() { return *ledger_; }
    LedgerReader& reader() { return reader_; }
    void reopen() { ledger_ = std::make_unique<sim::MemoryLedger>(state_, disk_); }

private:
    sim::LedgerState state_;
    std::unique_ptr<sim::MemoryLedger> ledger_;
    sim::MemoryLedgerReader reader_{state_, disk_};
};

class MemoryOrdersFixture : SoundDisk {
public:
    MemoryOrdersFixture() { reopen(); }
    Orders& orders() { return *orders_; }
    OrdersReader& reader() { return reader_; }
    Outbox& outbox() { return outbox_; }
    void reopen() { orders_ = std::make_unique<sim::MemoryOrders>(state_, disk_); }
    void wipe() {
        state_ = {};
        reopen();
    }

private:
    sim::OrdersState state_;
    std::unique_ptr<sim::MemoryOrders> orders_;
    sim::MemoryOrdersReader reader_{state_, disk_};
    sim::MemoryOutbox outbox_{state_, disk_};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, LedgerReaderContract, MemoryLedgerFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, LedgerContract, MemoryLedgerFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, OrdersContract, MemoryOrdersFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, OutboxContract, MemoryOrdersFixture);

class SaleSimulation : public ::testing::TestWithParam<uint64_t> {};

TEST_P(SaleSimulation, KeepsEveryPromiseThroughCrashesAndLostAcks) {
    const sim::Result result = sim::run(GetParam());
    for (const std::string& what : result.broken) ADD_FAILURE() << what;
    EXPECT_GT(result.coverage.commands, 0u) << "replay: doorbuster-sim --seed=" << GetParam() << " --trace";
}

TEST_P(SaleSimulation, ASeedReplaysExactly) {
    const sim::Result first = sim::run(GetParam()), second = sim::run(GetParam());
    EXPECT_EQ(first.fingerprint, second.fingerprint);
    EXPECT_EQ(first.coverage.commands, second.coverage.commands);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SaleSimulation, ::testing::Range<uint64_t>(1, 51));

}  // namespace
}  // namespace doorbuster
