// One round of bench/reserve: a crowd asks Redis for units, in our way or in the textbook's, and the
// answer is one line of JSON: reservations per second, and the CPU that Redis spent on each.
//
//   doorbuster-bench-reserve SOCKET ours|textbook CROWD BEFORE PURCHASES UNITS
//
// Closed loop: each of the crowd asks again when it has been answered, under a new name. BEFORE purchases
// come first and are not measured: a hash of Redis is another thing while it is small.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include "base/check.hpp"
#include "store_cluster/redis_reserver.hpp"

namespace doorbuster {
namespace {

// One call per purchase, and the same decision: known id, window, limit, stock; then stock, right, outbox,
// id. A key for each thing, as the books have it; the stream numbers its entries itself. Neither fence nor
// epoch. Without the outbox entry a purchase would be lost when its gate dies before it has handed it on.
constexpr const char* textbook = R"(
local own = redis.call('HGET', KEYS[3], ARGV[1])
if own then return own end
local sale = redis.call('HMGET', KEYS[5], 'phase', 'opens_at', 'closes_at')
local now = tonumber(redis.call('TIME')[1])
if sale[1] ~= 'selling' or now < tonumber(sale[2]) or now >= tonumber(sale[3]) then return -3 end
local bought = tonumber(redis.call('HGET', KEYS[2], ARGV[2]) or '0')
if bought + ARGV[3] > tonumber(ARGV[4]) then return -2 end
if tonumber(redis.call('GET', KEYS[1])) < tonumber(ARGV[3]) then return -1 end
redis.call('DECRBY', KEYS[1], ARGV[3])
redis.call('HINCRBY', KEYS[2], ARGV[2], ARGV[3])
local entry = redis.call('XADD', KEYS[4], '*', 'purchase', ARGV[1], 'buyer', ARGV[2], 'units', ARGV[3])
redis.call('HSET', KEYS[3], ARGV[1], entry)
return 1
)";

RedisReplyPtr ask(RedisSession& redis, const RedisCall& call) {
    auto reply = redis.run(call);
    if (!reply) std::exit((fmt::print(stderr, "{}\n", reply.error().detail), 1));
    if (auto error = error_in(**reply)) std::exit((fmt::print(stderr, "{}\n", error->detail), 1));
    return std::move(*reply);
}

double cpu_s(RedisSession& redis) {
    const auto reply = ask(redis, {"INFO", "cpu"});
    const std::string text(reply->str, static_cast<size_t>(reply->len));
    const auto figure = [&](const std::string& name) {
        return std::stod(text.substr(text.find(name) + name.size()));
    };
    return figure("used_cpu_sys:") + figure("used_cpu_user:");
}

PurchaseId purchase(uint32_t number) {
    // Spread like the hashes that real ids are.
    PurchaseId id;
    uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < 16; ++i) {
        id.bytes[i] = static_cast<uint8_t>(mixed >> (8 * (i % 8)));
        if (i == 7) mixed *= 0xbf58476d1ce4e5b9ull;
    }
    return id;
}

struct Round {
    uint32_t crowd, last = 0, begun = 0, answered = 0, accepted = 0;
    std::function<void(uint32_t number)> ask_one;

    void begin() {
        if (begun < last) ask_one(begun++);
    }
    void end(bool is_accepted) {
        ++answered;
        accepted += is_accepted ? 1 : 0;
        begin();
    }
    void run(uint32_t purchases, boost::asio::io_context& loop) {
        last += purchases;
        for (uint32_t i = 0; i < crowd; ++i) begin();
        while (answered < last) loop.run_one();
    }
};

int run(int count, char** words) {
    if (count != 7)
        return fmt::print(
                   stderr,
                   "usage: doorbuster-bench-reserve SOCKET ours|textbook CROWD BEFORE PURCHASES UNITS\n"),
               2;
    ::signal(SIGPIPE, SIG_IGN);
    const RedisAddress address{.socket = words[1]};
    const bool is_ours = std::string(words[2]) == "ours";
    const auto number_in = [&](int word) { return static_cast<uint32_t>(std::atoi(words[word])); };
    Round round{.crowd = number_in(3), .ask_one = {}};
    const uint32_t before = number_in(4), purchases = number_in(5), units = number_in(6);

    auto redis = RedisSession::open(address, std::chrono::seconds(10));
    if (!redis) return fmt::print(stderr, "{}\n", redis.error().detail), 1;
    ask(*redis, {"FLUSHALL"});
    ask(*redis, load_library_call());
    const BookBucket bucket{SaleId("phone-drop"), ItemId("phone")};
    const Instant now = MonotonicClock::system_now();
    const BookWord word{.version = 1,
                        .phase = Phase::selling,
                        .terms = {.units_per_buyer_max = 1,
                                  .opens_at = now - std::chrono::hours(1),
                                  .closes_at = now + std::chrono::hours(1)}};
    const BookLoad load{
        .epoch = 2, .word = word, .stock = {.units_total = units, .units_available = units}, .takes = {}};
    const Fence fence{read_pin(*ask(*redis, load_call(bucket, load))).value(), 2};
    ask(*redis, {"SET", "{phone}:stock", std::to_string(units)});
    ask(*redis,
        {"HSET", "{phone}:sale", "phase", "selling", "opens_at", std::to_string(to_ms(now) / 1000 - 3600),
         "closes_at", std::to_string(to_ms(now) / 1000 + 3600)});
    const auto script = ask(*redis, {"SCRIPT", "LOAD", textbook});
    const std::string sha(script->str, static_cast<size_t>(script->len));

    boost::asio::io_context loop{1};
    // The textbook borrows a connection for each call, and has the larger pool.
    const size_t connections = is_ours ? 10 : 50;
    RedisClient client(loop, {.link = {.address = address, .call_max = std::chrono::seconds(10)},
                              .connections = connections,
                              .calls_per_connection_max = is_ours ? 64u : 1u});
    RedisReserver reserver(loop, client, bucket, [&] { return fence; });
    while (client.connections_up() < connections) loop.run_one();
    if (!is_ours) round.crowd = std::min(round.crowd, uint32_t{50});  // the others wait outside

    round.ask_one = [&](uint32_t number) {
        const BuyerId buyer(fmt::format("buyer-{}", number));
        if (is_ours) {
            CHECK(reserver.reserve({.purchase = purchase(number), .buyer = buyer},
                                   [&](const auto& verdict, const Fence&) {
                                       CHECK(verdict);
                                       round.end(verdict->outcome == ReserveOutcome::accepted);
                                   }));
            return;
        }
        const PurchaseId id = purchase(number);
        CHECK(client.call(
            {"EVALSHA", sha, "5", "{phone}:stock", "{phone}:buyers", "{phone}:ids", "{phone}:outbox",
             "{phone}:sale", std::string(id.bytes.begin(), id.bytes.end()), buyer.str(), "1", "1"},
            [&](const auto& reply) {
                CHECK(reply && (*reply)->type == REDIS_REPLY_INTEGER);
                round.end((*reply)->integer == 1);
            }));
    };
    round.run(before, loop);
    const double cpu_before = cpu_s(*redis);
    const auto began = std::chrono::steady_clock::now();
    round.run(purchases, loop);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double cpu = cpu_s(*redis) - cpu_before;
    CHECK(round.accepted == std::min(units, before + purchases));
    fmt::print("{{\"per_second\":{:.0f},\"redis_cpu_us\":{:.3f}}}\n", purchases / seconds,
               cpu * 1e6 / purchases);
    return 0;
}

}  // namespace
}  // namespace doorbuster

int main(int count, char** words) {
    return doorbuster::run(count, words);
}
