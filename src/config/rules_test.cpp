#include "config/rules.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

TEST(Rules, AnAddressIsALiteralWithAPort) {
    for (const char* good : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:65535", "[::]:80"}) {
        EXPECT_FALSE(address_rule.fault(good)) << good;
    }
    for (const char* bad : {"", ":", "8080", "127.0.0.1", "127.0.0.1:", ":8080", "127.0.0.1:65536", "::1:80",
                            "[127.0.0.1]:80", "[::1]", "127.0.0.1:-1", "127.0.0.1:80 ", "example.org:80"}) {
        EXPECT_TRUE(address_rule.fault(bad)) << bad;
    }
}

TEST(Rules, LocalhostIsToldItsAddress) {
    EXPECT_NE(address_rule.fault("localhost:80").value().find("127.0.0.1"), std::string::npos);
}

TEST(Rules, AHostMayBeANameWhereItIsOnlyConnectedTo) {
    const auto parsed = parse_host_port("admin.example.org:9180");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->host, "admin.example.org");
    EXPECT_EQ(parsed->port, 9180);
}

TEST(Rules, ANumberStaysInItsRange) {
    const Rule<uint32_t> rule{.min = 2, .max = 8};
    EXPECT_FALSE(rule.fault(2));
    EXPECT_FALSE(rule.fault(8));
    EXPECT_EQ(rule.fault(1), "must be a whole number from 2 to 8");
    EXPECT_EQ(rule.fault(9), "must be a whole number from 2 to 8");
}

TEST(Rules, APowerOfTwoIsOne) {
    const Rule<uint32_t> rule{.min = 64, .max = 1024, .power_of_two = true};
    EXPECT_FALSE(rule.fault(64));
    EXPECT_EQ(rule.fault(96), "must be a power of two from 64 to 1024");
    EXPECT_TRUE(rule.fault(32));
}

TEST(Rules, NumbersInTextAreWholeNumbersAndNothingElse) {
    EXPECT_EQ(from_text<uint32_t>("17"), 17u);
    for (const char* bad : {"", " 1", "1 ", "+1", "-1", "1.5", "1e3", "0x10", "4294967296"}) {
        EXPECT_FALSE(from_text<uint32_t>(bad)) << bad;
    }
}

TEST(Rules, RolesAreNamedAndAtLeastOne) {
    for (const char* good : {"gate", "gate,worker", "sweeper, worker,gate"}) {
        EXPECT_FALSE(roles_rule.fault(good)) << good;
    }
    for (const char* bad : {"", ",", "gate,boss", "gate worker"}) EXPECT_TRUE(roles_rule.fault(bad)) << bad;
}

TEST(Rules, ARedisUrlNamesAPlaceAndMayNameAUser) {
    const auto url = parse_redis_url("redis://shop:p@ss:word@10.0.0.1:7000");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->host, "10.0.0.1");
    EXPECT_EQ(url->port, 7000);
    EXPECT_EQ(url->user, "shop");
    EXPECT_EQ(url->password, "p@ss:word");
    EXPECT_EQ(parse_redis_url("redis://cache")->port, 6379);
    EXPECT_EQ(parse_redis_url("redis://[::1]")->host, "::1");
    EXPECT_EQ(parse_redis_url("unix:/run/redis.sock")->socket, "/run/redis.sock");
    EXPECT_EQ(parse_redis_url("unix:shop:word@/run/redis.sock")->user, "shop");
    for (const char* bad : {"", "redis://", "cache:6379", "redis://a:0", "redis://a:70000", "unix:here",
                            "redis://secret@cache"}) {
        EXPECT_FALSE(parse_redis_url(bad)) << bad;
        EXPECT_TRUE(redis_url_rule.fault(bad)) << bad;
    }
    EXPECT_FALSE(optional_redis_url_rule.fault(""));
}

TEST(Rules, BrokersTopicAndDatabaseAreWellFormed) {
    EXPECT_FALSE(brokers_rule.fault("a:9092, 10.0.0.1:9093"));
    for (const char* bad : {"", "a", "a:9092,b"}) EXPECT_TRUE(brokers_rule.fault(bad)) << bad;
    EXPECT_FALSE(topic_rule.fault("doorbuster-ledger.1"));
    for (const char* bad : {"", "a b", "a/b"}) EXPECT_TRUE(topic_rule.fault(bad)) << bad;
    for (const char* good : {"postgresql://a@b/c", "postgres:///x", "host=/run dbname=x"}) {
        EXPECT_FALSE(postgres_url_rule.fault(good)) << good;
    }
    for (const char* bad : {"", "mysql://a", "db"}) EXPECT_TRUE(postgres_url_rule.fault(bad)) << bad;
}

TEST(Rules, ABackendIsOneOfTwo) {
    EXPECT_FALSE(backend_rule.fault("embedded"));
    EXPECT_FALSE(backend_rule.fault("cluster"));
    EXPECT_EQ(backend_rule.fault("redis"), "must be embedded or cluster");
}

TEST(Rules, WebhookSecretsAreWellFormedAndFew) {
    const std::string good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    for (const std::string& text : {std::string(), good, good + ", " + good}) {
        EXPECT_FALSE(webhook_secrets_rule.fault(text)) << text;
    }
    for (const std::string& text : {std::string("secret"), std::string("whsec_"), good + ",whsec_short",
                                    good + "," + good + "," + good + "," + good + "," + good}) {
        EXPECT_TRUE(webhook_secrets_rule.fault(text)) << text;
    }
    EXPECT_EQ(webhook_secrets_rule.fault("hunter2")->find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace doorbuster
