#include "orders/worker.hpp"

#include <gtest/gtest.h>

#include "orders/lookups.hpp"
#include "store/contract_testing.hpp"
#include "store_sqlite/sqlite_ledger.hpp"
#include "store_sqlite/sqlite_orders.hpp"
#include "store_sqlite/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using Next = OrderWorker::Next;

struct RecordingBooks final : BookControl {
    std::vector<PurchaseId> released;
    void control(ControlCommand command, std::function<void()> applied) override {
        released.push_back(std::get<ReleasePurchase>(command).purchase);
        if (applied) applied();
    }
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)> answered) override {
        answered({});
    }
};

class WorkerTest : public ::testing::Test {
protected:
    WorkerTest() { EXPECT_TRUE(orders->create_sale(phone_drop(100), SaleState::scheduled, t0).has_value()); }

    void append(std::vector<LedgerEntry> entries) { ASSERT_TRUE(ledger->append(entries).has_value()); }
    OrderWorker worker(OrderWorker::Options options = {}) { return {*reader, *orders, books, ids, options}; }
    // Steps until there is nothing left to do, going along with every wait; tells how long it
    // waited. The time of day stands still meanwhile: nothing may wait for it.
    Uptime run(OrderWorker& worker, Uptime from = 1min) {
        Uptime uptime = from;
        for (;;) {
            const auto next = worker.step(t0, uptime);
            EXPECT_TRUE(next.has_value());
            if (!next || *next == Next::idle) return uptime - from;
            if (*next == Next::at_later) uptime = worker.wait_until();
        }
    }
    // Purchases come in all the time for so long; tells when it ended.
    Uptime rush(OrderWorker& worker, Uptime uptime, Uptime lasts) {
        for (const Uptime end = uptime + lasts; uptime < end; uptime += 10ms) {
            worker.ledger_grew(uptime);
            EXPECT_TRUE(worker.step(t0 + 1s, uptime).has_value());
        }
        return uptime;
    }
    std::vector<LedgerEntry> buyers(uint32_t from, uint32_t to) {
        std::vector<LedgerEntry> entries;
        for (uint32_t i = from; i <= to; ++i)
            entries.push_back(entry(i, BuyerId("buyer-" + std::to_string(i))));
        return entries;
    }

    TemporaryFolder folder;
    std::unique_ptr<SqliteOrders> orders = std::move(*SqliteOrders::open(folder.path("orders.db")));
    std::unique_ptr<SqliteLedger> ledger = std::move(*SqliteLedger::open(folder.path("ledger.db")));
    std::unique_ptr<SqliteLedgerReader> reader =
        std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    RecordingBooks books;
    Snowflake ids{1};
};

TEST_F(WorkerTest, EveryRecordBecomesOneOrderAlsoAcrossARestart) {
    append(buyers(1, 30));
    {
        OrderWorker first = worker({.batch_max = 8});
        ASSERT_TRUE(first.load().has_value());
        ASSERT_TRUE(first.step(t0 + 1s, 1min).has_value());
        EXPECT_EQ(first.position(), 8u);
    }  // and here the process dies
    append(buyers(31, 40));
    OrderWorker second = worker({.batch_max = 8});
    ASSERT_TRUE(second.load().has_value());
    run(second);
    EXPECT_EQ(second.position(), 40u);
    EXPECT_EQ(second.ordered(), 32u);
    EXPECT_EQ(orders->reader().sales()->front().stock.front(), (Stock{100, 60, 40, 0}));
}

TEST_F(WorkerTest, TheRateCapProtectsTheDatabase) {
    append(buyers(1, 50));
    OrderWorker capped = worker({.batch_max = 10, .rate_per_second_max = 10});
    ASSERT_TRUE(capped.load().has_value());
    const Uptime took = run(capped);
    EXPECT_EQ(capped.ordered(), 50u);
    EXPECT_GE(took, 4000ms) << "a burst of ten, then ten a second";
}

TEST_F(WorkerTest, APurchaseOnItsWayFromTheLedgerToTheOrdersIsNeverMissed) {
    // Places the record in the very moment between the two looks.
    struct PlacesMeanwhile final : LedgerReader {
        StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override {
            return real->read_after(position, count_max);
        }
        StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position,
                                                            const PurchaseId& id) override {
            meanwhile();
            return real->find_after(position, id);
        }
        StoreResult<LedgerCut> end() override { return real->end(); }
        std::unique_ptr<LedgerReader> real;
        std::function<void()> meanwhile;
    };
    append({entry(1, alice), entry(2, bob)});
    OrderWorker one = worker({.batch_max = 1});
    ASSERT_TRUE(one.load().has_value());
    auto racing = std::make_unique<PlacesMeanwhile>();
    racing->real = std::move(*SqliteLedgerReader::open(folder.path("ledger.db")));
    Uptime uptime = 1min;
    racing->meanwhile = [&] { ASSERT_TRUE(one.step(t0 + 1s, uptime += 1min).has_value()); };
    Lookups::Readers readers{std::move(racing),
                             std::move(*SqliteOrdersReader::open(folder.path("orders.db")))};
    for (const auto& [number, buyer] : {std::pair(1u, alice), std::pair(2u, bob)}) {
        const auto found = find_purchase(readers, purchase(number), buyer);
        ASSERT_TRUE(found.has_value() && found->has_value()) << number;
        EXPECT_FALSE((*found)->order) << "it was not placed when the orders were asked";
        EXPECT_EQ(one.position(), number);
        EXPECT_TRUE((*find_purchase(readers, purchase(number), buyer))->order) << "now it is";
    }
    EXPECT_FALSE((*find_purchase(readers, purchase(1), bob)).has_value()) << "it is not his";
}

// Counts the transactions that the orders are placed in.
struct CountingReader final : LedgerReader {
    explicit CountingReader(LedgerReader& reader) : real(reader) {}
    LedgerReader& real;
    std::vector<size_t> counts;  // of records, one per read that found some
    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t position, size_t count_max) override {
        auto records = real.read_after(position, count_max);
        if (records && !records->empty()) counts.push_back(records->size());
        return records;
    }
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t position, const PurchaseId& id) override {
        return real.find_after(position, id);
    }
    StoreResult<LedgerCut> end() override { return real.end(); }
};

TEST_F(WorkerTest, WhatHasPiledUpGoesIntoOneTransactionForEverySecondOfTheCap) {
    append(buyers(1, 50));
    CountingReader counting(*reader);
    OrderWorker behind(counting, *orders, books, ids, {.batch_max = 1000, .rate_per_second_max = 20});
    ASSERT_TRUE(behind.load().has_value());
    const Uptime took = run(behind);
    EXPECT_EQ(counting.counts, (std::vector<size_t>{20, 20, 10}))
        << "nobody waits longer than a second for company";
    EXPECT_EQ(behind.ordered(), 50u);
    EXPECT_GE(took, 2000ms);
    EXPECT_LE(took, 3000ms) << "no longer than in small batches";
}

TEST_F(WorkerTest, WhilePurchasesComeInOrdersGoAtThePaceOfARush) {
    append(buyers(1, 60));
    CountingReader counting(*reader);
    OrderWorker one(counting, *orders, books, ids,
                    {.batch_max = 1000, .rate_per_second_max = 40, .rate_per_second_in_rush = 10});
    ASSERT_TRUE(one.load().has_value());
    Uptime uptime = 1min;
    uptime = rush(one, uptime, 1s);
    EXPECT_EQ(one.ordered(), 10u) << "what the rush allows";
    const Uptime took = run(one, uptime);
    EXPECT_EQ(one.ordered(), 60u);
    EXPECT_EQ(counting.counts, (std::vector<size_t>{10, 10, 40})) << "the second was gathered in the rush";
    EXPECT_LE(took, 1500ms) << "five seconds at the pace of a rush";
}

TEST_F(WorkerTest, WhatWasReadWhenItWasQuietIsNoBatchOfARush) {
    append(buyers(1, 60));
    OrderWorker one = worker({.batch_max = 1000, .rate_per_second_max = 40, .rate_per_second_in_rush = 10});
    ASSERT_TRUE(one.load().has_value());
    Uptime uptime = 1min;
    ASSERT_EQ(one.step(t0 + 1s, uptime).value(), OrderWorker::Next::at_later)
        << "forty, and it waits for their turn";
    uptime = rush(one, uptime, 1500ms);
    EXPECT_GE(one.ordered(), 10u) << "nobody waits for a batch that the rush would fill in four seconds";
    EXPECT_LE(one.ordered(), 25u);
    run(one, uptime);
    EXPECT_EQ(one.ordered(), 60u);
}

TEST_F(WorkerTest, ARushNeverGoesBeyondTheCap) {
    append(buyers(1, 30));
    OrderWorker capped =
        worker({.batch_max = 10, .rate_per_second_max = 10, .rate_per_second_in_rush = 1000});
    ASSERT_TRUE(capped.load().has_value());
    Uptime uptime = 1min;
    uptime = rush(capped, uptime, 1s);
    EXPECT_LE(capped.ordered(), 20u) << "a burst of ten, then ten a second";
}

TEST_F(WorkerTest, InARushOrdersGatherAndATrickleDoesNotWait) {
    using enum OrderWorker::Next;
    OrderWorker one = worker({.rate_per_second_max = 1000});
    ASSERT_TRUE(one.load().has_value());
    Uptime uptime = 1min;
    const auto step = [&] { return one.step(t0 + 1s, uptime).value(); };
    for (uint32_t i = 1; i <= 3; ++i) {
        append(buyers(i, i));
        EXPECT_EQ(step(), more);
        EXPECT_EQ(one.ordered(), i) << "each at once";
        uptime += 10ms;  // the cap allows ten
    }
    append(buyers(4, 90));
    EXPECT_EQ(step(), more);
    EXPECT_EQ(one.ordered(), 90u) << "a crowd that has waited does not wait longer";
    append(buyers(91, 92));
    uptime += 100ms;
    EXPECT_EQ(step(), at_later) << "more are to come";
    uptime = one.wait_until();
    EXPECT_EQ(step(), more);
    EXPECT_EQ(one.ordered(), 92u);
    append(buyers(93, 93));
    uptime += 10ms;
    EXPECT_EQ(step(), more) << "the rush is over";
    EXPECT_EQ(one.ordered(), 93u);
}

TEST_F(WorkerTest, WhoeverWantsToEndIsNotHeldUpByTheRateCap) {
    append(buyers(1, 50));
    CountingReader counting(*reader);
    OrderWorker capped(counting, *orders, books, ids, {.batch_max = 20, .rate_per_second_max = 1});
    ASSERT_TRUE(capped.load().has_value());
    capped.hurry();
    EXPECT_EQ(run(capped), 0s);
    EXPECT_EQ(counting.counts, (std::vector<size_t>{20, 20, 10}));
    EXPECT_EQ(capped.ordered(), 50u);
}

TEST_F(WorkerTest, WhoeverWantsToEndWaitsNoLongerForCompany) {
    OrderWorker one = worker({.rate_per_second_max = 1000});
    ASSERT_TRUE(one.load().has_value());
    append(buyers(1, 80));
    ASSERT_EQ(one.step(t0 + 1s, 1min).value(), OrderWorker::Next::more);
    append(buyers(81, 90));
    ASSERT_EQ(one.step(t0 + 1s, 1min).value(), OrderWorker::Next::at_later);
    one.hurry();
    EXPECT_EQ(one.step(t0 + 1s, 1min).value(), OrderWorker::Next::more);
    EXPECT_EQ(one.ordered(), 90u);
}

TEST_F(WorkerTest, APoisonRecordIsTriedThreeTimesMoreThenBuriedAndHoldsUpNobodyForEver) {
    LedgerEntry stray = entry(3, carol);
    stray.item = ItemId("unheard-of");
    append({entry(1, alice), entry(2, bob), stray, entry(4, BuyerId("dave"))});
    OrderWorker one = worker();
    ASSERT_TRUE(one.load().has_value());
    EXPECT_GE(run(one), 6s) << "1, 2 and 3 seconds";
    EXPECT_EQ(one.ordered(), 3u);
    EXPECT_EQ(one.dead_letters(), 1u);
    EXPECT_EQ(books.released, std::vector{purchase(3)}) << "its unit goes back to the book";
    const auto found = orders->reader().find_purchase(purchase(3));
    ASSERT_TRUE(found.has_value() && found->has_value());
    EXPECT_EQ((*found)->state, PurchaseState::cancelled);
}

TEST_F(WorkerTest, ACancelledPurchaseGivesItsUnitBackToTheBook) {
    append({entry(1, alice), entry(2, alice)});  // the limit is 1
    OrderWorker one = worker();
    ASSERT_TRUE(one.load().has_value());
    run(one);
    EXPECT_EQ(one.ordered(), 1u);
    EXPECT_EQ(one.cancelled(), 1u);
    EXPECT_EQ(books.released, std::vector{purchase(2)});
}

// A store that fails in ways that the real one cannot be made to.
struct FailingReader final : LedgerReader {
    size_t calls = 0;
    StoreResult<std::vector<LedgerRecord>> read_after(uint64_t, size_t) override {
        ++calls;
        return StoreError{StoreErrc::unavailable, "reading the ledger", "gone"};
    }
    StoreResult<std::optional<LedgerRecord>> find_after(uint64_t, const PurchaseId&) override {
        return std::optional<LedgerRecord>();
    }
    StoreResult<LedgerCut> end() override { return LedgerCut(); }
};

TEST_F(WorkerTest, AStoreThatStaysAwayIsReportedAndNothingIsCancelledForIt) {
    FailingReader failing;
    OrderWorker one(failing, *orders, books, ids, {});
    ASSERT_TRUE(one.load().has_value());
    Uptime uptime = 1min;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const auto next = one.step(t0, uptime);
        ASSERT_TRUE(next.has_value());
        EXPECT_EQ(*next, Next::at_later);
        uptime = one.wait_until();
    }
    const auto last = one.step(t0, uptime);
    ASSERT_FALSE(last.has_value());
    EXPECT_EQ(last.error().detail, "gone");
    EXPECT_EQ(failing.calls, 4u);
    EXPECT_EQ(one.cancelled() + one.dead_letters(), 0u);
}

}  // namespace
}  // namespace doorbuster
