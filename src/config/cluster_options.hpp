// The options of the cluster backend: where Redis, Kafka and PostgreSQL are. The embedded backend reads none.
#pragma once

#include <string>

#include "config/option.hpp"

namespace doorbuster {

struct RedisOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> url{
        *this, "url", "redis://127.0.0.1:6379", redis_url_rule,
        "The Redis that decides who gets a unit, redis://USER:PASSWORD@HOST:PORT, or unix:PATH. Its user may "
        "be held to what deploy/redis/users.acl lists. It is a filter that is rebuilt when it is lost; it "
        "must never evict."};
    Option<std::string> setup_url{
        *this, "setup_url", "", optional_redis_url_rule,
        "The same Redis as the user who may load functions and read its settings. Empty: redis.url may."};
    Option<uint32_t> connections{
        *this,
        "connections",
        10,
        {.min = 10, .max = 50},
        "Long connections of each process. Purchases that come together travel together, so ten do; more "
        "help where one sale has very many items."};
    Option<uint32_t> call_ms_max{
        *this,
        "call_ms_max",
        500,
        {.min = 10, .max = 2'000},
        "How long an answer of Redis is waited for. Beyond it buyers hear `unknown`, for it may have taken "
        "their unit; they repeat and find out."};
};

struct KafkaOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> brokers{*this, "brokers", "127.0.0.1:9092", brokers_rule,
                                "Where the ledger's brokers are: HOST:PORT, separated by commas. One that "
                                "answers leads to the rest."};
    Option<std::string> topic{*this, "topic", "doorbuster-ledger", topic_rule,
                              "The ledger's topic. The first process that starts makes it."};
    Option<std::string> dead_letters_topic{
        *this, "dead_letters_topic", "", optional_topic_rule,
        "Where records of the ledger that could not be placed are told of, too: the key is PARTITION/OFFSET, "
        "the same in every repeat, and a header has the reason. A sweeper makes it. Empty: the ledger's name "
        "and .dead-letters."};
    Option<uint32_t> partitions{
        *this,
        "partitions",
        4,
        {.min = 1, .max = 1'024},
        "Partitions of the ledger: as many workers can place orders at the same time. Pinned in PostgreSQL "
        "by "
        "the first process that starts, and not to be changed while the topic lives."};
    Option<uint32_t> replicas{
        *this,
        "replicas",
        3,
        {.min = 1, .max = 9},
        "Brokers that have each record. A yes is kept when a broker is lost only from 2 on; 1 is a lone "
        "broker, which then flushes every record to its disk."};
};

struct PostgresOptions : OptionGroup {
    using OptionGroup::OptionGroup;

    Option<std::string> url{
        *this, "url", "postgresql://127.0.0.1/doorbuster", postgres_url_rule,
        "The primary, the authority on stock, orders and payments: postgresql://USER:PASSWORD@HOST/DATABASE. "
        "The database is there; its tables are made at the first start."};
    Option<std::string> replica_url{
        *this, "replica_url", "", optional_postgres_url_rule,
        "A copy of it that buyers' orders may be read from. It may be a moment behind; purchases are always "
        "looked up at the primary. Empty, or while it does not answer: the primary."};
    Option<uint32_t> connections{*this,
                                 "connections",
                                 0,
                                 {.max = 1'000},
                                 "Connections that stay open for look-ups; 0 takes two per core. Beside them "
                                 "each process has a few of "
                                 "its own, and one for each partition that it places."};
    Option<uint32_t> overflow_max{*this,
                                  "overflow_max",
                                  0,
                                  {.max = 1'000},
                                  "Connections more that a rush may open; 0 takes two per core."};
    Option<uint32_t> wait_ms_max{
        *this,
        "wait_ms_max",
        30'000,
        {.min = 10, .max = 600'000},
        "How long a look-up waits for a connection before it is 503. Longer than buyers wait helps nobody."};
};

}  // namespace doorbuster
