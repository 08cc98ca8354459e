// What the embedded store costs per purchase, without the gate: the ledger in the batches of a
// crowd, the orders in those of the worker. CPU of the whole process, kernel included; buyers and
// purchases come scattered, as people and hashes do.
//
// Every run inserts the same number of purchases into an empty store, so that the trees are as
// deep in one run as in the next.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <fstream>

#include "base/check.hpp"
#include "sale/testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

constexpr int64_t purchases_per_run = 200'000;

// One to one and scattered (splitmix64): the same crowd in every run.
uint64_t scattered(uint64_t number) {
    uint64_t z = number * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

LedgerEntry entry(uint64_t number) {
    PurchaseId purchase;
    for (size_t i = 0; i < purchase.bytes.size(); ++i) {
        purchase.bytes[i] = static_cast<uint8_t>(scattered(number * 2 + i / 8) >> (i % 8 * 8));
    }
    return {SaleId("sale-in-stock"),
            ItemId("phone"),
            {purchase, BuyerId(fmt::format("buyer-{:016x}", scattered(~number))), 1, number,
             testing::t0 + milliseconds(number / 20)}};
}

// What the process wrote so far, in calls and bytes: unlike time, the same on a busy machine.
struct Written {
    uint64_t calls = 0, bytes = 0;

    static Written now() {
        Written written;
        std::ifstream io("/proc/self/io");
        uint64_t value = 0;
        for (std::string name; io >> name >> value;) {
            if (name == "syscw:") written.calls = value;
            if (name == "wchar:") written.bytes = value;
        }
        return written;
    }
};

class PerPurchase {
public:
    explicit PerPurchase(benchmark::State& state) : state_(state), before_(Written::now()) {}
    ~PerPurchase() {
        const Written after = Written::now();
        const auto count = static_cast<double>(state_.iterations() * state_.range(0));
        // Inverted rates are seconds per purchase.
        state_.counters["cpu"] =
            benchmark::Counter(count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
        state_.counters["writes"] = static_cast<double>(after.calls - before_.calls) / count;
        state_.counters["bytes"] = static_cast<double>(after.bytes - before_.bytes) / count;
    }

private:
    benchmark::State& state_;
    const Written before_;
};

void ledger(benchmark::State& state) {
    testing::TemporaryFolder folder;
    const auto opened = SqliteLedger::open(folder.path("ledger.db"));
    CHECK(opened.has_value());
    std::vector<LedgerEntry> batch;
    uint64_t number = 0;
    const PerPurchase counted(state);
    for (auto _ : state) {
        batch.clear();
        for (int64_t i = 0; i < state.range(0); ++i) batch.push_back(entry(++number));
        CHECK((*opened)->append(batch).has_value());
    }
}

void orders(benchmark::State& state) {
    testing::TemporaryFolder folder;
    const auto opened = SqliteOrders::open(folder.path("orders.db"));
    CHECK(opened.has_value());
    Sale sale = testing::phone_drop(units_max);
    sale.id = SaleId("sale-in-stock");
    CHECK((*opened)->create_sale(sale, SaleState::scheduled, testing::t0).has_value());
    std::vector<Placement> batch;
    uint64_t position = 0;
    const PerPurchase counted(state);
    for (auto _ : state) {
        const uint64_t before = position;
        batch.clear();
        for (int64_t i = 0; i < state.range(0); ++i) {
            ++position;
            batch.push_back({{.position = position, .entry = entry(position), .raw = {}},
                             OrderId{static_cast<int64_t>(position << 20)}});
        }
        CHECK((*opened)->place(before, batch, testing::t0).has_value());
    }
}

void measure(const char* name, void (*run)(benchmark::State&), std::initializer_list<int64_t> batches) {
    for (const int64_t batch : batches) {
        benchmark::RegisterBenchmark(name, run)
            ->Arg(batch)
            ->Iterations(purchases_per_run / batch)
            ->MeasureProcessCPUTime();
    }
}

}  // namespace
}  // namespace doorbuster

int main(int count, char** arguments) {
    doorbuster::measure("ledger", doorbuster::ledger, {96, 256, 1024});
    doorbuster::measure("orders", doorbuster::orders, {256, 1024, 4096, 8192, 16384, 32768});
    benchmark::Initialize(&count, arguments);
    if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
    benchmark::RunSpecifiedBenchmarks();
}
