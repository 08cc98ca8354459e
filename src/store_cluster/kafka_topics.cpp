#include "store_cluster/kafka_topics.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <thread>

#include "base/check.hpp"
#include "store_cluster/kafka_record.hpp"

namespace doorbuster {

namespace {

constexpr milliseconds look_again{10};

// What a topic must have, and from where on more is as good.
struct Wanted {
    const char* name;
    std::string value;
    enum class Rule : uint8_t { exactly, at_least, at_least_or_unbounded } rule;
    const char* why;
};

std::vector<Wanted> wanted_settings(const KafkaTopicTerms& terms) {
    using enum Wanted::Rule;
    std::vector<Wanted> wanted{
        {"min.insync.replicas", fmt::to_string(terms.insync_min), at_least,
         "with fewer an acknowledged purchase is lost with one disk"},
        {"unclean.leader.election.enable", "false", exactly,
         "a replica that missed purchases could take over, and they would be gone"},
        {"cleanup.policy", "delete", exactly, "compaction keeps one record of a key and removes the others"},
        {"retention.ms", fmt::to_string(terms.retention.count()), at_least_or_unbounded,
         "purchases must stay until their sale is archived"},
        {"retention.bytes", "-1", exactly, "purchases must stay until their sale is archived, however many"},
        {"max.message.bytes", fmt::to_string(kafka_record_bytes_max + 512), at_least,
         "the longest record must fit"}};
    if (terms.replicas == 1) {
        wanted.push_back(
            {"flush.messages", "1", exactly,
             "a lone broker that does not flush loses what it acknowledged when the power goes"});
    }
    return wanted;
}

std::optional<int64_t> number_in(std::string_view text) {
    int64_t value = 0;
    const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (why != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool suffices(std::string_view has, const Wanted& wanted) {
    if (wanted.rule == Wanted::Rule::exactly) return has == wanted.value;
    auto is = number_in(has), least = number_in(wanted.value);
    if (!is || !least) return false;
    if (wanted.rule == Wanted::Rule::at_least_or_unbounded) {
        constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();
        if (*is == -1) is = unbounded;
        if (*least == -1) least = unbounded;
    }
    return *is >= *least;
}

// Terms that no topic could keep the promises by.
std::optional<StoreError> wrong_in(const KafkaTopicTerms& terms) {
    constexpr std::string_view operation = "Kafka topic";
    const auto refuse = [&](std::string_view why) {
        return kafka_error(StoreErrc::not_allowed, operation, why);
    };
    if (terms.partitions <= 0) return refuse("the count of partitions must be at least 1");
    if (terms.replicas <= 0) return refuse("the count of replicas must be at least 1");
    if (terms.insync_min > terms.replicas) {
        return refuse(fmt::format("min.insync.replicas {} with {} replicas: nothing could be written",
                                  terms.insync_min, terms.replicas));
    }
    if (terms.insync_min < std::min(terms.replicas, 2)) {
        return refuse(
            fmt::format("min.insync.replicas {} with {} replicas: a purchase could be acknowledged by one "
                        "broker and lost with it; set at least 2",
                        terms.insync_min, terms.replicas));
    }
    return std::nullopt;
}

using NewTopic = KafkaHeld<rd_kafka_NewTopic_t, &rd_kafka_NewTopic_destroy>;
using ConfigResource = KafkaHeld<rd_kafka_ConfigResource_t, &rd_kafka_ConfigResource_destroy>;
using AdminOptions = KafkaHeld<rd_kafka_AdminOptions_t, &rd_kafka_AdminOptions_destroy>;

void start_create(rd_kafka_t* client, const KafkaTopicTerms& terms, const rd_kafka_AdminOptions_t* options,
                  rd_kafka_queue_t* answers) {
    std::array<char, 512> why{};
    const NewTopic topic(
        rd_kafka_NewTopic_new(terms.name.c_str(), terms.partitions, terms.replicas, why.data(), why.size()));
    CHECK(topic);  // the terms were looked at
    for (const Wanted& wanted : wanted_settings(terms)) {
        if (std::string_view(wanted.name) == "max.message.bytes") continue;  // the default is plenty
        rd_kafka_NewTopic_set_config(topic.get(), wanted.name, wanted.value.c_str());
    }
    rd_kafka_NewTopic_t* one = topic.get();
    rd_kafka_CreateTopics(client, &one, 1, options, answers);
}

void start_describe(rd_kafka_t* client, const KafkaTopicTerms& terms, const rd_kafka_AdminOptions_t* options,
                    rd_kafka_queue_t* answers) {
    const ConfigResource resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, terms.name.c_str()));
    rd_kafka_ConfigResource_t* one = resource.get();
    rd_kafka_DescribeConfigs(client, &one, 1, options, answers);
}

StoreErrc code_of(rd_kafka_resp_err_t why) {
    switch (why) {
        case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
            return StoreErrc::exists;
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
            return StoreErrc::not_found;
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
        case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
        case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
            return StoreErrc::not_allowed;
        default:
            return StoreErrc::unavailable;
    }
}

}  // namespace

StoreResult<KafkaTopics> KafkaTopics::open(const Options& options) {
    auto conf = kafka_conf(options.brokers, {});
    if (!conf) return conf.error();
    auto client = kafka_client(RD_KAFKA_PRODUCER, std::move(*conf));
    if (!client) return client.error();
    return KafkaTopics(options, std::move(*client));
}

StoreResult<KafkaEvent> KafkaTopics::ask(std::string_view operation, rd_kafka_admin_op_t op, Start start,
                                         const KafkaTopicTerms& terms) {
    const auto wait_ms = static_cast<int>(options_.wait_max.count());
    std::array<char, 512> why{};
    const AdminOptions options(rd_kafka_AdminOptions_new(client_.get(), op));
    CHECK(rd_kafka_AdminOptions_set_request_timeout(options.get(), wait_ms, why.data(), why.size()) ==
          RD_KAFKA_RESP_ERR_NO_ERROR);
    const KafkaQueue answers(rd_kafka_queue_new(client_.get()));
    start(client_.get(), terms, options.get(), answers.get());
    // It answers by itself after its own time-out; the second one only bounds a mistake of the library.
    KafkaEvent event(rd_kafka_queue_poll(answers.get(), 2 * wait_ms));
    const bool is_change = op == RD_KAFKA_ADMIN_OP_CREATETOPICS;
    if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        StoreError error = kafka_error(StoreErrc::unavailable, operation,
                                       event ? rd_kafka_event_error_string(event.get()) : "no answer");
        error.outcome_unknown = is_change;
        return error;
    }
    return event;
}

StoreResult<void> KafkaTopics::create(const KafkaTopicTerms& terms) {
    const std::string operation = "create the Kafka topic " + terms.name;
    if (const auto wrong = wrong_in(terms)) return *wrong;
    auto event = ask(operation, RD_KAFKA_ADMIN_OP_CREATETOPICS, &start_create, terms);
    if (!event) return event.error();
    size_t count = 0;
    const rd_kafka_topic_result_t** results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event->get()), &count);
    CHECK(count == 1);
    const rd_kafka_resp_err_t why = rd_kafka_topic_result_error(results[0]);
    if (why == RD_KAFKA_RESP_ERR_NO_ERROR) return wait_until_led(terms);
    const char* said = rd_kafka_topic_result_error_string(results[0]);
    StoreError error = kafka_error(code_of(why), operation, said == nullptr ? rd_kafka_err2str(why) : said);
    error.outcome_unknown = error.code == StoreErrc::unavailable;
    return error;
}

// The controller's word comes before the brokers know of it.
StoreResult<void> KafkaTopics::wait_until_led(const KafkaTopicTerms& terms) {
    const KafkaTopic topic(rd_kafka_topic_new(client_.get(), terms.name.c_str(), nullptr));
    CHECK(topic);
    const auto deadline = std::chrono::steady_clock::now() + options_.wait_max;
    while (std::chrono::steady_clock::now() < deadline) {
        const auto metadata = kafka_metadata(client_.get(), topic.get(), options_.wait_max);
        if (metadata) {
            const rd_kafka_metadata_topic_t& found = (*metadata)->topics[0];
            int led = 0;
            for (int i = 0; i < found.partition_cnt; ++i) led += found.partitions[i].leader >= 0;
            if (led == terms.partitions) return {};
        }
        std::this_thread::sleep_for(look_again);
    }
    return StoreError{StoreErrc::unavailable, "create the Kafka topic " + terms.name,
                      "it is made, but not all of its partitions have a leader", true};
}

StoreResult<WarmUpFindings> KafkaTopics::differences(const KafkaTopicTerms& terms) {
    if (const auto wrong = wrong_in(terms)) return *wrong;
    WarmUpFindings wrong;
    if (const auto layout = compare_layout(terms, wrong); !layout) return layout.error();
    if (const auto settings = compare_settings(terms, wrong); !settings) return settings.error();
    return wrong;
}

StoreResult<void> KafkaTopics::compare_layout(const KafkaTopicTerms& terms, WarmUpFindings& wrong) {
    const KafkaTopic topic(rd_kafka_topic_new(client_.get(), terms.name.c_str(), nullptr));
    if (!topic) return kafka_error(StoreErrc::not_allowed, "look at a Kafka topic", rd_kafka_last_error());
    const auto metadata = kafka_metadata(client_.get(), topic.get(), options_.wait_max);
    if (!metadata) return metadata.error();
    const rd_kafka_metadata_topic_t& found = (*metadata)->topics[0];
    if (found.partition_cnt != terms.partitions) {
        wrong.push_back(
            {.check = "kafka.partitions",
             .what = fmt::format("{} has {} partitions, and {} are pinned: an item's records would go to one "
                                 "partition and be looked for in another",
                                 terms.name, found.partition_cnt, terms.partitions),
             .mend = fmt::format("partitions cannot be taken away: make a topic of another name with {} "
                                 "partitions and set it, before a sale has records here",
                                 terms.partitions)});
    }
    for (int i = 0; i < found.partition_cnt; ++i) {
        const rd_kafka_metadata_partition_t& partition = found.partitions[i];
        if (partition.replica_cnt < terms.replicas) {
            wrong.push_back(
                {.check = "kafka.replicas",
                 .what = fmt::format("partition {} of {} has {} replicas where {} are asked for",
                                     partition.id, terms.name, partition.replica_cnt, terms.replicas),
                 .mend = "assign it more with kafka-reassign-partitions.sh"});
        } else if (partition.isr_cnt < terms.insync_min) {
            wrong.push_back(
                {.check = "kafka.in_sync",
                 .what = fmt::format("partition {} of {} has {} replicas in sync where {} must acknowledge: "
                                     "nothing can be sold",
                                     partition.id, terms.name, partition.isr_cnt, terms.insync_min),
                 .mend = "bring the brokers back that are behind or away"});
        }
    }
    return {};
}

StoreResult<void> KafkaTopics::compare_settings(const KafkaTopicTerms& terms, WarmUpFindings& wrong) {
    const std::string operation = "look at the settings of the Kafka topic " + terms.name;
    auto event = ask(operation, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, &start_describe, terms);
    if (!event) return event.error();
    size_t resources = 0, entries = 0;
    const rd_kafka_ConfigResource_t** described = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event->get()), &resources);
    CHECK(resources == 1);
    if (const rd_kafka_resp_err_t why = rd_kafka_ConfigResource_error(described[0]); why != 0) {
        return kafka_error(code_of(why), operation, why);
    }
    const rd_kafka_ConfigEntry_t** settings = rd_kafka_ConfigResource_configs(described[0], &entries);
    for (const Wanted& wanted : wanted_settings(terms)) {
        std::string has = "unknown";
        for (size_t i = 0; i < entries; ++i) {
            const char* value = rd_kafka_ConfigEntry_value(settings[i]);
            if (std::string_view(wanted.name) == rd_kafka_ConfigEntry_name(settings[i]) && value != nullptr) {
                has = value;
            }
        }
        if (suffices(has, wanted)) continue;
        wrong.push_back({.check = fmt::format("kafka.{}", wanted.name),
                         .what = fmt::format("{} of {} is {}, not {}: {}", wanted.name, terms.name, has,
                                             wanted.value, wanted.why),
                         .mend = fmt::format("kafka-configs.sh --alter --entity-type topics --entity-name {} "
                                             "--add-config {}={}",
                                             terms.name, wanted.name, wanted.value)});
    }
    return {};
}

}  // namespace doorbuster
