// A gate of the cluster for tests: a sale in a real PostgreSQL, its book in a real Redis, a real Kafka.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "sale/terms.hpp"
#include "store/contract_testing.hpp"
#include "store_cluster/cluster_books.hpp"
#include "store_cluster/cluster_load.hpp"
#include "store_cluster/kafka_testing.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster::testing {

// Waits for what another thread or process brings about.
inline void await(const std::function<bool()>& happened, const char* what) {
    for (const Patience patience; !happened(); patience.check(what)) usleep(1000);
}

// Who heard what.
class Answers final : public ReplySink {
public:
    void deliver(std::span<const PurchaseReply> replies) override {
        std::lock_guard lock(mutex_);
        for (const PurchaseReply& one : replies) heard_[one.purchase.hex()].push_back(one);
        count_ += replies.size();
        changed_.notify_all();
    }
    size_t count() const {
        std::lock_guard lock(mutex_);
        return count_;
    }
    bool wait_for(size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, reports_max, [&] { return count_ >= count; });
    }
    PurchaseReply last(uint32_t number) const {
        std::lock_guard lock(mutex_);
        return heard_.at(purchase(number).hex()).back();
    }
    size_t count(ReserveOutcome outcome) const {
        std::lock_guard lock(mutex_);
        size_t of_it = 0;
        for (const auto& [id, replies] : heard_) {
            for (const PurchaseReply& one : replies)
                of_it += one.verdict == Verdict::decided && one.answer.outcome == outcome;
        }
        return of_it;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    size_t count_ = 0;
    std::map<std::string, std::vector<PurchaseReply>> heard_;
};

class ClusterFixture : public WithKafka {
protected:
    const SaleId sale{"phone-drop"};
    const ItemId item{"phone"};

    // One gate: its loop, its producer, its board.
    struct Gate {
        Gate(const std::string& topic, const RedisAddress& redis, milliseconds message_max)
            : records(producer(producer_options(topic, 1, message_max))),
              books(
                  *records,
                  {.redis = {.link = {.address = redis, .call_max = redis_wait_max}, .connections = 2},
                   .pace = {.wait_max = reports_max},
                   .look_every = 10ms,
                   .word_wait_max = redis_wait_max},
                  {.on_append = {}, .doubted = [this](const ItemEpoch& one, Doubt doubt, const std::string&) {
                       if (doubt == Doubt::lost) doubted_epoch = one.epoch;
                   }}) {
            books.set_sinks({&answers});
        }
        ~Gate() { books.stop(); }

        Answers answers;
        std::atomic<uint64_t> doubted_epoch{0};
        std::shared_ptr<ItemBoard> board = std::make_shared<ItemBoard>();
        std::unique_ptr<KafkaRecords> records;
        ClusterBooks books;
    };

    void SetUp() override {
        WithKafka::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        topic = kafka().create_topic(1);
    }
    void TearDown() override { gates.clear(); }

    // By Redis' own clock the sale is on.
    void create(uint32_t units, uint32_t units_per_buyer_max = 1) {
        Sale made = phone_drop(units, units_per_buyer_max);
        made.opens_at = from_ms(0);
        made.closes_at = t0 + 24h * 36500;
        const auto created = orders->create_sale(made, SaleState::open, t0);
        ASSERT_TRUE(created.has_value()) << created.error().text();
        record = *created;
        rebuild();
    }
    // Without the waits for those who sell: whoever calls this has seen to that.
    void rebuild() {
        const auto closed = epochs.close(sale, item, lease()->items().front().epoch);
        ASSERT_TRUE(closed.has_value() && closed->has_value());
        const auto cut = epochs.cut(sale, item, **closed);
        ASSERT_TRUE(cut.has_value() && cut->has_value());
        RedisSession redis = server.connect();
        (void)ask(redis, load_library_call());
        const auto pin = read_pin(*ask(redis, load_call(bucket, book_load_of(**cut, item))));
        ASSERT_TRUE(pin.has_value()) << pin.error().detail;
        ASSERT_TRUE(*epochs.open(sale, item, (*cut)->epoch, *pin));
        fence = {*pin, (*cut)->epoch};
    }
    std::shared_ptr<const EpochLease> lease(milliseconds lasts = reports_max) {
        return std::make_shared<const EpochLease>(*epochs.lease("test", lasts));
    }

    Gate& add_gate(milliseconds message_max = reports_max / 2) {
        gates.push_back(std::make_unique<Gate>(topic, server.address(), message_max));
        Gate& gate = *gates.back();
        gate.books.control(OpenBook{ItemSlot{0}, sale, item, terms(), record.stock[0], Phase::selling,
                                    gate.board, record.version});
        gate.books.start();
        give_lease(gate);
        // Its word is told when it is connected.
        await([&] { return gate.board->stock().units_total > 0 && is_connected(gate); }, "no connection");
        return gate;
    }
    bool is_connected(Gate& gate) {
        bool applied = false;
        std::mutex mutex;
        std::condition_variable changed;
        gate.books.control(SetTerms{ItemSlot{0}, terms(), Phase::selling, record.version}, [&] {
            std::lock_guard lock(mutex);
            applied = true;
            changed.notify_all();
        });
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, reports_max, [&] { return applied; });
    }
    void give_lease(Gate& gate) { gate.books.take_lease(lease()); }
    void end_lease(Gate& gate) { gate.books.take_lease(lease(0ms)); }

    Book::Terms terms() const { return terms_of(record.sale, record.sale.items[0]); }
    Submitted submit(Gate& gate, uint32_t number, const BuyerId& buyer, uint32_t units = 1) {
        return gate.books.submit(
            {.slot = ItemSlot{0}, .purchase = purchase(number), .buyer = buyer, .units = units});
    }
    PurchaseReply buy(Gate& gate, uint32_t number, const BuyerId& buyer, uint32_t units = 1) {
        const size_t before = gate.answers.count();
        EXPECT_EQ(submit(gate, number, buyer, units), Submitted::queued);
        EXPECT_TRUE(gate.answers.wait_for(before + 1));
        return gate.answers.last(number);
    }
    BookPeek::There in_redis() {
        RedisSession redis = server.connect();
        const auto peek = read_peek(*ask(redis, peek_call(bucket)));
        if (!peek || !peek->book) throw std::runtime_error("no book in Redis");
        return *peek->book;
    }
    void await_outbox(uint64_t entries) {
        await([&] { return in_redis().outbox_entries == entries; }, "the outbox is another");
    }
    std::vector<LedgerEntry> in_kafka() {
        std::vector<LedgerEntry> records;
        for (const KafkaReadRecord& one : read_whole(topic, 1))
            records.push_back(std::get<LedgerEntry>(one.record));
        return records;
    }

    TestDatabase database;
    std::unique_ptr<PostgresOrders> orders = database.open();
    pg::Connection connection{database.options()};
    PostgresEpochs epochs{connection};
    RedisServer server;
    const BookBucket bucket{sale, item};
    Fence fence;
    SaleRecord record;
    std::string topic;
    std::vector<std::unique_ptr<Gate>> gates;
};

inline void expect_outcome(const PurchaseReply& reply, ReserveOutcome outcome) {
    EXPECT_EQ(reply.verdict, Verdict::decided);
    EXPECT_EQ(static_cast<int>(reply.answer.outcome), static_cast<int>(outcome));
}

}  // namespace doorbuster::testing
