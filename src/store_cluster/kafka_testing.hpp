// What the tests of the Kafka ledger share: a broker or a loud skip, records, and who heard what.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sale/testing.hpp"
#include "store_cluster/kafka_reader.hpp"
#include "store_cluster/kafka_records.hpp"
#include "store_cluster/kafka_test_broker.hpp"

namespace doorbuster::testing {

// Generous: a bound on a hang, not on how quick it is.
constexpr milliseconds reports_max = 120s;

class WithKafka : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string& missing = KafkaBroker::is_missing();
        if (missing.empty()) {
            kafka().ensure_running();
            return;
        }
        const char* ci = std::getenv("CI");
        if (ci != nullptr && std::string_view(ci) == "true") FAIL() << missing;
        GTEST_SKIP() << missing;
    }
};

inline KafkaRecords::Options producer_options(const std::string& topic, int32_t partitions,
                                              milliseconds message_max = reports_max / 2) {
    return {.brokers = kafka().brokers(),
            .topic = topic,
            .partitions = partitions,
            .message_max = message_max,
            .lease = reports_max};
}

inline std::unique_ptr<KafkaRecords> producer(const KafkaRecords::Options& options) {
    auto records = KafkaRecords::open(options);
    if (!records) throw std::runtime_error(records.error().text());
    return std::move(*records);
}

// The acceptance of purchase `number`; each item has its own run of sequences.
inline LedgerEntry accepted(uint32_t number, const std::string& item = "phone") {
    return {.sale = SaleId("phone-drop"),
            .item = ItemId(item),
            .acceptance = {.purchase = purchase(number),
                           .buyer = alice,
                           .units = 1,
                           .sequence = number + 1,
                           .accepted_at = t0},
            .epoch = 2};
}

// Who was told what. Outlives the producer.
class Reports {
public:
    KafkaRecords::Reported expect(uint32_t number) {
        std::lock_guard lock(mutex_);
        ++expected_;
        return [this, number](const DeliveryReport& report) {
            std::lock_guard held(mutex_);
            heard_[number].push_back(report);
            ++count_;
            changed_.notify_all();
        };
    }
    void expect_none() {  // the record was refused
        std::lock_guard lock(mutex_);
        --expected_;
    }

    bool wait_for(size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, reports_max, [&] { return count_ >= count; });
    }
    bool wait_for_all() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, reports_max, [&] { return count_ >= expected_; });
    }
    size_t count() const {
        std::lock_guard lock(mutex_);
        return count_;
    }
    size_t count(KafkaDelivery delivery) const {
        std::lock_guard lock(mutex_);
        size_t of_it = 0;
        for (const auto& [number, reports] : heard_) {
            for (const DeliveryReport& report : reports) of_it += report.delivery == delivery;
        }
        return of_it;
    }
    std::map<uint32_t, std::vector<DeliveryReport>> heard() const {
        std::lock_guard lock(mutex_);
        return heard_;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    size_t expected_ = 0, count_ = 0;
    std::map<uint32_t, std::vector<DeliveryReport>> heard_;
};

inline StoreResult<void> produce(KafkaRecords& records, Reports& reports, uint32_t number,
                                 const std::string& item = "phone") {
    auto taken = records.produce(accepted(number, item), reports.expect(number));
    if (!taken) reports.expect_none();
    return taken;
}

// As soon as there is room: a record keeps its place in the queue until its report has returned, and a
// producer that failed takes nothing until another one is in its place.
inline StoreResult<void> produce_when_there_is_room(KafkaRecords& records, Reports& reports,
                                                    uint32_t number) {
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    auto taken = produce(records, reports, number);
    while (!taken && taken.error().code == StoreErrc::unavailable &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        taken = produce(records, reports, number);
    }
    return taken;
}

inline KafkaReader reader(const std::string& topic, milliseconds broker_wait_max = reports_max) {
    auto opened =
        KafkaReader::open({.brokers = kafka().brokers(), .topic = topic, .broker_wait_max = broker_wait_max});
    if (!opened) throw std::runtime_error(opened.error().text());
    return std::move(*opened);
}

// Everything that stands in the topic, from its beginning to its end.
inline std::vector<KafkaReadRecord> read_whole(const std::string& topic, int32_t partitions) {
    KafkaReader from = reader(topic);
    std::vector<KafkaPosition> positions;
    for (int32_t i = 0; i < partitions; ++i) positions.push_back({i, 0});
    if (const auto assigned = from.assign(positions); !assigned) {
        throw std::runtime_error(assigned.error().text());
    }
    std::vector<KafkaReadRecord> all;
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    while (std::chrono::steady_clock::now() < deadline) {
        auto batch = from.read(1000, 100ms);
        if (!batch) throw std::runtime_error(batch.error().text());
        for (KafkaReadRecord& record : batch->records) all.push_back(std::move(record));
        if (batch->at_end.size() == positions.size()) return all;
    }
    throw std::runtime_error("the end was not reached");
}

// What another program, or a later version of this one, might write.
inline void write_raw(const std::string& topic, const std::vector<std::string>& values) {
    auto conf = kafka_conf(kafka().brokers(), {{"acks", "all"}});
    ASSERT_TRUE(conf);
    auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
    ASSERT_TRUE(client);
    const KafkaTopic to(rd_kafka_topic_new(client->get(), topic.c_str(), nullptr));
    for (const std::string& value : values) {
        ASSERT_EQ(rd_kafka_produce(to.get(), 0, RD_KAFKA_MSG_F_COPY, const_cast<char*>(value.data()),
                                   value.size(), nullptr, 0, nullptr),
                  0);
    }
    ASSERT_EQ(rd_kafka_flush(client->get(), static_cast<int>(reports_max.count())), 0);
}

// The number of the purchase that accepted() made it for.
inline uint32_t number_of(const KafkaReadRecord& read) {
    return static_cast<uint32_t>(std::get<LedgerEntry>(read.record).acceptance.sequence - 1);
}

// What was reported durable stands where the report says; nothing stands there more often than it
// was produced or replayed; what is certainly not written is not there.
inline void expect_reports_hold(const Reports& reports, const std::vector<KafkaReadRecord>& read,
                                uint64_t replays = 0) {
    std::map<uint32_t, std::vector<int64_t>> found;
    for (const KafkaReadRecord& record : read) found[number_of(record)].push_back(record.offset);
    const auto heard = reports.heard();
    for (const auto& [number, offsets] : found) EXPECT_TRUE(heard.contains(number)) << number;
    for (const auto& [number, told] : heard) {
        size_t durable = 0, unknown = 0;
        for (const DeliveryReport& report : told) {
            durable += report.delivery == KafkaDelivery::durable;
            unknown += report.delivery == KafkaDelivery::unknown;
            if (report.delivery == KafkaDelivery::durable && report.offset >= 0) {
                EXPECT_EQ(std::count(found[number].begin(), found[number].end(), report.offset), 1) << number;
            }
        }
        EXPECT_GE(found[number].size(), durable) << number;
        EXPECT_LE(found[number].size(), durable + unknown + replays) << number;
    }
}

}  // namespace doorbuster::testing
