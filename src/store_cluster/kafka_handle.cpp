#include "store_cluster/kafka_handle.hpp"

#include <array>

#include "base/check.hpp"
#include "base/log.hpp"

namespace doorbuster {

namespace {

// A broker that is away is looked for again this often: librdkafka's ten seconds would keep a sale
// waiting for one that is back.
constexpr const char* reconnect_ms_first = "50";
constexpr const char* reconnect_ms_max = "1000";

constexpr int warning = 4;  // syslog's numbers
constexpr int error = 3;

void log_line(const rd_kafka_t*, int level, const char* facility, const char* text) {
    if (level <= error) {
        log_error("Kafka client", {{"what", facility}, {"said", text}});
    } else if (level <= warning) {
        log_warn("Kafka client", {{"what", facility}, {"said", text}});
    }
}

}  // namespace

StoreError kafka_error(StoreErrc code, std::string_view operation, std::string_view detail) {
    return {code, std::string(operation), std::string(detail)};
}

StoreError kafka_error(StoreErrc code, std::string_view operation, rd_kafka_resp_err_t why) {
    return kafka_error(code, operation, std::string_view(rd_kafka_err2str(why)));
}

StoreResult<KafkaConf> kafka_conf(const std::string& brokers, std::initializer_list<KafkaSetting> settings) {
    KafkaConf conf(rd_kafka_conf_new());
    std::array<char, 512> why{};
    const auto set = [&](const char* name, const char* value) {
        return rd_kafka_conf_set(conf.get(), name, value, why.data(), why.size()) == RD_KAFKA_CONF_OK;
    };
    if (brokers.empty() || !set("bootstrap.servers", brokers.c_str())) {
        return kafka_error(StoreErrc::not_allowed, "kafka.brokers",
                           brokers.empty() ? "none are named" : why.data());
    }
    CHECK(set("client.id", "doorbuster"));
    CHECK(set("reconnect.backoff.ms", reconnect_ms_first));
    CHECK(set("reconnect.backoff.max.ms", reconnect_ms_max));
    for (const KafkaSetting& setting : settings) {
        if (!set(setting.name, setting.value.c_str())) {
            return kafka_error(StoreErrc::not_allowed, "Kafka settings", why.data());
        }
    }
    rd_kafka_conf_set_log_cb(conf.get(), &log_line);
    return conf;
}

StoreResult<KafkaClient> kafka_client(rd_kafka_type_t type, KafkaConf conf) {
    std::array<char, 512> why{};
    KafkaClient client(rd_kafka_new(type, conf.get(), why.data(), why.size()));
    if (!client) return kafka_error(StoreErrc::unavailable, "start a Kafka client", why.data());
    static_cast<void>(conf.release());  // it is the client's now
    return client;
}

StoreResult<KafkaMetadata> kafka_metadata(rd_kafka_t* client, rd_kafka_topic_t* topic,
                                          milliseconds wait_max) {
    const std::string operation = std::string("look at the Kafka topic ") + rd_kafka_topic_name(topic);
    const rd_kafka_metadata_t* answer = nullptr;
    const rd_kafka_resp_err_t silent =
        rd_kafka_metadata(client, 0, topic, &answer, static_cast<int>(wait_max.count()));
    if (silent != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_error(StoreErrc::unavailable, operation, silent);
    KafkaMetadata metadata(answer);
    CHECK(metadata->topic_cnt == 1);
    switch (const rd_kafka_resp_err_t why = metadata->topics[0].err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            return metadata;
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
            return kafka_error(StoreErrc::not_found, operation, "there is none of this name");
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            return kafka_error(StoreErrc::not_allowed, operation, why);
        default:
            return kafka_error(StoreErrc::unavailable, operation, why);
    }
}

}  // namespace doorbuster
