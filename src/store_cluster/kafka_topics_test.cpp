#include "store_cluster/kafka_topics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store_cluster/kafka_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KafkaTopicsTest : public WithKafka {
protected:
    static KafkaTopics open_topics() {
        auto opened = KafkaTopics::open({.brokers = kafka().brokers(), .wait_max = 60s});
        if (!opened) throw std::runtime_error(opened.error().text());
        return std::move(*opened);
    }
    // Each with how to mend it.
    static std::vector<std::string> differences(const KafkaTopicTerms& terms) {
        auto wrong = open_topics().differences(terms);
        if (!wrong) throw std::runtime_error(wrong.error().text());
        std::vector<std::string> told;
        for (const WarmUpFinding& one : *wrong) {
            EXPECT_EQ(one.severity, Severity::failure);
            told.push_back(one.what + ". " + one.mend);
        }
        return told;
    }
};

TEST_F(KafkaTopicsTest, ATopicThatItMadeIsAsItMustBe) {
    const std::string topic = kafka().create_topic(4);
    EXPECT_THAT(differences(kafka().terms(topic, 4)), IsEmpty());
    const auto again = open_topics().create(kafka().terms(topic, 4));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, StoreErrc::exists);
}

TEST_F(KafkaTopicsTest, AnotherCountOfPartitionsThanThePinnedIsTold) {
    const std::string topic = kafka().create_topic(4);
    EXPECT_THAT(
        differences(kafka().terms(topic, 6)),
        ElementsAre(AllOf(HasSubstr("has 4 partitions, and 6 are pinned"), HasSubstr("another name"))));
}

TEST_F(KafkaTopicsTest, FewerReplicasAndInSyncReplicasThanAskedForAreTold) {
    const std::string topic = kafka().create_topic(1);
    auto terms = kafka().terms(topic, 1);
    terms.replicas = 3;
    terms.insync_min = 2;
    EXPECT_THAT(differences(terms),
                ElementsAre(HasSubstr("has 1 replicas where 3 are asked for"),
                            AllOf(HasSubstr("min.insync.replicas of " + topic + " is 1, not 2"),
                                  HasSubstr("--add-config min.insync.replicas=2"))));
}

TEST_F(KafkaTopicsTest, AShorterRetentionIsToldAndALongerOneIsNot) {
    auto terms = kafka().terms("ledger-for-a-day", 1);
    terms.retention = 24h;
    ASSERT_TRUE(open_topics().create(terms));
    terms.retention = 1h;
    EXPECT_THAT(differences(terms), IsEmpty());
    terms.retention = 48h;
    EXPECT_THAT(differences(terms), ElementsAre(HasSubstr("retention.ms=172800000")));
    terms.retention = -1ms;
    EXPECT_THAT(differences(terms), ElementsAre(HasSubstr("retention.ms=-1")));
}

TEST_F(KafkaTopicsTest, ATopicThatIsNotThereIsNotFound) {
    const auto wrong = open_topics().differences(kafka().terms("nowhere", 1));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, StoreErrc::not_found) << wrong.error().text();
}

TEST_F(KafkaTopicsTest, MoreReplicasThanThereAreBrokersAreRefused) {
    auto terms = kafka().terms("too-many", 1);
    terms.replicas = 3;
    terms.insync_min = 2;
    const auto refused = open_topics().create(terms);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, StoreErrc::not_allowed) << refused.error().text();
}

TEST(KafkaTopicTermsTest, TermsThatKeepNoPromiseAreRefusedWithoutABroker) {
    auto topics = KafkaTopics::open({.brokers = "127.0.0.1:1"});
    ASSERT_TRUE(topics);
    for (KafkaTopicTerms terms : {KafkaTopicTerms{.name = "ledger", .partitions = 0},
                                  KafkaTopicTerms{.name = "ledger", .partitions = 1, .replicas = 0},
                                  KafkaTopicTerms{.name = "ledger", .partitions = 1, .insync_min = 1},
                                  KafkaTopicTerms{.name = "ledger", .partitions = 1, .insync_min = 4}}) {
        const auto refused = topics->create(terms);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, StoreErrc::not_allowed);
        EXPECT_FALSE(topics->differences(terms));
    }
}

TEST(KafkaTopicTermsTest, AMissingBrokerIsUnavailableAndTheOutcomeOfACreateUnknown) {
    auto topics = KafkaTopics::open({.brokers = "127.0.0.1:1", .wait_max = 200ms});
    ASSERT_TRUE(topics);
    const KafkaTopicTerms terms{.name = "ledger", .partitions = 1};
    const auto created = topics->create(terms);
    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().code, StoreErrc::unavailable);
    EXPECT_TRUE(created.error().outcome_unknown);
    const auto looked = topics->differences(terms);
    ASSERT_FALSE(looked);
    EXPECT_EQ(looked.error().code, StoreErrc::unavailable);
    EXPECT_FALSE(looked.error().outcome_unknown);
}

}  // namespace
}  // namespace doorbuster
