// A sale on real servers, with everybody who moves it but the gate, which the test plays, and a judge.
#pragma once

#include <set>

#include "orders/worker.hpp"
#include "store/row_words.hpp"
#include "store_cluster/cluster_coordinator.hpp"
#include "store_cluster/cluster_relay.hpp"
#include "store_cluster/kafka_ledger.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster::testing {

struct NoBooks final : BookControl {
    void control(ControlCommand, std::function<void()>) override {}
    void reinstate(const Reinstatement&, std::function<void(const Reinstated&)>) override {}
};

// A sale of ten, at most one each, on real servers; the gate is played by the test.
class WithCluster : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(1);
        records = producer(producer_options(topic, 1));
        auto opened =
            KafkaLedger::open({.reader = {.brokers = kafka().brokers(), .topic = topic, .quiet_max = 10ms}});
        ASSERT_TRUE(opened.has_value());
        ledger = std::move(*opened);
        worker = std::make_unique<OrderWorker>(*ledger, *orders, books, ids, OrderWorker::Options{});
        worker->hurry();
        Sale drop = phone_drop(10, 1);
        drop.opens_at = from_ms(0);
        drop.closes_at = t0 + 24h * 365 * 50;
        ASSERT_TRUE(orders->create_sale(drop, SaleState::open, t0).has_value());
    }

    // One process' worth of coordinator.
    struct Process {
        explicit Process(WithCluster& test, milliseconds takeover_after = 20s)
            : Process(test, takeover_after, test.database.options()) {}
        Process(WithCluster& test, milliseconds takeover_after, const pg::ConnectionOptions& postgres)
            : connection(postgres),
              redis({.address = test.server->address(),
                     .setup = test.server->address(),
                     .wait_max = redis_wait_max}),
              coordinator(
                  {connection, redis, *test.records},
                  {.rebuild = {.partitions = 1, .lease = test.lease}, .takeover_after = takeover_after}) {}
        pg::Connection connection;
        RedisCaller redis;
        ClusterCoordinator coordinator;
    };
    ClusterRebuild::Means means(Process& process) { return {process.connection, process.redis, *records}; }

    ItemEpoch now() {
        const auto lease_now = epochs.lease("test", 60s);
        EXPECT_TRUE(lease_now.has_value());
        return lease_now->items().front();
    }
    bool is_open() { return now().pin.has_value(); }
    void step_worker() {
        const auto stepped = worker->step(t0, uptime += 1s);
        ASSERT_TRUE(stepped.has_value()) << stepped.error().text();
    }
    // Lets the time pass, the coordinators act and, where they may, the workers place, until it is so.
    bool run(std::vector<Process*> processes, const std::function<bool()>& is_so, bool with_worker = true) {
        const auto deadline = std::chrono::steady_clock::now() + reports_max;
        while (!is_so()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            for (Process* one : processes) (void)one->coordinator.step(clock);
            if (with_worker) step_worker();
            if (HasFatalFailure()) return false;
            clock += 250ms;
        }
        return true;
    }
    bool open_by(Process& process) {
        return run({&process}, [&] { return is_open(); });
    }
    bool rebuilt_by(Process& process, uint64_t from_epoch) {
        return run({&process}, [&] { return is_open() && now().epoch > from_epoch; });
    }
    // Everything that stands in the ledger becomes what it becomes.
    void place_all() {
        const auto whole = read_whole(topic, 1);
        ASSERT_TRUE(run({}, [&] { return worker->position() == whole.size(); }));
    }

    // The gate's way as far as Redis; the take, if it was accepted or is known.
    std::optional<ReserveVerdict> reserve(uint32_t number, const ItemEpoch& under) {
        RedisSession redis = server->connect();
        const std::vector<ReserveEntry> entries{{.purchase = purchase(number), .buyer = buyer(number)}};
        const auto said =
            read_reserve(*ask(redis, reserve_call(bucket, {*under.pin, under.epoch}, entries)), 1);
        if (!said) return std::nullopt;  // fenced: 503
        return said->at(0);
    }
    void produce_take(uint32_t number, const Take& take) {
        const LedgerEntry entry{.sale = sale,
                                .item = item,
                                .acceptance = {.purchase = purchase(number),
                                               .buyer = buyer(number),
                                               .units = take.units,
                                               .sequence = take.sequence,
                                               .accepted_at = take.accepted_at},
                                .epoch = take.epoch};
        ASSERT_TRUE(records->produce(entry, reports.expect(number)).has_value());
        ASSERT_TRUE(reports.wait_for_all());
    }
    void mark_done(uint32_t number, const ItemEpoch& under, const Take& take) {
        RedisSession redis = server->connect();
        const std::vector<TakenAt> taken{{purchase(number), take.sequence}};
        (void)ask(redis, done_call(bucket, {*under.pin, under.epoch}, taken));
    }
    // All of it: to a 202, which is then remembered.
    ::testing::AssertionResult buy(uint32_t number) {
        const ItemEpoch under = now();
        if (!under.pin) return ::testing::AssertionFailure() << "rebuilding";
        const auto said = reserve(number, under);
        if (!said) return ::testing::AssertionFailure() << "fenced";
        if (said->outcome != ReserveOutcome::accepted && said->outcome != ReserveOutcome::repeated) {
            return ::testing::AssertionFailure() << "outcome " << static_cast<int>(said->outcome);
        }
        if (said->is_pending) {
            produce_take(number, said->take);
            mark_done(number, under, said->take);
        }
        promised.insert(number);
        return ::testing::AssertionSuccess();
    }
    ReserveOutcome outcome_of(uint32_t number) { return reserve(number, now()).value().outcome; }
    static BuyerId buyer(uint32_t number) { return BuyerId("buyer-" + std::to_string(number)); }

    Stock in_redis() {
        RedisSession redis = server->connect();
        const auto peek = read_peek(*ask(redis, peek_call(bucket)));
        EXPECT_TRUE(peek.has_value() && peek->book);
        return peek->book->figures.stock;
    }
    Stock in_postgres() { return orders->reader().sales()->front().stock.front(); }
    int64_t count(std::string_view sql) { return connection.read_integer(sql); }
    std::string reason_of(uint32_t number) {
        const auto found = orders->reader().find_purchase(purchase(number));
        EXPECT_TRUE(found.has_value());
        return *found ? (*found)->reason : "unknown";
    }

    // The judge: every yes is an order, no unit was sold twice, and both books agree.
    void expect_promises_kept() {
        place_all();
        Relay relay(connection);
        RedisSession redis = server->connect();
        ASSERT_TRUE(relay.step(*epochs.lease("test", 60s), redis, t0).has_value());
        for (const uint32_t number : promised) EXPECT_EQ(reason_of(number), "") << number;
        const Stock stock = in_postgres();
        EXPECT_EQ(stock.units_held, count("SELECT count(*) FROM orders WHERE hold = 'held'"));
        EXPECT_LE(stock.units_held, 10u);
        EXPECT_EQ(in_redis(), stock);
        EXPECT_EQ(count("SELECT count(*) FROM (SELECT buyer FROM orders WHERE hold <> 'finished' "
                        "GROUP BY buyer HAVING count(*) > 1) AS twice"),
                  0);
        for (const uint32_t number : promised) {
            EXPECT_EQ(outcome_of(number), ReserveOutcome::repeated) << number << " is known";
        }
        EXPECT_EQ(in_redis(), stock) << "and to repeat it takes nothing";
    }

    const SaleId sale{"phone-drop"};
    const ItemId item{"phone"};
    const BookBucket bucket{sale, item};
    const milliseconds lease = 10s;

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    std::unique_ptr<RedisServer> server = std::make_unique<RedisServer>();
    std::string topic;
    Reports reports;
    std::unique_ptr<KafkaRecords> records;
    std::unique_ptr<KafkaLedger> ledger;
    NoBooks books;
    Snowflake ids{1};
    std::unique_ptr<OrderWorker> worker;
    pg::BootTime clock = 1h;
    Uptime uptime = 1min;
    std::set<uint32_t> promised;
};

}  // namespace doorbuster::testing
