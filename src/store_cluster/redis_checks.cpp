#include "store_cluster/redis_checks.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

namespace doorbuster {

namespace {

using Words = std::map<std::string, std::string, std::less<>>;
using std::chrono::steady_clock;

constexpr int redis_version_min = 7;
constexpr int round_trips = 5;

// "name:value" lines.
Words words_in(std::string_view info) {
    Words words;
    while (!info.empty()) {
        std::string_view line = info.substr(0, info.find('\n'));
        info.remove_prefix(std::min(info.size(), line.size() + 1));
        if (line.ends_with('\r')) line.remove_suffix(1);
        const size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        words.emplace(line.substr(0, colon), line.substr(colon + 1));
    }
    return words;
}

std::string_view word(const Words& words, std::string_view name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string_view() : std::string_view(found->second);
}

uint64_t number(std::string_view text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

RedisResult<RedisReplyPtr> answer_of(RedisSession& session, const RedisCall& call) {
    auto reply = session.run(call);
    if (!reply) return reply.error();
    if (auto error = error_in(**reply)) return *error;
    return reply;
}

// Several settings in one call: Redis 7.
RedisResult<Words> settings_of(RedisSession& session, RedisCall names) {
    names.insert(names.begin(), {"CONFIG", "GET"});
    const auto reply = answer_of(session, names);
    if (!reply) return reply.error();
    Words words;
    for (size_t i = 0; i + 1 < (*reply)->elements; i += 2) {
        const redisReply &name = *(*reply)->element[i], &value = *(*reply)->element[i + 1];
        if (name.str == nullptr || value.str == nullptr) continue;
        words.emplace(std::string(name.str, name.len), std::string(value.str, value.len));
    }
    return words;
}

int major_of(std::string_view version) {
    return static_cast<int>(number(version.substr(0, version.find('.'))));
}

void read_replicas(const Words& info, RedisFacts& into) {
    const uint64_t connected = number(word(info, "connected_slaves"));
    uint64_t online = 0;
    for (uint64_t i = 0; i < connected; ++i) {
        const auto line = word(info, "slave" + std::to_string(i));
        online += line.find("state=online") != std::string_view::npos;
    }
    into.replicas_coming = connected - online;
    into.replicas_good = into.replicas_wanted > 0 ? number(word(info, "min_slaves_good_slaves")) : online;
}

std::string mebibytes(uint64_t bytes) {
    return fmt::format("{} MiB", (bytes + (1 << 20) - 1) >> 20);
}

// Who asks without an answer hears why, and what to look at.
WarmUpFinding unanswered(std::string_view user, const RedisError& error) {
    if (error.detail.starts_with("NOPERM") || error.detail.starts_with("WRONGPASS")) {
        return {.check = "redis.permission",
                .what = fmt::format("Redis does not permit what {} needs: {}", user, error.detail),
                .mend =
                    "give both users the permissions of deploy/redis/users.acl, and set redis.url and "
                    "redis.setup_url with their passwords"};
    }
    return {.check = "redis.reachable",
            .what = "Redis does not answer: " + error.detail,
            .mend = "start it, or set redis.url to the one that is to be sold from"};
}

std::optional<WarmUpFinding> library_fault(RedisSession& gate) {
    const auto reply = gate.run(peek_call({SaleId("warm-up"), ItemId("warm-up")}));
    if (!reply) return unanswered("the server's user", reply.error());
    const auto error = error_in(**reply);
    if (!error) return std::nullopt;
    if (error->code != RedisErrc::missing) return unanswered("the server's user", *error);
    return WarmUpFinding{
        .check = "redis.library",
        .what = "Redis does not have the function library yet",
        .mend =
            "a coordinator loads it with the first book of a warming sale: if this stays, see in the log "
            "why it does not, and that doorbuster-setup has +function|load"};
}

std::optional<WarmUpFinding> distance_fault(RedisSession& gate, milliseconds round_trip_max) {
    auto shortest = steady_clock::duration::max();
    for (int i = 0; i < round_trips; ++i) {
        const auto asked = steady_clock::now();
        if (const auto reply = answer_of(gate, {"TIME"}); !reply)
            return unanswered("the server's user", reply.error());
        shortest = std::min(shortest, steady_clock::now() - asked);
    }
    if (shortest <= round_trip_max) return std::nullopt;
    return WarmUpFinding{
        .check = "redis.distance",
        .severity = Severity::warning,
        .what = fmt::format(
            "Redis needs {} ms for the shortest answer, more than {}: every purchase waits for it",
            std::chrono::duration_cast<milliseconds>(shortest).count(), round_trip_max.count()),
        .mend =
            "run the servers in the network of Redis; `redis-cli --latency` and `SLOWLOG GET` show "
            "whether it is far away or busy"};
}

}  // namespace

RedisResult<RedisFacts> read_redis_facts(RedisSession& setup) {
    const auto said = answer_of(setup, {"INFO"});
    if (!said) return said.error();
    const Words info = words_in({(*said)->str, (*said)->len});
    RedisFacts facts{.version = std::string(word(info, "redis_version")),
                     .role = std::string(word(info, "role")),
                     .eviction = std::string(word(info, "maxmemory_policy")),
                     .bytes_used = number(word(info, "used_memory"))};
    const uint64_t maxmemory = number(word(info, "maxmemory"));
    facts.has_maxmemory = maxmemory > 0;
    facts.bytes_max = maxmemory > 0 ? maxmemory : number(word(info, "total_system_memory"));
    if (major_of(facts.version) < redis_version_min) return facts;

    const auto settings =
        settings_of(setup, {"save", "stop-writes-on-bgsave-error", "min-replicas-to-write"});
    if (!settings) return settings.error();
    facts.appends = word(info, "aof_enabled") == "1";
    facts.snapshots = !word(*settings, "save").empty();
    if (facts.appends && word(info, "aof_last_write_status") == "err") {
        facts.write_fault = "its append-only file cannot be written";
    } else if (facts.snapshots && word(info, "rdb_last_bgsave_status") == "err" &&
               word(*settings, "stop-writes-on-bgsave-error") == "yes") {
        facts.write_fault = "its last snapshot failed, and it refuses writes until one succeeds";
    }
    facts.replicas_wanted = number(word(*settings, "min-replicas-to-write"));
    read_replicas(info, facts);
    return facts;
}

WarmUpFindings judge_redis(const RedisFacts& facts, uint64_t acceptances_expected) {
    if (major_of(facts.version) < redis_version_min) {
        return {{.check = "redis.version",
                 .what = fmt::format("Redis has version {}; its functions need {}.0 or later", facts.version,
                                     redis_version_min),
                 .mend = "install Redis 7.0 or later"}};
    }
    WarmUpFindings found;
    if (facts.role != "master") {
        found.push_back({.check = "redis.role",
                         .what = "this Redis is a replica: nothing can be sold from it",
                         .mend = "set redis.url to the master, or make this one it: `REPLICAOF NO ONE`"});
    }
    if (facts.eviction != "noeviction") {
        found.push_back(
            {.check = "redis.eviction",
             .what = fmt::format("maxmemory-policy is {}: full, Redis would throw away who has bought",
                                 facts.eviction),
             .mend = "`CONFIG SET maxmemory-policy noeviction`, and the same line in redis.conf"});
    }
    const uint64_t bytes_wanted = acceptances_expected * redis_bytes_per_acceptance * redis_memory_factor;
    const uint64_t bytes_free = facts.bytes_max - std::min(facts.bytes_max, facts.bytes_used);
    if (bytes_free < bytes_wanted) {
        found.push_back(
            {.check = "redis.memory",
             .what = fmt::format("Redis has {} left, and {} purchases may need {}: full, it refuses them",
                                 mebibytes(bytes_free), acceptances_expected, mebibytes(bytes_wanted)),
             .mend =
                 facts.has_maxmemory
                     ? fmt::format("`CONFIG SET maxmemory {}mb` or more, where the machine has it, and the "
                                   "same line in redis.conf",
                                   (facts.bytes_used + bytes_wanted + (1 << 20) - 1) >> 20)
                     : "give the machine of Redis more memory, or take other data off it"});
    }
    if (!facts.write_fault.empty()) {
        found.push_back(
            {.check = "redis.disk",
             .what = "Redis is about to refuse writes: " + facts.write_fault,
             .mend = "see its log; free its disk and mend the permissions of its folder, then `BGSAVE`"});
    } else if (!facts.appends && !facts.snapshots) {
        found.push_back({.check = "redis.persistence",
                         .severity = Severity::warning,
                         .what =
                             "Redis keeps nothing on its disk: no yes is lost with it, but what it had taken "
                             "and not yet handed on cannot be looked into after it died",
                         .mend = "`CONFIG SET appendonly yes`, and the same line in redis.conf"});
    }
    if (facts.replicas_good < facts.replicas_wanted) {
        found.push_back(
            {.check = "redis.replicas",
             .what = fmt::format("Redis wants {} replicas to write and has {}: it refuses every purchase",
                                 facts.replicas_wanted, facts.replicas_good),
             .mend = "connect the replicas (`INFO replication` lists them), or "
                     "`CONFIG SET min-replicas-to-write 0`"});
    }
    if (facts.replicas_coming > 0) {
        found.push_back(
            {.check = "redis.replicas_coming",
             .severity = Severity::warning,
             .what = fmt::format("{} replicas are still being copied", facts.replicas_coming),
             .mend = "wait until `INFO replication` says online for each, or disconnect them: one that "
                     "arrives in the sale may cause a rebuild"});
    }
    return found;
}

WarmUpFindings check_redis(const RedisCaller::Options& options, const RedisWanted& wanted) {
    auto gate = RedisSession::open(options.address, options.wait_max);
    if (!gate) return {unanswered("the server's user", gate.error())};
    auto setup = RedisSession::open(options.setup, options.wait_max);
    if (!setup) return {unanswered("the user for the set-up", setup.error())};
    const auto facts = read_redis_facts(*setup);
    if (!facts) return {unanswered("the user for the set-up", facts.error())};
    WarmUpFindings found = judge_redis(*facts, wanted.acceptances);
    if (major_of(facts->version) < redis_version_min) return found;
    if (auto fault = library_fault(*gate)) found.push_back(*std::move(fault));
    if (auto fault = distance_fault(*gate, wanted.round_trip_max)) found.push_back(*std::move(fault));
    return found;
}

}  // namespace doorbuster
