// The clients of the event loop against a real Redis that stalls, dies and comes back.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <netdb.h>

#include <mutex>
#include <thread>

#include "store_cluster/redis_reserver.hpp"
#include "store_cluster/redis_testing.hpp"

namespace {

std::mutex looked_up_mutex;
std::vector<std::thread::id> looked_up_on;  // guarded by looked_up_mutex

}  // namespace

// In the place of the system's, for hiredis and Asio, too: who looks a name up waits for it.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
    {
        std::lock_guard lock(looked_up_mutex);
        if (host != nullptr && std::string_view(host) == "localhost")
            looked_up_on.push_back(std::this_thread::get_id());
    }
    static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(host, service, hints, found);
}

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::Test;

class RedisClients : public Test {
protected:
    RedisClients() {
        // By Redis' own clock the sale is on.
        book.word.terms.opens_at = from_ms(0);
        book.word.terms.closes_at = t0 + 24h * 36500;
        book.load(4, 1000);
    }

    RedisClient::Options options(size_t connections) const {
        return {.link = {.address = book.server.address(),
                         .connect_max = redis_wait_max,
                         .call_max = redis_wait_max},
                .connections = connections};
    }
    template <class Done>
    void run_until(Done done) {
        for (const Patience patience; !done(); patience.check("it does not happen"))
            loop.run_one_until(patience.until());
    }
    void connect(RedisClient& client, size_t connections = 1) {
        run_until([&] { return client.connections_up() == connections; });
    }

    // What the call brings: an answer's error, its own, or none.
    std::optional<RedisError> outcome_of(RedisClient& client, const RedisCall& call) {
        std::optional<RedisError> heard;
        bool is_answered = false;
        const auto sent = client.call(call, [&](const RedisResult<const redisReply*>& reply) {
            is_answered = true;
            heard = reply ? error_in(**reply) : reply.error();
        });
        if (!sent) return sent.error();
        EXPECT_FALSE(is_answered);  // never from within the call
        run_until([&] { return is_answered; });
        return heard;
    }
    uint64_t functions_called() {
        const auto reply = ask(book.redis, {"INFO", "commandstats"});
        const std::string text(reply->str, static_cast<size_t>(reply->len));
        const size_t at = text.find("cmdstat_fcall:calls=");
        return at == std::string::npos ? 0 : std::stoull(text.substr(at + 20));
    }

    LoadedBook book{1};
    boost::asio::io_context loop{1};
};

TEST_F(RedisClients, PurchasesThatArriveTogetherTravelTogether) {
    RedisClient client(loop, options(2));
    RedisReserver reserver(loop, client, book.bucket, [&] { return book.fence; });
    connect(client, 2);
    const uint64_t before = functions_called();
    std::vector<uint64_t> sequences;
    constexpr size_t purchases = 2 * entries_per_call_max + 40;
    for (uint32_t i = 0; i < purchases; ++i) {
        ASSERT_TRUE(reserver.reserve({.purchase = purchase(i), .buyer = BuyerId(std::to_string(i))},
                                     [&](const RedisResult<ReserveVerdict>& verdict, const Fence&) {
                                         ASSERT_TRUE(verdict);
                                         EXPECT_EQ(verdict->outcome, ReserveOutcome::accepted);
                                         sequences.push_back(verdict->take.sequence);
                                     }));
    }
    run_until([&] { return sequences.size() == purchases; });
    EXPECT_EQ(functions_called() - before, 3u);
    for (size_t i = 0; i < purchases; ++i) EXPECT_EQ(sequences[i], i + 1);  // first come, first served
    EXPECT_EQ(book.stock().units_available, 1000u - purchases);
}

TEST_F(RedisClients, AHostThatIsANameIsNotLookedUpOnTheLoop) {
    const RedisServer named({}, RedisServer::Listens::on_a_port_too);
    auto by_name = options(2);
    by_name.link.address = {.host = "localhost", .port = static_cast<uint16_t>(std::stoi(named.port()))};
    RedisClient client(loop, by_name);
    connect(client, 2);
    EXPECT_FALSE(outcome_of(client, {"PING"}));
    std::lock_guard lock(looked_up_mutex);
    EXPECT_GE(looked_up_on.size(), 2u);
    for (const std::thread::id one : looked_up_on) EXPECT_NE(one, std::this_thread::get_id());
}

TEST_F(RedisClients, AClientMayEndWhileItsHostIsLookedUp) {
    auto by_name = options(2);
    by_name.link.address = {.host = "localhost", .port = 1};
    { const RedisClient client(loop, by_name); }
    loop.run();
    loop.restart();
    // And before its loop has done anything with it: nothing is left behind.
    { const RedisClient client(loop, by_name); }
}

TEST_F(RedisClients, WhoWaitsBeyondTheBoundIsRefusedBeforeAnythingIsTaken) {
    RedisClient client(loop, options(1));
    size_t answers = 0;
    {
        RedisReserver reserver(loop, client, book.bucket, [&] { return book.fence; });
        const auto reserve = [&](uint32_t number) {
            return reserver.reserve({.purchase = purchase(number), .buyer = alice},
                                    [&](const auto& verdict, const Fence&) {
                                        EXPECT_EQ(verdict.error().code, RedisErrc::unreachable);
                                        EXPECT_FALSE(verdict.error().outcome_unknown);
                                        ++answers;
                                    });
        };
        for (uint32_t i = 0; i < RedisReserver::waiting_max; ++i) ASSERT_TRUE(reserve(i));
        const auto refused = reserve(RedisReserver::waiting_max);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, RedisErrc::busy);
    }
    EXPECT_EQ(answers, RedisReserver::waiting_max);
    EXPECT_EQ(book.stock().units_available, 1000u);
}

TEST_F(RedisClients, NoConnectionTakesMoreCallsThanItsBound) {
    auto narrow = options(1);
    narrow.calls_per_connection_max = 3;
    RedisClient client(loop, narrow);
    connect(client);
    int answers = 0;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.call({"PING"}, [&](const auto&) { ++answers; }));
    const auto refused = client.call({"PING"}, [&](const auto&) { ++answers; });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, RedisErrc::busy);
    run_until([&] { return answers == 3; });
}

TEST_F(RedisClients, AStalledRedisIsUnknownAndTheSameKeyTakesNoSecondUnit) {
    auto impatient = options(1);
    impatient.link.call_max = 50ms;
    impatient.link.connect_max = 1h;  // a call's time does not depend on it
    RedisClient client(loop, impatient), patient(loop, options(1));
    connect(client);
    connect(patient);
    const std::vector<ReserveEntry> of_alice{{.purchase = purchase(1), .buyer = alice}};
    const auto call = reserve_call(book.bucket, book.fence, of_alice);
    book.server.freeze();
    const auto heard = outcome_of(client, call);
    EXPECT_EQ(client.connections_up(), 0u);  // all behind it would be late, too
    book.server.thaw();
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->code, RedisErrc::late);
    EXPECT_TRUE(heard->outcome_unknown);

    EXPECT_FALSE(outcome_of(patient, call));
    connect(client);  // again, by itself
    EXPECT_EQ(book.stock().units_available, 999u);
}

TEST_F(RedisClients, ARedisThatWentAwayIsDialledAgainAndIsFencedThen) {
    RedisClient client(loop, options(3));
    connect(client, 3);
    const std::vector<ReserveEntry> of_alice{{.purchase = purchase(1), .buyer = alice}};
    const auto call = reserve_call(book.bucket, book.fence, of_alice);
    EXPECT_FALSE(outcome_of(client, call));

    book.server.freeze();  // so that the call is still under way
    bool is_answered = false;
    ASSERT_TRUE(client.call(call, [&](const auto& reply) {
        is_answered = true;
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, RedisErrc::unreachable);
        EXPECT_TRUE(reply.error().outcome_unknown);
    }));
    book.server.stop(SIGKILL);
    run_until([&] { return is_answered && client.connections_up() == 0; });
    const auto refused = outcome_of(client, call);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, RedisErrc::unreachable);
    EXPECT_FALSE(refused->outcome_unknown);  // nothing was sent

    book.server.start();
    book.redis = book.server.connect();
    (void)ask(book.redis, load_library_call());
    connect(client, 3);
    const auto fenced = outcome_of(client, call);
    ASSERT_TRUE(fenced);
    EXPECT_EQ(fenced->code, RedisErrc::fenced);
}

TEST_F(RedisClients, OnlyWhoIsLetInIsUp) {
    (void)ask(book.redis, {"ACL", "SETUSER", "gate", "on", ">right", "+fcall", "~*"});
    auto named = options(1);
    named.link.address.user = "gate";
    named.link.address.password = "wrong";
    RedisClient wrong(loop, named);
    named.link.address.password = "right";
    RedisClient right(loop, named);
    connect(right);
    const auto count_refused = [&] {
        const auto reply = ask(book.redis, {"INFO", "errorstats"});
        return std::string_view(reply->str, static_cast<size_t>(reply->len)).find("WRONGPASS") !=
               std::string_view::npos;
    };
    run_until(count_refused);
    EXPECT_EQ(wrong.connections_up(), 0u);
}

TEST_F(RedisClients, WhoeverWaitsIsToldWhenTheClientGoes) {
    std::optional<RedisError> heard;
    {
        RedisClient client(loop, options(1));
        connect(client);
        ASSERT_TRUE(client.call({"PING"}, [&](const auto& reply) { heard = reply.error(); }));
    }
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->code, RedisErrc::unreachable);
    EXPECT_TRUE(heard->outcome_unknown);
    loop.poll();
}

}  // namespace
}  // namespace doorbuster
