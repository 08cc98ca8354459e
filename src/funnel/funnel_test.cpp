#include "funnel/funnel.hpp"

#include <gtest/gtest.h>

#include "funnel/purchase_token.hpp"
#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using namespace std::chrono_literals;

constexpr const char* secret = "a secret of the shop, long enough to be one";

class FunnelTest : public ::testing::Test {
protected:
    FunnelTest() {
        listed.items.push_back({listed.sale.items.front(), ItemSlot{0}, std::make_shared<ItemBoard>()});
        board().show({100, 100, 0, 0});
    }

    std::shared_ptr<FunnelRules> fresh_rules() const {
        return std::make_shared<FunnelRules>(FunnelRules{.identity = identity,
                                                         .cookie = "buyer",
                                                         .origins = {"https://shop.example"},
                                                         .trusted_proxies = {},
                                                         .lists = std::make_shared<RiskLists>(lists),
                                                         .limits = std::make_shared<Limits>(terms),
                                                         .tokens = tokens,
                                                         .pow = nullptr,
                                                         .image = nullptr});
    }
    Funnel& funnel() {
        if (!funnel_) funnel_.emplace(state, fresh_rules());
        return *funnel_;
    }
    ItemBoard& board() { return *listed.items.front().board; }

    Ruling arrive(const char* address, RequestKind kind = RequestKind::purchase) {
        return funnel().arrive({*Address::parse(address), {}, kind}, uptime);
    }
    struct Way {
        const char* key = nullptr;
        std::string token = {};
        uint64_t units_waited_for = 0;
        CheckClaim check = CheckClaim::none_said;
    };
    Ruling ask(const BuyerId& buyer, const Way& way, Instant now = t0) {
        const Who who{.buyer = buyer, .expires_at = t0 + 1h, .valid_from = t0, .check = way.check};
        return funnel().ask({.sale = listed,
                             .item = listed.items.front(),
                             .who = who,
                             .token = way.token.empty() ? std::string_view{} : std::string_view(way.token),
                             .key = way.key == nullptr ? std::string_view{} : std::string_view(way.key),
                             .units_waited_for = way.units_waited_for},
                            now, uptime, id);
    }
    PurchaseId key_id(const BuyerId& buyer, const char* key) const {
        return purchase_id_of(listed.sale.id, listed.sale.items.front().id, buyer, key);
    }
    std::string token_for(const BuyerId& buyer, const PurchaseId& purchase,
                          Instant expires_at = t0 + 10min) const {
        return tokens->of(listed.sale.id, listed.sale.items.front().id)
            .mint(purchase, buyer, {t0 - 1min, expires_at});
    }
    void put(const char* list, const char* kind, const char* value) {
        lists.push_back(*ListEntry::from(list, kind, value));
    }

    ListedSale listed{phone_drop(), SaleState::open, 1, {}};
    LimitTerms terms;
    std::vector<ListEntry> lists;
    const std::shared_ptr<const Identity> identity = std::make_shared<Identity>(std::string(secret));
    const std::shared_ptr<const PurchaseTokens> tokens =
        std::make_shared<PurchaseTokens>(SigningKeys::Secrets{secret});

    LevelSwitch level{t0};
    Strikes strikes{64, {}};
    Burned burned{64};
    ImagePool images{2, {}, {}};
    Arrivals arrivals;
    const FunnelState state{level, strikes, burned, images, arrivals};
    Uptime uptime{1h};
    PurchaseId id;

private:
    std::optional<Funnel> funnel_;
};

void expect_refused(const Ruling& ruling, Stage stage, Refusal refusal) {
    EXPECT_EQ(ruling.stage, stage);
    EXPECT_EQ(ruling.refusal, refusal);
}

TEST_F(FunnelTest, AClosedServerAndABusyOneAreTwoAnswers) {
    EXPECT_TRUE(arrive("192.0.2.1", RequestKind::browse).passes());
    level.set_by_detector(Level::purchase_only, t0);
    expect_refused(arrive("192.0.2.1", RequestKind::browse), Stage::level, Refusal::overloaded);
    EXPECT_TRUE(arrive("192.0.2.1").passes());
    level.set_by_operator({Level::closed}, t0);
    expect_refused(arrive("192.0.2.1"), Stage::level, Refusal::unavailable);
}

TEST_F(FunnelTest, AnAddressIsHeldToItsLimitUnlessItIsAllowed) {
    terms.address = {LimitPolicy::Kind::token_bucket, 1, 1s, 2};
    put("block", "address", "192.0.2.66");
    put("allow", "address", "192.0.2.7");
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(arrive("192.0.2.1").passes());
    const Ruling refused = arrive("192.0.2.1");
    expect_refused(refused, Stage::address_limit, Refusal::rate_limited);
    EXPECT_GT(refused.limit.retry_after, 0s);
    EXPECT_TRUE(arrive("192.0.2.2").passes());
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(arrive("192.0.2.7").passes());
    expect_refused(arrive("192.0.2.66"), Stage::address_list, Refusal::blocked);
}

TEST_F(FunnelTest, TheLimitOfAllHoldsForAllowedOnesToo) {
    terms.global = {LimitPolicy::Kind::token_bucket, 1, 1s, 1};
    put("allow", "address", "192.0.2.7");
    EXPECT_TRUE(arrive("192.0.2.7").passes());
    expect_refused(arrive("192.0.2.7"), Stage::global_limit, Refusal::rate_limited);
}

TEST_F(FunnelTest, ACookieCountsForChangesOnlyFromOurOwnSite) {
    const std::string cookie = "buyer=" + identity->mint(alice, t0, 1h);
    Who who;
    auto identify = [&](std::string_view origin, bool changes) {
        return funnel().identify({.authorization = {},
                                  .cookie = cookie,
                                  .origin = origin,
                                  .host = "sale.example:8080",
                                  .changes_something = changes},
                                 t0, who);
    };
    EXPECT_TRUE(identify("https://sale.example:8080", true).passes());
    EXPECT_EQ(who.buyer, alice);
    EXPECT_TRUE(identify("https://shop.example", true).passes());
    EXPECT_TRUE(identify({}, false).passes());
    for (const char* other : {"https://evil.example", "null", "", "https://sale.example", "sale.example:8080",
                              "https://sale.example:8080.evil.example"}) {
        expect_refused(identify(other, true), Stage::origin, Refusal::cross_site);
    }
    const std::string bearer = "Bearer " + identity->mint(bob, t0, 1h);
    EXPECT_TRUE(funnel()
                    .identify({.authorization = bearer,
                               .cookie = cookie,
                               .origin = "https://evil.example",
                               .host = "sale.example",
                               .changes_something = true},
                              t0, who)
                    .passes());
    EXPECT_EQ(who.buyer, bob);
}

TEST_F(FunnelTest, AStrangerPassesAndGetsTheNameOfTheKey) {
    EXPECT_TRUE(ask(alice, {.key = "first"}).passes());
    EXPECT_EQ(id, key_id(alice, "first"));
    EXPECT_TRUE(ask(alice, {}).passes());
    EXPECT_NE(id, key_id(alice, "first"));
}

// P5, and the rule that a winner never hears `ended` or `sold_out`.
TEST_F(FunnelTest, AWinnerWhoRepeatsPassesEveryStage) {
    terms.buyer = {LimitPolicy::Kind::sliding_window, 1, 60s};
    put("block", "buyer", "alice");
    const PurchaseId by_token = purchase(7);
    board().add_winner(key_id(alice, "first"), alice);
    board().add_winner(by_token, alice);
    board().show({100, 0, 100, 0});
    for (int i = 0; i < 20; ++i) strikes.strike(alice, Strike::refused_token, uptime);

    for (const SaleState state_then : {SaleState::open, SaleState::paused, SaleState::closed}) {
        listed.state = state_then;
        const Instant later = t0 + 24h;  // the token has expired long ago
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(ask(alice, {.key = "first", .units_waited_for = 1000}, later).passes());
            EXPECT_EQ(id, key_id(alice, "first"));
            EXPECT_TRUE(ask(alice, {.token = token_for(alice, by_token)}, later).passes());
            EXPECT_EQ(id, by_token);
        }
        EXPECT_FALSE(ask(alice, {.key = "second"}, later).passes());
    }
}

TEST_F(FunnelTest, AnotherBuyersTokenOfAnAcceptedPurchaseOpensNothing) {
    listed.sale.human_check = HumanCheck::pow;
    board().add_winner(purchase(7), alice);
    board().add_winner(purchase(8), bob);
    expect_refused(ask(bob, {.token = token_for(alice, purchase(7))}), Stage::token, Refusal::token_invalid);
}

TEST_F(FunnelTest, ABuyerIsHeldToTheLimitUnlessAllowed) {
    terms.buyer = {LimitPolicy::Kind::sliding_window, 3, 60s};
    put("allow", "buyer", "bob");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask(alice, {}).passes());
    expect_refused(ask(alice, {}), Stage::buyer_limit, Refusal::rate_limited);
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(ask(bob, {}).passes());
    uptime += 60s;
    EXPECT_TRUE(ask(alice, {}).passes());
}

TEST_F(FunnelTest, WindowAndFlagAreAskedBeforeTheToken) {
    listed.sale.human_check = HumanCheck::pow;
    expect_refused(ask(alice, {}, listed.sale.opens_at - 1ms), Stage::window, Refusal::not_open);
    expect_refused(ask(alice, {}), Stage::token, Refusal::token_required);
    board().show({100, 0, 100, 0});
    expect_refused(ask(alice, {}), Stage::sold_out, Refusal::sold_out);
    board().show({100, 1, 0, 99}, true);
    expect_refused(ask(alice, {}), Stage::sold_out, Refusal::sold_out_for_now);
}

TEST_F(FunnelTest, ATokenIsUsableFromTheStartOnAndRefusedOnesAreStrikes) {
    listed.sale.human_check = HumanCheck::image;
    const std::string token = token_for(alice, purchase(1));
    expect_refused(ask(alice, {.token = token}, listed.sale.opens_at - 1ms), Stage::window,
                   Refusal::not_open);
    EXPECT_TRUE(ask(alice, {.token = token}).passes());
    EXPECT_EQ(id, purchase(1));

    const uint64_t before = strikes.strikes_total();
    expect_refused(ask(alice, {.token = "nonsense"}), Stage::token, Refusal::token_invalid);
    EXPECT_EQ(strikes.strikes_total(), before + 1);
    expect_refused(ask(alice, {.token = token}, t0 + 11min), Stage::token, Refusal::token_invalid);
    EXPECT_EQ(strikes.strikes_total(), before + 1) << "to be late is no offence";
}

TEST_F(FunnelTest, TheShopRaisesAndWaivesTheCheck) {
    expect_refused(ask(alice, {.check = CheckClaim::image}), Stage::token, Refusal::token_required);
    listed.sale.human_check = HumanCheck::image;
    EXPECT_TRUE(ask(alice, {.key = "k", .check = CheckClaim::waive}).passes());
}

TEST_F(FunnelTest, WhereNoCheckIsAskedAGoodTokenCountsAndABadOneIsNoStrike) {
    EXPECT_TRUE(ask(alice, {.token = token_for(alice, purchase(1))}).passes());
    EXPECT_EQ(id, purchase(1));
    expect_refused(ask(alice, {.token = "nonsense"}), Stage::token, Refusal::token_not_asked);
    EXPECT_EQ(strikes.strikes_total(), 0u);
}

TEST_F(FunnelTest, StrikesSlowAndThenBar) {
    for (int i = 0; i < 5; ++i) strikes.strike(alice, Strike::failed_check, uptime);
    EXPECT_TRUE(ask(alice, {}).passes());
    expect_refused(ask(alice, {}), Stage::risk, Refusal::rate_limited);
    for (int i = 0; i < 5; ++i) strikes.strike(alice, Strike::failed_check, uptime);
    expect_refused(ask(alice, {}), Stage::risk, Refusal::blocked);
    const Ruling barred = funnel().take_check(alice, uptime);
    expect_refused(barred, Stage::risk, Refusal::blocked);
    EXPECT_GT(barred.limit.retry_after, Uptime{}) << "until when, as at the purchases";
    EXPECT_TRUE(ask(bob, {}).passes());
}

TEST_F(FunnelTest, DistinctBuyersBehindOneAddressAreLimitedPerSale) {
    listed.sale.buyers_per_address_max = 2;
    EXPECT_TRUE(arrive("2001:db8::1").passes());
    EXPECT_TRUE(ask(alice, {}).passes());
    EXPECT_TRUE(arrive("2001:db8::2").passes());  // the same household
    EXPECT_TRUE(ask(bob, {}).passes());
    expect_refused(ask(BuyerId("carol"), {}), Stage::buyers_per_address, Refusal::rate_limited);
    EXPECT_TRUE(ask(alice, {}).passes());
    EXPECT_TRUE(arrive("2001:db8:0:1::1").passes());
    EXPECT_TRUE(ask(BuyerId("carol"), {}).passes());
}

TEST_F(FunnelTest, WhoHasNotPassedTheCheckTakesUpNoPlace) {
    listed.sale.buyers_per_address_max = 1;
    listed.sale.human_check = HumanCheck::pow;
    EXPECT_TRUE(arrive("192.0.2.1").passes());
    expect_refused(ask(alice, {}), Stage::token, Refusal::token_required);
    EXPECT_TRUE(ask(bob, {.token = token_for(bob, purchase(1))}).passes());
    expect_refused(ask(alice, {.token = token_for(alice, purchase(2))}), Stage::buyers_per_address,
                   Refusal::rate_limited);
}

TEST_F(FunnelTest, TheSalesOwnLimitHoldsForAllItsBuyers) {
    listed.sale.purchases_per_second_max = 1;
    EXPECT_TRUE(ask(alice, {}).passes());
    expect_refused(ask(bob, {}), Stage::sale_limit, Refusal::rate_limited);
}

TEST_F(FunnelTest, ACrowdThatCannotBeServedIsToldSoAndNotSoldOut) {
    EXPECT_TRUE(ask(alice, {.units_waited_for = 99}).passes());
    expect_refused(ask(alice, {.units_waited_for = 100}), Stage::crowd, Refusal::crowded);
}

TEST_F(FunnelTest, NewRulesCountFromTheNextRequestOn) {
    EXPECT_TRUE(ask(alice, {}).passes());
    put("block", "buyer", "alice");
    funnel().set_rules(fresh_rules());
    expect_refused(ask(alice, {}), Stage::buyer_list, Refusal::blocked);
}

}  // namespace
}  // namespace doorbuster
