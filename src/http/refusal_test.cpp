// Refusals of the public interface, from the request to the bytes: none of them allocates.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "http/api_public.hpp"
#include "http/language.hpp"
#include "http/response.hpp"
#include "http/untouched_testing.hpp"
#include "sale/testing.hpp"

namespace {
thread_local uint64_t allocations = 0;
}

// Of the whole test program: every `new` is counted for the thread that makes it.
[[gnu::noinline]] void* operator new(size_t size) {
    ++allocations;
    if (void* room = std::malloc(size == 0 ? 1 : size)) return room;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* room) noexcept {
    std::free(room);
}
[[gnu::noinline]] void operator delete(void* room, size_t) noexcept {
    std::free(room);
}

namespace doorbuster {
namespace {

using namespace testing;

constexpr std::string_view secret = "a secret of the shop, long enough to be one";

struct EmptyDesk final : PurchaseDesk {
    Submitted says = Submitted::rebuilding;  // to who gets this far
    uint64_t units_waited = 0;
    Submitted submit(PurchaseCommand&&) override { return says; }
    uint64_t units_waited_for(ItemSlot) override { return units_waited; }
    Figures figures() const override { return {}; }
    void set_pace(const Pacing&) override {}
};

struct FixedClock final : Clock {
    Instant now() override { return t0; }
    Uptime uptime() override { return 1h; }
};

// Writes as a connection does, into an output that has been used before.
class Asked final : public Exchange {
public:
    Asked(Gate& gate, std::string_view address) : gate_(gate), peer_(*Address::parse(address)) {
        out.reserve(4096);
    }
    const Request& request() const override { return asked; }
    Language language() const override { return choose_language(asked.accept_language); }
    Gate& gate() override { return gate_; }
    const Address& peer() const override { return peer_; }
    void add_headers(std::string_view) override {}
    void answer(const Response& response) override {
        append_answer(out, response, framing(), date_);
        was_refused = false;
    }
    void refuse(Code code) override {
        append_refusal(out, code, framing(), date_);
        refused_with = code;
    }
    void refuse(Code code, std::string_view headers) override {
        append_refusal(out, code, headers, framing(), date_);
        refused_with = code;
    }
    void refuse(const Problem& problem) override {
        append_refusal(out, problem, framing(), date_);
        refused_with = problem.code;
    }
    void refuse(const PreparedRefusal& refusal, const PurchaseId& named) override {
        append_refusal(out, refusal, named, framing(), date_);
        refused_with = refusal.code();
    }
    bool begin_stream(const Response&, StreamOwner&, uint64_t) override { return false; }
    void send_piece(std::string_view) override {}
    bool lags() const override { return false; }
    void end_stream() override {}

    Request asked;
    std::string out;
    Code refused_with{};
    bool was_refused = true;

private:
    Framing framing() const { return {.language = language()}; }

    Gate& gate_;
    const Address peer_;
    DateLine date_;
};

class RefusalTest : public ::testing::Test {
protected:
    RefusalTest() {
        Catalogue::Sales sales;
        using enum SaleState;
        const std::pair<const char*, SaleState> shown[] = {
            {"open", open},   {"gone", open},   {"checked", open}, {"early", scheduled},
            {"held", paused}, {"over", closed}, {"paced", open},   {"few_a_house", open}};
        for (const auto& [name, state] : shown) {
            ListedSale listed{phone_drop(), state, 1, {}};
            listed.sale.id = SaleId(name);
            if (name == std::string_view("checked")) listed.sale.human_check = HumanCheck::pow;
            if (name == std::string_view("paced")) listed.sale.purchases_per_second_max = 1;
            if (name == std::string_view("few_a_house")) listed.sale.buyers_per_address_max = 1;
            auto board = std::make_shared<ItemBoard>();
            board->show({10, name == std::string_view("gone") ? 0u : 10u, 0, 0});
            listed.items.push_back({listed.sale.items.front(), ItemSlot{0}, board});
            sales[name] = std::make_shared<const ListedSale>(std::move(listed));
        }
        api.set_catalogue(std::make_shared<const Catalogue>(std::move(sales)));
    }

    std::shared_ptr<const FunnelRules> rules() const {
        LimitTerms terms;
        terms.address = {LimitPolicy::Kind::token_bucket, 1, 1s, 8};
        terms.keys_max = 1024;
        const std::vector<ListEntry> lists{*ListEntry::from("block", "address", "192.0.2.66"),
                                           *ListEntry::from("block", "buyer", "mallory")};
        return std::make_shared<const FunnelRules>(
            FunnelRules{.identity = identity,
                        .cookie = "",
                        .origins = {},
                        .trusted_proxies = {},
                        .lists = std::make_shared<RiskLists>(lists),
                        .limits = std::make_shared<Limits>(terms),
                        .tokens = std::make_shared<PurchaseTokens>(SigningKeys::Secrets{std::string(secret)}),
                        .pow = nullptr,
                        .image = nullptr});
    }

    struct Way {
        Method method = Method::post;
        const char* path;
        std::string authorization = {};
        const char* body = R"({"item":"phone","quantity":1})";
        const char* address = nullptr;
        int times_before = 1;  // so that what is made once has been made
    };
    std::string expect(Code code, const Way& way) {
        const std::string own_address = "192.0.2." + std::to_string(++addresses);
        Asked exchange(gate, way.address == nullptr ? own_address : way.address);
        exchange.asked.method = way.method;
        exchange.asked.path = way.path;
        exchange.asked.body = way.body;
        exchange.asked.content_type = "application/json";
        exchange.asked.accept_language = "zh-Hant, en;q=0.5";
        if (!way.authorization.empty()) exchange.asked.authorization = way.authorization;
        for (int i = 0; i < way.times_before; ++i) {
            exchange.out.clear();
            api.handle(exchange);
        }
        exchange.out.clear();
        const uint64_t before = allocations;
        api.handle(exchange);
        const uint64_t made = allocations - before;
        EXPECT_TRUE(exchange.was_refused) << way.path;
        EXPECT_EQ(name_of(exchange.refused_with), name_of(code)) << way.path;
        EXPECT_EQ(made, 0u) << name_of(code) << " at " << way.path;
        return exchange.out;
    }
    // The book's word, from its reply to the bytes; the second time, as above.
    std::string expect_told(Code code, const PurchaseReply& reply) {
        Asked exchange(gate, "192.0.2.1");
        exchange.asked.accept_language = "zh-Hant, en;q=0.5";
        api.purchase_decided(exchange, reply);
        exchange.out.clear();
        const uint64_t before = allocations;
        api.purchase_decided(exchange, reply);
        const uint64_t made = allocations - before;
        EXPECT_TRUE(exchange.was_refused) << name_of(code);
        EXPECT_EQ(name_of(exchange.refused_with), name_of(code));
        EXPECT_EQ(made, 0u) << name_of(code);
        return exchange.out;
    }
    std::string bearer(std::string_view buyer) const {
        return "Bearer " + identity->mint(BuyerId(buyer), t0, 60s);
    }

    const std::shared_ptr<const Identity> identity = std::make_shared<Identity>(std::string(secret));
    FixedClock clock;
    EmptyDesk desk;
    LevelSwitch level{t0};
    Strikes strikes{64, {}};
    Burned burned{64};
    ImagePool images{2, {}, {}};
    Arrivals arrivals;
    Services services{.clock = clock,
                      .purchases = desk,
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
                      .on_audit_thread = {},
                      .funnel_state = {level, strikes, burned, images, arrivals},
                      .funnel_rules = rules(),
                      .provider_secrets = {},
                      .admin_key = {},
                      .metrics_text = {},
                      .is_ready = [] { return true; }};
    Gate gate{0, {.listen = "127.0.0.1:0"}};
    StreamRoom room{{.streams_max = 1, .streams_per_buyer_max = 1}};
    PublicApi api{services, gate, {.stream_max = 1s, .heartbeat = 1s, .room = room}};
    int addresses = 100;
};

TEST_F(RefusalTest, NoneOfThemAllocates) {
    const std::string alice_asks = bearer("alice");
    expect(Code::unauthenticated, {.path = "/v1/sales/open/purchases"});
    expect(Code::unauthenticated, {.path = "/v1/sales/open/purchases", .authorization = alice_asks + "x"});
    expect(Code::not_found, {.path = "/v1/sales/none/purchases", .authorization = alice_asks});
    expect(Code::not_found, {.method = Method::get, .path = "/v1/sales/none"});
    expect(Code::not_found, {.method = Method::get, .path = "/wp-login.php"});
    expect(Code::method_not_allowed, {.method = Method::put, .path = "/v1/sales/open/purchases"});
    expect(Code::method_not_allowed, {.method = Method::del, .path = "/v1/time"});
    expect(Code::malformed,
           {.path = "/v1/sales/open/purchases", .authorization = alice_asks, .body = R"({"item":)"});
    expect(Code::sold_out, {.path = "/v1/sales/gone/purchases", .authorization = alice_asks});
    expect(Code::token_required, {.path = "/v1/sales/checked/purchases", .authorization = alice_asks});
    expect(Code::token_invalid, {.path = "/v1/sales/checked/purchases",
                                 .authorization = bearer("bob"),
                                 .body = R"({"item":"phone","token":"not-one-of-ours"})"});
    expect(Code::blocked, {.path = "/v1/sales/open/purchases", .authorization = bearer("mallory")});
    expect(Code::blocked, {.path = "/v1/sales/open/purchases", .address = "192.0.2.66"});
    expect(Code::rate_limited, {.method = Method::get, .path = "/wp-login.php", .times_before = 8});
    expect(Code::rate_limited, {.path = "/v1/sales/gone/purchases",
                                .authorization = alice_asks,
                                .times_before = 7});  // her own, before her address's
    const char* const faulty =
        R"({"a field that nobody has heard of/~":1,"\u0062":[{"c":1}],"item":7,"quantity":-1,"token":{}})";
    for (const char* body : {faulty, R"({"item":""})", R"({"item":"phone","quantity":999})"}) {
        expect(Code::rate_limited,
               {.path = "/v1/sales/open/purchases", .authorization = alice_asks, .body = body});
        expect(Code::blocked,
               {.path = "/v1/sales/open/purchases", .authorization = bearer("mallory"), .body = body});
    }
    expect(Code::rebuilding, {.path = "/v1/sales/open/purchases", .authorization = bearer("carol")});

    const std::string dave_asks = bearer("dave");
    expect(Code::not_open, {.path = "/v1/sales/early/purchases", .authorization = dave_asks});
    expect(Code::paused, {.path = "/v1/sales/held/purchases", .authorization = dave_asks});
    expect(Code::ended, {.path = "/v1/sales/over/purchases", .authorization = dave_asks});
    expect(Code::rate_limited,  // the sale's own
           {.path = "/v1/sales/paced/purchases", .authorization = dave_asks});
    const Way house{
        .path = "/v1/sales/few_a_house/purchases", .authorization = bearer("erin"), .address = "192.0.2.77"};
    expect(Code::rebuilding, house);
    expect(Code::rate_limited,  // the house's
           {.path = house.path, .authorization = bearer("frank"), .address = house.address});
    expect(Code::invalid,  // a token where none is asked for
           {.path = "/v1/sales/open/purchases",
            .authorization = bearer("judy"),
            .body = R"({"item":"phone","token":"not-one-of-ours"})"});
    desk.units_waited = 1000;
    expect(Code::crowded, {.path = "/v1/sales/open/purchases", .authorization = bearer("grace")});
    desk.units_waited = 0;
    desk.says = Submitted::overloaded;
    expect(Code::overloaded, {.path = "/v1/sales/open/purchases", .authorization = bearer("grace")});
    const auto strike = [&](const char* buyer, int times) {
        for (int i = 0; i < times; ++i) strikes.strike(BuyerId(buyer), Strike::refused_token, clock.uptime());
    };
    strike("heidi", 5);
    expect(Code::rate_limited,  // her conduct's
           {.path = "/v1/sales/open/purchases", .authorization = bearer("heidi")});
    strike("ivan", 10);
    expect(Code::blocked, {.path = "/v1/sales/open/purchases", .authorization = bearer("ivan")});

    level.set_by_detector(Level::purchase_only, t0);
    expect(Code::overloaded, {.method = Method::get, .path = "/v1/sales/none"});
    level.set_by_operator({Level::closed}, t0);
    expect(Code::unavailable, {.path = "/v1/sales/open/purchases", .authorization = alice_asks});

    using enum ReserveOutcome;
    const std::pair<ReserveOutcome, Code> told[] = {{sold_out, Code::sold_out},
                                                    {sold_out_for_now, Code::sold_out_for_now},
                                                    {limit_reached, Code::limit_reached},
                                                    {not_open, Code::not_open},
                                                    {ended, Code::ended},
                                                    {paused, Code::paused},
                                                    {key_mismatch, Code::invalid}};
    for (const auto& [outcome, code] : told) {
        expect_told(code, {.purchase = purchase(1), .answer = {.outcome = outcome}});
    }
    expect_told(Code::limit_reached,
                {.purchase = purchase(1), .answer = {.outcome = limit_reached, .purchase = purchase(2)}});
    expect_told(Code::unknown, {.purchase = purchase(1), .verdict = Verdict::unknown});
}

// Clients and the contract know these bytes from the time when each was written as JSON.
TEST_F(RefusalTest, WhatIsPreparedReadsAsIfItWereWrittenForThisBuyer) {
    const auto written = [](const Problem& problem, const Framing& framing) {
        std::string out;
        append_refusal(out, problem, framing, DateLine());
        return out;
    };
    const Framing in_zh_hant{.language = Language::zh_hant};
    const auto id = *PurchaseId::from_hex("0123456789abcdef00000000fedcba98");
    using enum ReserveOutcome;
    EXPECT_EQ(
        expect_told(Code::limit_reached, {.answer = {.outcome = limit_reached, .purchase = id}}),
        written({.code = Code::limit_reached, .purchase = "0123456789abcdef00000000fedcba98"}, in_zh_hant));
    EXPECT_EQ(expect_told(Code::limit_reached, {.answer = {.outcome = limit_reached}}),
              written({.code = Code::limit_reached}, in_zh_hant));
    EXPECT_EQ(
        expect_told(Code::unknown, {.purchase = id, .verdict = Verdict::unknown}),
        written({.code = Code::unknown,
                 .detail = "it may have been accepted: ask again with the same Idempotency-Key, or look "
                           "the purchase up",
                 .purchase = "0123456789abcdef00000000fedcba98"},
                in_zh_hant));
    EXPECT_EQ(expect_told(Code::invalid, {.answer = {.outcome = key_mismatch}}),
              written({.code = Code::invalid,
                       .faults = {{"/quantity", "this Idempotency-Key was used with another quantity"}}},
                      in_zh_hant));
    EXPECT_EQ(
        expect(Code::invalid, {.path = "/v1/sales/open/purchases",
                               .authorization = bearer("alice"),
                               .body = R"({"item":"phone","token":"not-one-of-ours"})"}),
        written({.code = Code::invalid, .faults = {{"/token", "this sale asks for no token"}}}, in_zh_hant));

    for (const Framing& framing : {Framing{.is_head = true}, Framing{.closes = true, .retry_after_s = 3}}) {
        const PreparedRefusal prepared(
            {.code = Code::unknown, .purchase = std::string(PreparedRefusal::any_purchase)});
        std::string out;
        append_refusal(out, prepared, id, framing, DateLine());
        EXPECT_EQ(out, written({.code = Code::unknown, .purchase = id.hex()}, framing));
    }
}

}  // namespace
}  // namespace doorbuster
