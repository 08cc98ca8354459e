#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audit/reconcile.hpp"
#include "audit/replay.hpp"
#include "orders/letters_desk.hpp"
#include "store_cluster/cluster_workers.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/kafka_whole_ledger.hpp"
#include "store_cluster/postgres_epochs.hpp"
#include "store_cluster/postgres_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using audit::Kind;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct AskedBooks final : BookControl {
    void control(ControlCommand, std::function<void()>) override {}
    void reinstate(const Reinstatement& asked, std::function<void(const Reinstated&)> answer) override {
        reinstated.push_back(asked);
        answer({.outcome = ReserveOutcome::accepted});
    }
    std::vector<Reinstatement> reinstated;
};

// A sale over three partitions, its takes as gates, sweepers and coordinators bring them into the ledger.
class ClusterAudit : public WithKafka {
protected:
    static constexpr int32_t partitions = 3;
    static constexpr int items = 6;  // enough to have some in every partition

    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(partitions);
        records = producer(producer_options(topic, partitions));
        Sale drop = phone_drop();
        const Item phone = drop.items.front();
        drop.items.clear();
        for (int i = 0; i < items; ++i) {
            drop.items.push_back(phone);
            drop.items.back().id = item(i);
        }
        ASSERT_TRUE(orders->create_sale(drop, SaleState::open, t0).has_value());
        workers = std::make_unique<ClusterWorkers>(ClusterWorkers::Options{.postgres = database.options(),
                                                                           .kafka = reader_options(),
                                                                           .now = [] { return t0; },
                                                                           .partitions = partitions,
                                                                           .lease = {.owner = "one"},
                                                                           .again_max = 1ms},
                                                   ids);
        auto opened = KafkaWholeLedger::open(
            {.reader = reader_options(), .partitions = partitions, .read_wait_max = reports_max});
        ASSERT_TRUE(opened.has_value());
        ledger = std::move(*opened);
        for (int i = 0; i < items; ++i) rebuild(i);
    }
    KafkaReader::Options reader_options() {
        return {
            .brokers = kafka().brokers(), .topic = topic, .broker_wait_max = reports_max, .quiet_max = 10ms};
    }
    static ItemId item(int number) { return ItemId("phone-" + std::to_string(number)); }
    static int32_t partition_of(int of) {
        return kafka_partition_of(SaleId("phone-drop"), item(of), 0, partitions);
    }
    static BuyerId buyer(uint32_t number) { return BuyerId("buyer-" + std::to_string(number)); }

    void take(int of, uint32_t number, uint64_t epoch, uint64_t sequence) {
        const LedgerEntry entry{.sale = sale,
                                .item = item(of),
                                .acceptance = {.purchase = purchase(number),
                                               .buyer = buyer(number),
                                               .units = 1,
                                               .sequence = sequence,
                                               .accepted_at = t0 + milliseconds(sequence)},
                                .epoch = epoch};
        ASSERT_TRUE(records->produce(entry, reports.expect(number)).has_value());
        ASSERT_TRUE(reports.wait_for_all());
    }
    // Everything that stands in the ledger becomes what it becomes.
    void place_all() {
        const auto end = ledger->end();
        ASSERT_TRUE(end.has_value()) << end.error().text();
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (reader.cut()->left_to(*end) > 0) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
            (void)workers->step(uptime += 10ms);
        }
    }
    // All its steps but those in Redis.
    void rebuild(int of) {
        uint64_t epoch = 0;
        for (const WatchedItem& one : *epochs.watch()) {
            if (one.now.item == item(of)) epoch = one.now.epoch;
        }
        const auto closed = epochs.close(sale, item(of), epoch);
        ASSERT_TRUE(closed.has_value() && *closed);
        if (epoch > 0) {
            ASSERT_TRUE(records->produce(Seal{sale, item(of), epoch}, partition_of(of), reports.expect(0)));
            ASSERT_TRUE(reports.wait_for_all());
            place_all();
        }
        const auto cut = epochs.cut(sale, item(of), **closed);
        ASSERT_TRUE(cut.has_value() && *cut);
        ASSERT_TRUE(*epochs.open(sale, item(of), **closed + 1, "a pin"));
    }
    // Two epochs of one item with all that may come up; the purchases are `first` and up.
    void sell(int of, uint32_t first) {
        take(of, first + 2, 2, 2);  // on its way it overtook the one before it
        take(of, first + 1, 2, 1);
        take(of, first + 2, 2, 2);  // the sweeper was not sure
        take(of, first + 4, 2, 4);  // the third never came
        place_all();
        cancel(first + 1);
        rebuild(of);
        take(of, first + 5, 2, 5);  // behind the SEAL, and never again
        take(of, first + 6, 2, 6);  // behind it, but
        take(of, first + 6, 4, 1);  // its buyer has won under the new epoch
        take(of, first + 4, 2, 4);  // known before
        take(of, first + 7, 4, 2);
        place_all();
    }
    void cancel(uint32_t number) {
        const auto found = orders->reader().find_purchase(purchase(number));
        ASSERT_TRUE(found.has_value() && *found && (*found)->order);
        const auto move = doorbuster::cancel(**orders->reader().find_order(*(*found)->order));
        ASSERT_EQ(orders->move(std::span(&*move, 1), t0)->front(), Moved::done);
    }

    audit::Report count() {
        auto report = audit::count_sale(*ledger, reader, history, sale, audit::Trigger::word, t0);
        if (!report) throw std::runtime_error(report.error().text());
        return *std::move(report);
    }
    std::vector<Kind> kinds() {
        const audit::Report report = count();
        std::vector<Kind> found;
        for (const audit::Finding& one : report.findings) found.push_back(one.difference.kind);
        return found;
    }
    static std::string text_of(const audit::Report& report) { return audit::json_of(report); }
    audit::Replayed replay() { return audit::replay(*audit::read_records(*ledger, reader, sale)); }
    void repair() {
        audit::Report report = count();
        const audit::Settling settling{.store = orders->audit(),
                                       .books = books,
                                       .next_order = [&](Instant now) { return OrderId{ids.next(now)}; }};
        ASSERT_TRUE(audit::settle(report, {.repair = true}, settling, t0).has_value());
    }
    // Why a coordinator is to rebuild the item's book.
    std::string asked_for(int number) {
        const auto watched = epochs.watch();
        EXPECT_TRUE(watched.has_value());
        return watched->at(static_cast<size_t>(number)).asked_for;
    }
    // As somebody with a console might.
    void spoil(const std::string& sql) { connection.run_script("SET search_path = doorbuster; " + sql); }
    static std::string id(uint32_t number) { return "'" + purchase(number).hex() + "'::uuid"; }

    const SaleId sale{"phone-drop"};
    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Pool pool{{.connection = database.options(), .connections = 1, .overflow_max = 1}};
    PostgresOrdersReader reader{pool};
    PostgresAuditReader history{pool};
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    std::string topic;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
    std::unique_ptr<KafkaWholeLedger> ledger;
    Snowflake ids{1};
    std::unique_ptr<ClusterWorkers> workers;
    AskedBooks books;
    Uptime uptime = 1min;
};

TEST_F(ClusterAudit, ASaleWithARebuildInTheMiddleReconcilesCleanAndReplays) {
    for (int i = 0; i < items; ++i) sell(i, 100 * static_cast<uint32_t>(i + 1));
    const audit::Report live = count();
    EXPECT_TRUE(live.agrees()) << text_of(live);
    EXPECT_EQ(live.in_flight, static_cast<uint64_t>(items)) << "what came late waits for the next SEAL";
    EXPECT_EQ(live.items.front().held, 4u);
    const audit::Replayed half_way = replay();
    EXPECT_TRUE(half_way.agrees()) << audit::json_of(half_way);

    for (int i = 0; i < items; ++i) rebuild(i);
    const audit::Report after = count();
    EXPECT_TRUE(after.agrees()) << text_of(after);
    EXPECT_EQ(after.in_flight, 0u);
    const audit::Replayed whole = replay();
    EXPECT_TRUE(whole.agrees()) << audit::json_of(whole);
    EXPECT_EQ(whole.digest_replayed, whole.digest_stored);
    EXPECT_EQ(whole.late, static_cast<uint64_t>(items));
    EXPECT_EQ(whole.numbers_missing, static_cast<uint64_t>(items));
    EXPECT_FALSE(whole.not_compared.empty());
}

TEST_F(ClusterAudit, WhatIsInFlightIsCountedInEveryPartition) {
    for (int i = 0; i < items; ++i) take(i, static_cast<uint32_t>(i + 1), 2, 1);
    for (int i = 0; i < items; ++i) take(i, static_cast<uint32_t>(i + 1), 2, 1);
    const audit::Report report = count();
    EXPECT_TRUE(report.agrees()) << text_of(report);
    for (const audit::ItemSums& one : report.items)
        EXPECT_EQ(one.in_flight, 1u) << "a repeat promises nothing";
    EXPECT_EQ(report.position, 0u);
    place_all();
    EXPECT_EQ(count().in_flight, 0u);
    EXPECT_EQ(count().position, 2u * items);
}

TEST_F(ClusterAudit, EveryDifferenceIsFoundAndTheUnitsAreMended) {
    sell(0, 100);
    ASSERT_THAT(kinds(), IsEmpty());
    spoil(
        "UPDATE items SET units_available = units_available + 1, units_held = units_held - 1 "
        "WHERE id = 'phone-0'");
    EXPECT_THAT(kinds(), UnorderedElementsAre(Kind::units));
    EXPECT_FALSE(replay().agrees());
    EXPECT_EQ(asked_for(0), "");
    repair();
    ASSERT_THAT(kinds(), IsEmpty());
    EXPECT_EQ(asked_for(0), "a repair changed the stock row") << "Redis has it as it was";

    spoil("DELETE FROM orders WHERE purchase = " + id(107));
    EXPECT_THAT(kinds(), UnorderedElementsAre(Kind::units, Kind::purchase_without_order));
    EXPECT_FALSE(replay().agrees());
}

TEST_F(ClusterAudit, ARecordThatBecameNothingIsFoundInItsPartitionAndPlaced) {
    for (int i = 0; i < items; ++i) sell(i, 100 * static_cast<uint32_t>(i + 1));
    int behind = 0;  // the first item that is not in partition 0
    while (partition_of(behind) == 0) ++behind;
    const uint32_t lost = 100 * static_cast<uint32_t>(behind + 1) + 7;
    spoil("DELETE FROM orders WHERE purchase = " + id(lost) +
          "; DELETE FROM purchases WHERE id = " + id(lost) +
          "; UPDATE items SET units_available = units_available + 1, units_held = units_held - 1 "
          "WHERE id = 'phone-" +
          std::to_string(behind) + "'");
    EXPECT_THAT(kinds(), UnorderedElementsAre(Kind::ledger_without_purchase));
    repair();
    EXPECT_THAT(kinds(), IsEmpty());
    EXPECT_EQ(asked_for(behind), "a repair made an order of a record");
    EXPECT_EQ(connection.read_integer("SELECT partition FROM purchases WHERE id = $1",
                                      pg::Params().add(purchase(lost))),
              partition_of(behind));
}

TEST_F(ClusterAudit, ALateRecordThatNobodyRemembersIsFoundAndRememberedAgain) {
    sell(0, 100);
    spoil("DELETE FROM late_records");
    EXPECT_THAT(kinds(), UnorderedElementsAre(Kind::ledger_without_purchase));
    repair();
    EXPECT_THAT(kinds(), IsEmpty());
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM late_records"), 1);
}

TEST_F(ClusterAudit, ARedisThatForgotIsFoundByItsNumbersAndItsPurchases) {
    take(0, 1, 2, 1);
    take(0, 2, 2, 1);
    take(1, 3, 2, 1);
    take(1, 3, 2, 2);
    place_all();
    EXPECT_THAT(kinds(), UnorderedElementsAre(Kind::sequence_order, Kind::ledger_twice));
    EXPECT_EQ(connection.read_integer("SELECT count(*) FROM orders"), 3)
        << "and nobody was sold a unit twice";
}

TEST_F(ClusterAudit, ADeadLetterOfAnyPartitionIsListedTriedAgainAndClosed) {
    write_raw(topic, {"rubbish"});  // into partition 0
    int unsold = items;             // an item that the sale does not have, not in partition 0
    while (partition_of(unsold) == 0) ++unsold;
    take(unsold, 1, 2, 1);
    place_all();
    const auto letters = reader.dead_letters(0, 10);
    ASSERT_TRUE(letters.has_value() && letters->size() == 2);
    EXPECT_EQ(letters->front().position, 1u);
    const uint64_t position = letters->back().position;
    EXPECT_EQ(LedgerPlace::of(position).partition, static_cast<uint64_t>(partition_of(unsold)));
    EXPECT_EQ(reader.dead_letters(letters->front().position, 10)->size(), 1u);
    EXPECT_THAT(kinds(), IsEmpty());

    LettersDesk desk(*ledger, *orders, books, [](const auto& task) { task(); });
    desk.retry(position, t0, [](const StoreResult<LetterState>& ended) {
        ASSERT_TRUE(ended.has_value()) << ended.error().text();
        EXPECT_EQ(*ended, LetterState::retried);
    });
    ASSERT_EQ(books.reinstated.size(), 1u);
    EXPECT_EQ(books.reinstated.front().replaces, purchase(1));
    EXPECT_EQ(books.reinstated.front().item, item(unsold));
    EXPECT_EQ(reader.dead_letters(0, 10)->back().state, LetterState::retried);
    EXPECT_EQ(reader.dead_letters(0, 10)->front().state, LetterState::open) << "the other one's is its own";
}

}  // namespace
}  // namespace doorbuster
