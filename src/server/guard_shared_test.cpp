// Several processes that serve one sale, over one real Redis and one real PostgreSQL: what one of them has
// seen counts at the others.
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <thread>

#include "funnel/level_setting.hpp"
#include "http/api_public.hpp"
#include "http/check_testing.hpp"
#include "http/gate_fixture.hpp"
#include "http/untouched_testing.hpp"
#include "server/guard.hpp"
#include "store_cluster/postgres_testing.hpp"
#include "store_cluster/redis_funnel_testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
namespace json = boost::json;

Config shop_config() {
    Config config;
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"admin.key", "the-key-of-the-operator-long-enough"},
             {"identity.hmac_secret", "a secret of the shop, long enough to be one"},
             {"checks.pow_number_max", "1000"},
             {"limits.checks_per_minute", "0"},
             {"limits.address_per_second", "0"},
             {"limits.keys_max", "1024"},
             {"risk.strikes_slow", "2"},
             {"risk.strikes_bar", "3"},
             {"overload.detect", "false"}}) {
        EXPECT_EQ(config.find(name)->set(PlainText{value}, {Source::flag, "--set"}), std::nullopt) << name;
    }
    return config;
}

struct NoBooks final : PurchaseDesk {  // nobody buys here
    Submitted submit(PurchaseCommand&&) override { return Submitted::rebuilding; }
    uint64_t units_waited_for(ItemSlot) override { return 0; }
    Figures figures() const override { return {}; }
    void set_pace(const Pacing&) override {}
};

// Gate, funnel and guard are real; the orders thread is whoever holds its mutex.
class Process {
public:
    Process(const RedisServer& redis, const TestDatabase& database, const std::string& name,
            milliseconds call_max = redis_wait_max)
        : store_(database.open()),
          guard_(config_, [this] { return config_; }, clock_, store_->settings(),
                 {.publish =
                      [this](std::shared_ptr<const FunnelRules> rules, const std::function<void()>& shown) {
                          gate_.post([this, rules = std::move(rules)] { api_->set_rules(rules); });
                          shown();
                      },
                  .on_orders_thread =
                      [this](const std::function<void()>& task) {
                          on_orders_thread(task);
                          return true;
                      },
                  .settings_are_shared = true}),
          funnel_({.redis = {.link = {.address = redis.address(),
                                      .connect_max = redis_wait_max,
                                      .call_max = call_max},
                             .connections = 2,
                             .calls_per_connection_max = 64},
                   .in_hand_max = 64,
                   .strikes = {.origin = name, .every = 5ms}},
                  {.heard =
                       [this](const BuyerId& buyer, Strike kind, milliseconds age) {
                           guard_.state().strikes.hear(buyer, kind, clock_.uptime() - age);
                       },
                   .remembered_max =
                       [this] {
                           return std::chrono::floor<milliseconds>(guard_.state().strikes.remembered_max());
                       }}) {
        const auto loaded = guard_.load();
        CHECK(loaded.has_value());
        guard_.state().strikes.tell_to(funnel_.strikes());
        services_.emplace(Services{.clock = clock_,
                                   .purchases = books_,
                                   .lookups = untouched<Lookups>(),
                                   .orders_thread = untouched<OrdersThread>(),
                                   .desk = untouched<SaleDesk>(),
                                   .payments = untouched<PaymentDesk>(),
                                   .letters = untouched<LettersDesk>(),
                                   .orders = untouched<Orders>(),
                                   .outbox = untouched<Outbox>(),
                                   .notifier = untouched<Notifier>(),
                                   .books = untouched<BookControl>(),
                                   .order_figures = {},
                                   .rebuilds = nullptr,
                                   .on_audit_thread = {},
                                   .funnel_state = guard_.state(),
                                   .marks = &funnel_,
                                   .funnel_rules = guard_.rules(),
                                   .provider_secrets = {},
                                   .admin_key = {},
                                   .metrics_text = {},
                                   .is_ready = [] { return true; }});
        api_.emplace(*services_, gate_, EventTerms{.stream_max = 1s, .heartbeat = 1s, .room = room_});
        api_->set_catalogue(catalogue());
        gate_.set_handler(*api_);
        gate_.start();
        funnel_.start();
        guard_.start({}, [] { return Uptime{}; });
    }
    ~Process() {
        guard_.stop();
        funnel_.stop();
        gate_.stop();
    }

    // The connections to Redis are made in their own time.
    void connect() {
        for (const Patience patience; !is_connected(); patience.check("no connection to Redis")) {
        }
    }

    void on_orders_thread(const std::function<void()>& task) {
        std::lock_guard lock(orders_mutex_);
        task();
    }
    StoreResult<void> put(const ListEntry& entry) {
        StoreResult<void> result;
        on_orders_thread([&] {
            guard_.risk_services().lists.put(entry, [&](const StoreResult<void>& done) { result = done; });
        });
        return result;
    }
    StoreResult<void> set_level(OperatorLevel level) {
        StoreResult<void> result;
        on_orders_thread(
            [&] { result = change_level(store_->settings(), guard_.state().level, level, clock_.now()); });
        return result;
    }

    Received post(const std::string& path, const std::string& body, const BuyerId& buyer = alice) {
        const std::string token = guard_.rules()->identity->mint(buyer, clock_.now(), 60s);
        Client client(gate_.port());
        return client.ask("POST /v1/sales/phone-drop/" + path + " HTTP/1.1\r\nHost: shop\r\n" +
                          "Authorization: Bearer " + token + "\r\nContent-Type: application/json\r\n" +
                          "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    json::object check(const BuyerId& buyer = alice) {
        const Received made = post("challenges", "", buyer);
        EXPECT_EQ(made.status(), 200) << made.body;
        return made.status() == 200 ? json::parse(made.body).as_object() : json::object{};
    }
    // `off` away from the right one.
    Received answer(const json::object& check, uint64_t off = 0, const BuyerId& buyer = alice) {
        return post("tokens", R"({"item":"phone","answer":")" + solve(check, off) + "\"}", buyer);
    }
    Conduct conduct_of(const BuyerId& buyer) {
        return guard_.state().strikes.conduct_of(buyer, clock_.uptime()).conduct;
    }

    Guard& guard() { return guard_; }

private:
    std::shared_ptr<const Catalogue> catalogue() {
        Sale sale = phone_drop();
        sale.human_check = HumanCheck::pow;
        sale.opens_at = clock_.now() - 1h;
        sale.closes_at = clock_.now() + 1h;
        ListedSale listed{sale, SaleState::open, 1, {}};
        listed.items.push_back({sale.items.front(), ItemSlot{0}, std::make_shared<ItemBoard>()});
        Catalogue::Sales sales;
        sales["phone-drop"] = std::make_shared<const ListedSale>(std::move(listed));
        return std::make_shared<const Catalogue>(std::move(sales));
    }
    bool is_connected() {
        std::promise<MarkOutcome> outcome;
        const bool asked = funnel_.set(random_seed(), 1ms, [&](MarkOutcome one) { outcome.set_value(one); });
        return asked && outcome.get_future().get() != MarkOutcome::unknown;
    }

    const Config config_ = shop_config();
    MonotonicClock clock_;
    std::mutex orders_mutex_;
    std::unique_ptr<PostgresOrders> store_;
    NoBooks books_;
    Gate gate_{0, {.listen = "127.0.0.1:0"}};
    StreamRoom room_{{.streams_max = 1, .streams_per_buyer_max = 1}};
    Guard guard_;
    RedisFunnel funnel_;
    std::optional<Services> services_;
    std::optional<PublicApi> api_;
};

std::string code_in(const Received& reply) {
    return std::string(json::parse(reply.body).as_object().at("code").as_string());
}

template <class Done>
void await(const char* what, Done done) {
    for (const Patience patience; !done(); patience.check(what)) usleep(1000);
}

class SharedFunnel : public ::testing::Test {
protected:
    RedisServer redis;
    TestDatabase database;
    Process one{redis, database, "one"}, two{redis, database, "two"};

    void SetUp() override {
        one.connect();
        two.connect();
    }
};

TEST_F(SharedFunnel, ACheckAnsweredAtTwoGatesAtOnceGivesOneToken) {
    for (int i = 0; i < 20; ++i) {
        const json::object check = one.check();
        Received at_two;
        std::thread other([&] { at_two = two.answer(check); });
        const Received at_one = one.answer(check);
        other.join();
        const bool is_one = at_one.status() == 200;
        EXPECT_EQ(is_one ? 200 : 403, at_one.status()) << at_one.body;
        EXPECT_EQ(is_one ? 403 : 200, at_two.status()) << at_two.body;
        EXPECT_EQ(code_in(is_one ? at_two : at_one), "check_failed");
    }
    EXPECT_EQ(one.conduct_of(alice), Conduct::fine) << "who presses twice is excused, at whichever gate";
    EXPECT_EQ(two.conduct_of(alice), Conduct::fine);
}

TEST_F(SharedFunnel, AWrongAnswerAtOneGateBurnsTheCheckAtTheOther) {
    const json::object check = one.check();
    EXPECT_EQ(code_in(one.answer(check, 1)), "check_failed");
    EXPECT_EQ(code_in(two.answer(check)), "check_failed");
    EXPECT_EQ(two.answer(two.check()).status(), 200);
}

TEST_F(SharedFunnel, WithoutRedisNobodyGetsATokenAndGuessesStillCount) {
    const json::object check = one.check();
    redis.stop(SIGKILL);
    const Received refused = one.answer(check);
    EXPECT_EQ(refused.status(), 503);
    EXPECT_EQ(code_in(refused), "overloaded");
    EXPECT_NE(refused.head.find("Retry-After: "), std::string::npos);
    EXPECT_EQ(refused.body.find("token"), std::string::npos);

    for (int i = 0; i < 3; ++i) EXPECT_EQ(one.answer(one.check(bob), 1, bob).status(), 503);
    EXPECT_EQ(code_in(one.post("challenges", "", bob)), "blocked");

    redis.start();
    one.connect();
    two.connect();
    EXPECT_EQ(code_in(one.answer(check)), "check_failed") << "it stays burned where it was answered";
    EXPECT_EQ(one.answer(one.check()).status(), 200);
    await("what was given meanwhile is never heard", [&] { return two.conduct_of(bob) == Conduct::barred; });
}

TEST_F(SharedFunnel, ARedisThatIsSilentIsA503) {
    Process impatient(redis, database, "impatient", 50ms);
    impatient.connect();
    const json::object check = impatient.check();
    redis.freeze();
    const Received refused = impatient.answer(check);
    redis.thaw();
    EXPECT_EQ(refused.status(), 503) << refused.body;
}

TEST_F(SharedFunnel, WhoIsBarredAtOneGateIsBarredAtTheOtherAndAtOneThatStartsLater) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(one.answer(one.check(), 1).status(), 403);
    EXPECT_EQ(code_in(one.post("challenges", "")), "blocked");
    await("a strike does not cross", [&] { return two.conduct_of(alice) == Conduct::barred; });
    EXPECT_EQ(code_in(two.post("challenges", "")), "blocked");
    Process late(redis, database, "late");
    await("a strike is not read later", [&] { return late.conduct_of(alice) == Conduct::barred; });
    EXPECT_EQ(two.post("challenges", "", bob).status(), 200);
}

TEST_F(SharedFunnel, TheOperatorsWordAtOneProcessCountsAtTheOther) {
    ASSERT_TRUE(one.put(*ListEntry::from("block", "buyer", "alice")));
    await("a list entry does not cross",
          [&] { return two.guard().rules()->lists->of(alice) == Standing::blocked; });
    EXPECT_EQ(code_in(two.post("challenges", "")), "blocked");

    ASSERT_TRUE(two.set_level({Level::closed}));
    await("a level does not cross", [&] { return one.guard().state().level.in_force() == Level::closed; });
    EXPECT_EQ(code_in(one.post("challenges", "", bob)), "unavailable");
    ASSERT_TRUE(one.set_level({}));
    await("a level does not go", [&] { return two.guard().state().level.in_force() == Level::normal; });
}

TEST_F(SharedFunnel, OfListsThatTwoChangeAtOnceNothingIsLost) {
    constexpr int entries = 25;
    const auto put_all = [](Process& process, const std::string& name) {
        for (int i = 0; i < entries; ++i) {
            const auto put = process.put(*ListEntry::from("block", "buyer", name + std::to_string(i)));
            EXPECT_TRUE(put) << put.error().text();
        }
    };
    std::thread other([&] { put_all(two, "by-two-"); });
    put_all(one, "by-one-");
    other.join();
    for (Process* process : {&one, &two}) {
        for (int i = 0; i < entries; ++i) {
            for (const char* name : {"by-one-", "by-two-"}) {
                await("an entry is lost", [&] {
                    const BuyerId buyer(name + std::to_string(i));
                    return process->guard().rules()->lists->of(buyer) == Standing::blocked;
                });
            }
        }
    }
}

}  // namespace
}  // namespace doorbuster
