#include "store_cluster/redis_checks.hpp"

#include <fstream>
#include <sstream>

#include "store_cluster/checks_testing.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t few = 1'000;  // acceptances

const std::vector<std::string> with_a_file{"--appendonly", "yes"};

std::vector<std::string> with_a_file_and(std::vector<std::string> more) {
    more.insert(more.begin(), with_a_file.begin(), with_a_file.end());
    return more;
}

void load_library(const RedisServer& server) {
    RedisSession redis = server.connect();
    ASSERT_FALSE(error_in(*ask(redis, load_library_call())));
}

WarmUpFindings check(const RedisServer& server, uint64_t acceptances = few) {
    return check_redis({.address = server.address(), .setup = server.address(), .wait_max = redis_wait_max},
                       {acceptances, redis_wait_max});
}

RedisFacts facts_of(const RedisServer& server) {
    RedisSession redis = server.connect();
    auto facts = read_redis_facts(redis);
    if (!facts) throw std::runtime_error(facts.error().detail);
    return *facts;
}

const RedisFacts healthy{.version = "7.0.15",
                         .role = "master",
                         .eviction = "noeviction",
                         .bytes_used = 1 << 20,
                         .bytes_max = 1ull << 30,
                         .appends = true};

TEST(RedisChecks, AHealthyOneHasNoFindings) {
    const RedisServer server(with_a_file);
    load_library(server);
    EXPECT_THAT(told(check(server)), IsEmpty());
    EXPECT_THAT(told(judge_redis(healthy, few)), IsEmpty());
}

TEST(RedisChecks, OneThatMayForgetBuyersIsAFailure) {
    const RedisServer server(with_a_file_and({"--maxmemory-policy", "allkeys-lru"}));
    load_library(server);
    const auto found = check(server);
    EXPECT_THAT(told(found), ElementsAre("failure redis.eviction"));
    EXPECT_THAT(mend_of(found, "redis.eviction"), HasSubstr("CONFIG SET maxmemory-policy noeviction"));
}

TEST(RedisChecks, MemoryForEveryAcceptanceMustBeFree) {
    const RedisServer server(with_a_file_and({"--maxmemory", "64mb"}));
    load_library(server);
    EXPECT_THAT(told(check(server, 20'000)), IsEmpty());
    const auto found = check(server, 1'000'000);
    EXPECT_THAT(told(found), ElementsAre("failure redis.memory"));
    EXPECT_THAT(mend_of(found, "redis.memory"), HasSubstr("CONFIG SET maxmemory "));
}

TEST(RedisChecks, WithoutABoundTheMemoryOfTheMachineCounts) {
    const RedisServer server;
    EXPECT_FALSE(facts_of(server).has_maxmemory);
    EXPECT_GT(facts_of(server).bytes_max, 64u << 20);
    const auto found = judge_redis(healthy, 2'000'000);
    EXPECT_THAT(told(found), ElementsAre("failure redis.memory"));
    EXPECT_THAT(mend_of(found, "redis.memory"), HasSubstr("more memory"));
}

TEST(RedisChecks, AnAcceptanceTakesNoMoreThanIsReckonedWith) {
    constexpr uint32_t takes = 33'000;  // a little over a power of two, where the tables have just grown
    LoadedBook book(takes);
    const uint64_t before = facts_of(book.server).bytes_used;
    for (uint32_t first = 0; first < takes; first += entries_per_call_max) {
        std::vector<ReserveEntry> entries;
        for (uint32_t i = first; i < std::min<uint32_t>(takes, first + entries_per_call_max); ++i)
            entries.push_back({.purchase = purchase(i), .buyer = BuyerId(fmt::format("{:036}", i))});
        for (const auto& verdict : *book.reserve(entries))
            ASSERT_EQ(verdict.value().outcome, ReserveOutcome::accepted);
    }
    const uint64_t each = (facts_of(book.server).bytes_used - before) / takes;
    RecordProperty("bytes_per_acceptance", std::to_string(each));
    EXPECT_LE(each, redis_bytes_per_acceptance);
    EXPECT_GE(each * 4, redis_bytes_per_acceptance) << "asks for far more than is needed";
}

TEST(RedisChecks, NothingOnTheDiskIsAWarning) {
    const RedisServer server;
    load_library(server);
    const auto found = check(server);
    EXPECT_THAT(told(found), ElementsAre("warning redis.persistence"));
    EXPECT_TRUE(is_warm(found));
}

TEST(RedisChecks, ASnapshotThatFailsIsAFailureBecauseWritesAreRefused) {
    const RedisServer server({"--save", "3600 1"});
    EXPECT_TRUE(facts_of(server).snapshots);
    const auto folder = std::filesystem::path(server.address().socket).parent_path();
    std::filesystem::create_directory(folder / "dump.rdb");
    RedisSession redis = server.connect();
    (void)ask(redis, {"BGSAVE"});
    for (const Patience patience; facts_of(server).write_fault.empty();)
        patience.check("the snapshot does not fail");
    EXPECT_THAT(told(check(server)), Contains("failure redis.disk"));
}

TEST(RedisChecks, AReplicaIsAFailure) {
    const RedisServer master({}, RedisServer::Listens::on_a_port_too);
    const RedisServer replica({"--replicaof", "127.0.0.1", master.port()});
    const auto found = judge_redis(facts_of(replica), few);
    EXPECT_THAT(told(found), Contains("failure redis.role"));
    EXPECT_THAT(mend_of(found, "redis.role"), HasSubstr("redis.url"));
}

TEST(RedisChecks, ReplicasThatItWaitsForInVainAreAFailure) {
    const RedisServer server(with_a_file_and({"--min-replicas-to-write", "1"}));
    EXPECT_THAT(told(check(server)), Contains("failure redis.replicas"));
}

TEST(RedisChecks, AReplicaThatIsStillCopiedIsAWarning) {
    RedisFacts facts = healthy;
    facts.replicas_coming = 1;
    EXPECT_THAT(told(judge_redis(facts, few)), ElementsAre("warning redis.replicas_coming"));
}

TEST(RedisChecks, OneThatIsFarAwayIsAWarning) {
    const RedisServer server(with_a_file);
    load_library(server);
    const RedisCaller::Options place{
        .address = server.address(), .setup = server.address(), .wait_max = redis_wait_max};
    EXPECT_THAT(told(check_redis(place, {few, 0ms})), ElementsAre("warning redis.distance"));
}

TEST(RedisChecks, AMissingLibraryIsAFailure) {
    const RedisServer server(with_a_file);
    EXPECT_THAT(told(check(server)), ElementsAre("failure redis.library"));
}

TEST(RedisChecks, ASilentOneIsAFailure) {
    RedisServer server;
    server.stop();
    EXPECT_THAT(told(check(server)), ElementsAre("failure redis.reachable"));
}

TEST(RedisChecks, AnOlderVersionIsAFailureAndNothingElseIsSaidOfIt) {
    RedisFacts facts = healthy;
    facts.version = "6.2.14";
    facts.eviction = "allkeys-lru";
    EXPECT_THAT(told(judge_redis(facts, few)), ElementsAre("failure redis.version"));
}

// As deploy/redis/users.acl has it, password included.
void add_user(RedisSession& redis, const std::string& user) {
    std::ifstream file(DOORBUSTER_USERS_ACL);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word, name;
        words >> word >> name;
        if (name != user) continue;
        RedisCall set{"ACL", "SETUSER", user, "reset"};
        while (words >> word) set.push_back(word);
        ASSERT_FALSE(error_in(*ask(redis, set)));
    }
}

TEST(RedisChecks, TheUsersOfTheAclSufficeAndTheServersOwnDoesNotReadSettings) {
    const RedisServer server(with_a_file);
    load_library(server);
    RedisSession redis = server.connect();
    add_user(redis, "doorbuster");
    add_user(redis, "doorbuster-setup");
    RedisAddress gate = server.address(), setup = server.address();
    gate.user = "doorbuster";
    gate.password = "CHANGE-ME";
    setup.user = "doorbuster-setup";
    setup.password = "CHANGE-ME-TOO";
    EXPECT_THAT(told(check_redis({.address = gate, .setup = setup, .wait_max = redis_wait_max},
                                 {few, redis_wait_max})),
                IsEmpty());
    EXPECT_THAT(told(check_redis({.address = gate, .setup = gate, .wait_max = redis_wait_max},
                                 {few, redis_wait_max})),
                ElementsAre("failure redis.permission"));
    gate.password = "another";
    EXPECT_THAT(told(check_redis({.address = gate, .setup = setup, .wait_max = redis_wait_max},
                                 {few, redis_wait_max})),
                ElementsAre("failure redis.permission"));
}

}  // namespace
}  // namespace doorbuster
