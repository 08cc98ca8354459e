#include "store_cluster/kafka_ledger.hpp"

#include <gtest/gtest.h>

#include "store/ledger_contract.hpp"
#include "store_cluster/kafka_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

KafkaLedger::Options ledger_options(const std::string& topic) {
    return {.reader = {.brokers = kafka().brokers(),
                       .topic = topic,
                       .broker_wait_max = reports_max,
                       .quiet_max = 10ms},
            .read_wait_max = reports_max,
            .scan_wait_max = reports_max};
}

std::unique_ptr<KafkaLedger> ledger_of(const KafkaLedger::Options& options) {
    auto opened = KafkaLedger::open(options);
    if (!opened) throw std::runtime_error(opened.error().text());
    return std::move(*opened);
}

// Produces as gates do, and returns when all of it is reported.
class Appending final : public Ledger {
public:
    explicit Appending(const std::string& topic) : records_(producer(producer_options(topic, 1))) {}
    StoreResult<void> append(std::span<const LedgerEntry> entries) override {
        for (const LedgerEntry& entry : entries) {
            if (auto taken = records_->produce(entry, reports_.expect(0)); !taken) return taken;
        }
        EXPECT_TRUE(reports_.wait_for_all());
        return {};
    }
    StoreResult<void> idle() override { return {}; }

private:
    Reports reports_;
    std::unique_ptr<KafkaRecords> records_;
};

class KafkaLedgerFixture {
public:
    KafkaLedgerFixture() {
        if (!is_missing().empty()) return;
        kafka().ensure_running();
        topic_ = kafka().create_topic(1);
        reopen();
    }
    static const std::string& is_missing() { return KafkaBroker::is_missing(); }
    Ledger& ledger() { return *appending_; }
    LedgerReader& reader() { return *reader_; }
    void reopen() {
        appending_ = std::make_unique<Appending>(topic_);
        reader_ = ledger_of(ledger_options(topic_));
    }

private:
    std::string topic_;
    std::unique_ptr<Appending> appending_;
    std::unique_ptr<KafkaLedger> reader_;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LedgerContract);  // gates append one by one
INSTANTIATE_TYPED_TEST_SUITE_P(Kafka, LedgerReaderContract, KafkaLedgerFixture);

class KafkaLedgerTest : public WithKafka {
protected:
    void SetUp() override {
        WithKafka::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) topic = kafka().create_topic(1);
    }
    std::string topic;
};

TEST_F(KafkaLedgerTest, SealsAndWhatCannotBeReadComeInTheirPlaces) {
    const Seal seal{SaleId("phone-drop"), ItemId("phone"), 2};
    write_raw(topic, {encode(accepted(0)), encode(seal), "rubbish", encode(accepted(1))});
    const auto ledger = ledger_of(ledger_options(topic));
    std::vector<LedgerRecord> all;
    while (all.size() < 4) {
        auto some = ledger->read_after(all.size(), 100);
        ASSERT_TRUE(some.has_value()) << some.error().text();
        ASSERT_FALSE(some->empty());
        for (LedgerRecord& record : *some) all.push_back(std::move(record));
    }
    EXPECT_EQ(all[0].position, 1u);
    EXPECT_EQ(all[0].entry->epoch, 2u);
    ASSERT_TRUE(all[1].seal.has_value());
    EXPECT_EQ(all[1].seal->epoch, 2u);
    EXPECT_FALSE(all[1].entry);
    EXPECT_EQ(all[2].raw, "rubbish");
    EXPECT_FALSE(all[2].entry || all[2].seal);
    EXPECT_EQ(all[3].position, 4u);
    EXPECT_EQ((*ledger->find_after(0, purchase(1)))->position, 4u);
}

TEST_F(KafkaLedgerTest, ARecordOfALaterVersionIsWhereItStops) {
    write_raw(topic,
              {encode(accepted(0)), encode(accepted(1)), "\x02of a later version", encode(accepted(3))});
    const auto ledger = ledger_of(ledger_options(topic));
    uint64_t position = 0;
    while (position < 2) {
        const auto some = ledger->read_after(position, 100);
        ASSERT_TRUE(some.has_value() && !some->empty());
        position = some->back().position;
    }
    EXPECT_EQ(position, 2u) << "what stands before it is handed out";
    for (int times = 0; times < 2; ++times) {
        EXPECT_EQ(ledger->read_after(2, 100).error().code, StoreErrc::newer_schema);
        EXPECT_EQ(ledger->find_after(0, purchase(3)).error().code, StoreErrc::newer_schema);
    }
}

TEST_F(KafkaLedgerTest, APositionThatTheTopicDoesNotHaveIsDamagedAndReadsGoOnElsewhere) {
    write_raw(topic, {encode(accepted(0)), encode(accepted(1))});
    const auto ledger = ledger_of(ledger_options(topic));
    EXPECT_EQ(ledger->read_after(7, 100).error().code, StoreErrc::damaged);
    EXPECT_EQ(ledger->read_after(7, 100).error().code, StoreErrc::damaged) << "and it stays so";
    EXPECT_EQ(ledger->read_after(1, 100)->at(0).position, 2u);
}

TEST_F(KafkaLedgerTest, WhoDoesNotWaitHearsThatNothingIsAtHand) {
    auto options = ledger_options(topic);
    options.read_wait_max = 0ms;
    const auto ledger = ledger_of(options);
    EXPECT_TRUE(ledger->read_after(0, 100)->empty());
    write_raw(topic, {encode(accepted(0))});
    const auto deadline = std::chrono::steady_clock::now() + reports_max;
    auto some = ledger->read_after(0, 100);
    while (some && some->empty() && std::chrono::steady_clock::now() < deadline) {
        some = ledger->read_after(0, 100);
    }
    ASSERT_TRUE(some.has_value() && some->size() == 1);
}

TEST_F(KafkaLedgerTest, ASearchIsBounded) {
    write_raw(topic, {encode(accepted(0)), encode(accepted(1)), encode(accepted(2))});
    auto options = ledger_options(topic);
    options.scan_records_max = 2;
    const auto ledger = ledger_of(options);
    EXPECT_TRUE(ledger->find_after(0, purchase(1))->has_value());
    EXPECT_EQ(ledger->find_after(0, purchase(2)).error().code, StoreErrc::unavailable);
    EXPECT_TRUE(ledger->find_after(1, purchase(2))->has_value());
}

}  // namespace
}  // namespace doorbuster
