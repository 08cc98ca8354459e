// A Redis that is not the one that was pinned, cannot write, or is asked by somebody who may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "store_cluster/redis_caller.hpp"
#include "store_cluster/redis_funnel.hpp"
#include "store_cluster/redis_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using ::testing::StartsWith;

const std::vector<ReserveEntry> of_alice{{.purchase = purchase(1), .buyer = alice}};
const std::vector<ReserveEntry> of_bob{{.purchase = purchase(2), .buyer = bob}};

void expect_fenced(LoadedBook& book, const char* why) {
    const auto said = book.reserve(of_bob);
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, RedisErrc::fenced);
    EXPECT_EQ(said.error().detail, why);
    EXPECT_FALSE(said.error().outcome_unknown);
}

// Until Redis says so.
void await(RedisSession& redis, const RedisCall& call, std::string_view text) {
    for (const Patience patience;; patience.check("Redis does not come to say it")) {
        const auto reply = ask(redis, call);
        if (reply->type == REDIS_REPLY_STRING &&
            std::string_view(reply->str, static_cast<size_t>(reply->len)).find(text) !=
                std::string_view::npos)
            return;
        usleep(1000);
    }
}

TEST(RedisFence, ARestartedRedisIsAnotherOneThoughItHasTheSameBook) {
    LoadedBook book(5, {"--save", "3600 1"});
    ASSERT_TRUE(book.reserve(of_alice));
    book.server.stop();  // saves
    book.server.start();
    book.redis = book.server.connect();
    ASSERT_EQ(book.peek().book->epoch, book.fence.epoch);
    EXPECT_EQ(book.stock().units_available, 4u);
    // Both halves of the pin are others: the process and its history.
    EXPECT_NE(book.peek().pin.substr(0, 40), book.fence.pin.substr(0, 40));
    EXPECT_NE(book.peek().pin.substr(40), book.fence.pin.substr(40));
    expect_fenced(book, "FENCED pin");
    EXPECT_EQ(book.stock().units_available, 4u);
}

TEST(RedisFence, AnEmptyRedisIsNotSoldOut) {
    LoadedBook book(5);
    (void)ask(book.redis, {"FLUSHALL"});
    EXPECT_FALSE(book.peek().book);
    expect_fenced(book, "FENCED no book");
}

const std::vector<std::string> soon{"--repl-diskless-sync-delay", "0"};
constexpr auto on_a_port = RedisServer::Listens::on_a_port_too;

void follow(RedisSession& follower, const RedisServer& master) {
    (void)ask(follower, {"REPLICAOF", "127.0.0.1", master.port()});
    await(follower, {"INFO", "replication"}, "master_link_status:up");
}

TEST(RedisFence, AReplicaThatArrivesInMidSaleEndsNoLease) {
    LoadedBook book(5, soon, on_a_port);
    RedisServer other(soon, on_a_port);
    RedisSession replica = other.connect();
    follow(replica, book.server);
    EXPECT_TRUE(book.reserve(of_alice));
}

// Another item's rebuild sees to it that the functions are there.
TEST(RedisFence, TheFunctionsAreLoadedOnlyWhereTheseVeryOnesAreMissing) {
    LoadedBook book(5, soon, on_a_port);
    RedisCaller caller(
        {.address = book.server.address(), .setup = book.server.address(), .wait_max = redis_wait_max});
    RedisServer other(soon, on_a_port);
    RedisSession replica = other.connect();
    follow(replica, book.server);
    ASSERT_TRUE(caller.load_library());
    EXPECT_EQ(book.peek().pin, book.fence.pin) << "the replication id is another, and nothing was lost";
    EXPECT_TRUE(book.reserve(of_alice));

    const std::string older =
        "#!lua name=doorbuster\n"
        "redis.register_function{function_name = 'doorbuster_version', callback = function() return '1' end, "
        "flags = {'no-writes'}}";
    ASSERT_FALSE(error_in(*ask(book.redis, {"FUNCTION", "LOAD", "REPLACE", older})));
    ASSERT_TRUE(caller.load_library());
    EXPECT_TRUE(book.peek().book);
    ASSERT_FALSE(error_in(*ask(book.redis, {"FUNCTION", "FLUSH"})));
    ASSERT_TRUE(caller.load_library());
    EXPECT_TRUE(book.peek().book);
}

// However the snapshot of the other one is loaded.
class RedisRolledBack : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Loads, RedisRolledBack, ::testing::Values("disabled", "on-empty-db", "swapdb"),
                         [](const auto& one) { return "load" + std::to_string(one.index); });

TEST_P(RedisRolledBack, AMasterDemotedUnderAStaleReplicaAndPromotedAgainIsFencedByItsReplicationId) {
    auto settings = soon;
    settings.insert(settings.end(), {"--repl-diskless-load", GetParam()});
    LoadedBook book(5, settings, on_a_port);
    RedisServer other(soon, on_a_port);
    RedisSession replica = other.connect();
    follow(replica, book.server);

    // A replica answers nobody in the master's place.
    const auto said = read_reserve(*ask(replica, reserve_call(book.bucket, book.fence, of_bob, t0)), 1);
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, RedisErrc::refused);

    (void)ask(replica, {"REPLICAOF", "NO", "ONE"});  // cut off: from here on it is stale
    ASSERT_TRUE(book.reserve(of_alice));
    ASSERT_EQ(book.stock().units_available, 4u);
    const std::string run_id = book.fence.pin.substr(0, 40);

    follow(book.redis, other);
    (void)ask(book.redis, {"REPLICAOF", "NO", "ONE"});
    EXPECT_EQ(book.stock().units_available, 5u);  // Alice's purchase is lost here
    EXPECT_EQ(book.peek().pin.substr(0, 40), run_id);
    expect_fenced(book, "FENCED pin");
    EXPECT_EQ(book.stock().units_available, 5u);
}

TEST(RedisFence, ANewEpochEndsTheOldOutboxAndFencesItsLeases) {
    LoadedBook book(5);
    ASSERT_TRUE(book.reserve(of_alice));
    const Fence old = book.fence;
    book.load(4, 5);
    EXPECT_EQ(book.peek().book->outbox_entries, 0u);
    const std::vector<TakenAt> taken{{purchase(1), 1}};
    const auto done = read_number(*ask(book.redis, done_call(book.bucket, old, taken)));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().detail, "FENCED epoch 4");
    const auto again = book.reserve(of_bob);
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)[0]->take.epoch, 4u);
    EXPECT_EQ((*again)[0]->take.sequence, 1u);
}

TEST(RedisOutbox, FullMemoryRefusesThePurchaseWholeAndStillLetsTheOutboxDrain) {
    LoadedBook book(5);
    ASSERT_TRUE(book.reserve(of_alice));
    const auto before = book.peek();
    (void)ask(book.redis, {"CONFIG", "SET", "maxmemory", "1"});
    const auto said = book.reserve(of_bob);
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, RedisErrc::refused);
    EXPECT_THAT(said.error().detail, StartsWith("OOM"));
    EXPECT_EQ(book.stock(), before.book->figures.stock);
    EXPECT_EQ(book.peek().book->outbox_entries, 1u);
    const std::vector<TakenAt> taken{{purchase(1), 1}};
    const auto done = read_number(*ask(book.redis, done_call(book.bucket, book.fence, taken)));
    ASSERT_TRUE(done) << done.error().detail;
    EXPECT_EQ(*done, 1);

    (void)ask(book.redis, {"CONFIG", "SET", "maxmemory", "0"});
    const auto again = book.reserve(of_bob);
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)[0]->outcome, ReserveOutcome::accepted);
    EXPECT_EQ((*again)[0]->take.sequence, 2u);  // dense: the refused one used none up
}

TEST(RedisOutbox, AnEntryThatCannotBeWrittenChangesNothingAndIsNoRefusal) {
    LoadedBook book(5);
    ASSERT_TRUE(book.reserve(of_alice));
    const auto outbox = reserve_call(book.bucket, book.fence, of_bob)[4];
    (void)ask(book.redis, {"XADD", outbox, "999-1", "take", "somebody else's"});
    const Stock before = book.stock();
    const auto said =
        book.reserve({of_alice[0], of_bob[0], {.purchase = purchase(3), .buyer = carol, .units = 3}});
    ASSERT_TRUE(said);
    EXPECT_EQ((*said)[0]->outcome, ReserveOutcome::repeated);
    EXPECT_FALSE((*said)[1].has_value());
    EXPECT_EQ((*said)[2]->outcome, ReserveOutcome::limit_reached);
    EXPECT_EQ(book.stock(), before);
    EXPECT_EQ(book.peek().book->figures.sequence_last, 1u);
    const std::vector<PurchaseId> bobs{purchase(2)};
    EXPECT_FALSE((*read_find(*ask(book.redis, find_call(book.bucket, book.fence, bobs)), 1))[0].has_value());

    (void)ask(book.redis, {"XDEL", outbox, "999-1"});
    (void)ask(book.redis, {"XSETID", outbox, std::to_string(book.fence.epoch) + "-1"});
    const auto again = book.reserve(of_bob);  // the same id: a refusal bound nothing
    ASSERT_TRUE(again);
    EXPECT_EQ((*again)[0]->outcome, ReserveOutcome::accepted);
}

TEST(RedisOutbox, TheSweeperSeesOnlyWhatHasWaitedLongEnough) {
    LoadedBook book(5);
    ASSERT_TRUE(book.reserve(of_alice));
    const auto read = [&](Instant now, milliseconds age) {
        return read_outbox(*ask(book.redis, outbox_call(book.bucket, book.fence, {.age_min = age}, now)))
            ->size();
    };
    EXPECT_EQ(read(t0 + 999ms, 1000ms), 0u);
    EXPECT_EQ(read(t0 + 1s, 1000ms), 1u);
    EXPECT_EQ(read(t0 - 1h, 1000ms), 1u) << "the clock was set back: nobody knows how long it has waited";
}

TEST(RedisOutbox, ALatePaymentsEntryNamesWhatItReplaces) {
    LoadedBook book(5);
    ASSERT_TRUE(book.reserve({{.purchase = purchase(2), .buyer = bob, .replaces = purchase(1)}}));
    const auto entries = read_outbox(*ask(book.redis, outbox_call(book.bucket, book.fence, {}, t0)));
    ASSERT_EQ(entries->size(), 1u);
    EXPECT_EQ((*entries)[0].replaces, purchase(1));
    EXPECT_EQ((*entries)[0].known.buyer, bob);
}

TEST(RedisCall, OneThatIsMalformedIsRefusedWholeBeforeAnythingIsLookedAt) {
    LoadedBook book(5);
    const Stock before = book.stock();
    const auto good = reserve_call(book.bucket, book.fence, of_bob, t0);
    // The words behind the keys: lease, purchase, buyer, rest, time. The rest: units, the purchase that is
    // replaced.
    const auto packed = [](uint32_t units) {
        std::string text;
        for (const int shift : {24, 16, 8, 0}) text.push_back(static_cast<char>(units >> shift));
        return text;
    };
    for (const auto& [word, text] : std::vector<std::pair<size_t, std::string>>{{6, "short"},
                                                                                {7, ""},
                                                                                {7, std::string(129, 'b')},
                                                                                {8, packed(0)},
                                                                                {8, packed(100'000'001)},
                                                                                {8, packed(UINT32_MAX)},
                                                                                {8, "1"},
                                                                                {8, packed(1) + "short"},
                                                                                {9, ""},
                                                                                {9, "soon"},
                                                                                {9, "-1"},
                                                                                {9, "1.5"}}) {
        auto bad = good;
        bad[word] = text;
        const auto said = read_reserve(*ask(book.redis, bad), 1);
        ASSERT_FALSE(said) << word << ' ' << text;
        EXPECT_THAT(said.error().detail, StartsWith("MALFORMED"));
    }
    for (const size_t words : {6, 7, 8}) {  // a word is missing, or several
        const RedisCall bad(good.begin(), good.begin() + static_cast<ptrdiff_t>(words));
        EXPECT_THAT(read_reserve(*ask(book.redis, bad), 1).error().detail, StartsWith("MALFORMED")) << words;
    }
    EXPECT_EQ(book.stock(), before);
    EXPECT_TRUE(read_reserve(*ask(book.redis, good), 1));
}

TEST(RedisTime, WithNoneHandedInItIsRedisOwn) {
    LoadedBook book(5);
    const auto said = read_reserve(*ask(book.redis, reserve_call(book.bucket, book.fence, of_bob)), 1);
    ASSERT_TRUE(said);
    const auto now = MonotonicClock::system_now();
    const auto seen = book.peek().book->figures.last_seen;
    EXPECT_LE(seen, now);
    EXPECT_GT(seen, now - 1h);
}

// deploy/redis/users.acl: the permissions of a user, its password left out.
std::vector<std::string> permissions_of(const std::string& user) {
    std::ifstream file(DOORBUSTER_USERS_ACL);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string word, name;
        words >> word >> name;
        if (name != user) continue;
        std::vector<std::string> permissions;
        while (words >> word) {
            const bool is_in_selector =
                !permissions.empty() && permissions.back().front() == '(' && permissions.back().back() != ')';
            if (is_in_selector) {
                permissions.back() += ' ' + word;
            } else {
                permissions.push_back(word[0] == '>' ? ">secret" : word);
            }
        }
        return permissions;
    }
    return {};
}

RedisSession session_of(LoadedBook& book, const std::string& user) {
    RedisCall set{"ACL", "SETUSER", user, "reset"};
    for (const std::string& permission : permissions_of(user)) set.push_back(permission);
    EXPECT_FALSE(error_in(*ask(book.redis, set)));
    RedisAddress address = book.server.address();
    address.user = user;
    address.password = "secret";
    auto session = RedisSession::open(address, redis_wait_max);
    if (!session) throw std::runtime_error(session.error().detail);
    return std::move(*session);
}

// The first thing that Redis did not permit on a way through every call; none: all went well.
std::optional<std::string> forbidden(LoadedBook& book, RedisSession& user, uint64_t epoch) {
    const Stock stock{.units_total = 5, .units_available = 5};
    const Fence fence{book.fence.pin, epoch};
    const std::vector<TakenAt> taken{{purchase(1), 1}};
    const std::vector<PurchaseId> alices{purchase(1)};
    BookWord later = book.word;
    ++later.version;
    for (const RedisCall& call :
         {load_call(book.bucket, {.epoch = epoch, .word = book.word, .stock = stock, .takes = {}}),
          reserve_call(book.bucket, fence, of_alice), peek_call(book.bucket),
          find_call(book.bucket, fence, alices), winners_call(book.bucket, fence, 0, 1),
          outbox_call(book.bucket, fence, {}), done_call(book.bucket, fence, taken),
          sell_call(book.bucket, fence, alices), release_call(book.bucket, fence, alices),
          restock_call(book.bucket, fence, "row", 1), set_state_call(book.bucket, fence, later),
          set_mark_call(epoch, 1h), tell_strike_call({"gate", alice, Strike::failed_check, 0ms}),
          read_strikes_call("0"), RedisCall{"TIME"}}) {
        const auto reply = ask(user, call);
        if (auto error = error_in(*reply)) return error->detail;
        if (call.size() > 1 && call[1] == "doorbuster_reserve" && !read_reserve(*reply, 1).value()[0])
            return "not written";
    }
    return std::nullopt;
}

TEST(RedisAcl, TheServersUserMayDoAllThatItNeedsAndNeedsAllThatItMay) {
    LoadedBook book(5);
    // In its window by Redis' own clock, so that a purchase is really accepted.
    book.word.terms.opens_at = from_ms(0);
    book.word.terms.closes_at = t0 + 24h * 36500;
    RedisSession user = session_of(book, "doorbuster");
    uint64_t epoch = 10;
    EXPECT_EQ(forbidden(book, user, ++epoch), std::nullopt);
    for (const std::string& permission : permissions_of("doorbuster")) {
        if (permission[0] != '+') continue;
        // A fresh library, which does not remember the run_id, asks for everything again.
        (void)ask(book.redis, load_library_call());
        (void)ask(book.redis, {"ACL", "SETUSER", "doorbuster", "-" + permission.substr(1)});
        EXPECT_NE(forbidden(book, user, ++epoch), std::nullopt) << permission << " is not needed";
        (void)ask(book.redis, {"ACL", "SETUSER", "doorbuster", permission});
    }
    EXPECT_EQ(forbidden(book, user, ++epoch), std::nullopt);
}

// What a selector permits beside the rest, one permission taken out of it at a time.
TEST(RedisAcl, TheServersUserNeedsEverythingInItsSelectors) {
    LoadedBook book(5);
    book.word.terms.opens_at = from_ms(0);
    book.word.terms.closes_at = t0 + 24h * 36500;
    RedisSession user = session_of(book, "doorbuster");
    std::vector<std::string> selectors;
    for (const std::string& permission : permissions_of("doorbuster")) {
        if (permission[0] == '(') selectors.push_back(permission);
    }
    uint64_t epoch = 10;
    const auto forbidden_with = [&](const std::vector<std::string>& some) {
        RedisCall set{"ACL", "SETUSER", "doorbuster", "clearselectors"};
        set.insert(set.end(), some.begin(), some.end());
        EXPECT_FALSE(error_in(*ask(book.redis, set)));
        return forbidden(book, user, ++epoch);
    };
    size_t taken_out = 0;
    for (size_t one = 0; one < selectors.size(); ++one) {
        std::istringstream words(selectors[one].substr(1, selectors[one].size() - 2));
        for (std::string word; words >> word;) {
            auto some = selectors;
            some[one].replace(some[one].find(word), word.size(), "");
            EXPECT_NE(forbidden_with(some), std::nullopt) << word << " is not needed";
            ++taken_out;
        }
    }
    EXPECT_EQ(taken_out, 5u);
    EXPECT_EQ(forbidden_with(selectors), std::nullopt);
}

TEST(RedisAcl, NeitherUserMayDoMore) {
    LoadedBook book(5);
    RedisSession user = session_of(book, "doorbuster"), setup = session_of(book, "doorbuster-setup");
    for (const RedisCall& call : std::vector<RedisCall>{{"FLUSHALL"},
                                                        {"KEYS", "*"},
                                                        {"CONFIG", "GET", "*"},
                                                        {"CONFIG", "SET", "maxmemory", "1"},
                                                        {"EVAL", "return 1", "0"},
                                                        {"FUNCTION", "DELETE", "doorbuster"},
                                                        load_library_call(),
                                                        {"SHUTDOWN"},
                                                        {"REPLICAOF", "NO", "ONE"},
                                                        {"HGET", "other", "field"},
                                                        {"SET", "{phone-drop/phone/0}:book", "1"},
                                                        {"SET", "strikes", "1"},
                                                        {"SET", "other", "1"},
                                                        {"GET", "burned:0000000000000001"},
                                                        {"UNLINK", "burned:0000000000000001"},
                                                        {"UNLINK", "strikes"},
                                                        {"XADD", "burned:1", "*", "take", "1"},
                                                        {"XREAD", "STREAMS", "{a}:outbox", "0"},
                                                        {"XDEL", "strikes", "1-1"},
                                                        {"DEL", "{phone-drop/phone/0}:book"}}) {
        const auto error = error_in(*ask(user, call));
        ASSERT_TRUE(error) << call[0];
        EXPECT_THAT(error->detail, StartsWith("NOPERM")) << call[0];
    }
    EXPECT_FALSE(error_in(*ask(setup, load_library_call())));
    EXPECT_FALSE(error_in(*ask(setup, {"CONFIG", "GET", "maxmemory-policy"})));
    for (const RedisCall& call :
         std::vector<RedisCall>{peek_call(book.bucket), {"FLUSHALL"}, {"CONFIG", "SET", "maxmemory", "1"}})
        EXPECT_TRUE(error_in(*ask(setup, call))) << call[0];
}

}  // namespace
}  // namespace doorbuster
