#include "funnel/identity_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using testing::ShopKey;

const Instant t0 = from_ms(1'800'000'000'000);
const std::string secret = "a secret of more than thirty-two bytes";

Who who_is(std::string_view buyer) {
    return {.buyer = BuyerId(buyer), .expires_at = t0 + 60s, .valid_from = t0};
}

TEST(IdentityCache, AnswersARepeatAsTheFirstTime) {
    const Identity identity({.check_claim = "check"}, testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")}));
    IdentityCache cache;
    const std::string token = identity.mint(BuyerId("alice"), t0, 60s);
    for (int i = 0; i < 3; ++i) {
        const auto who = cache.verify(identity, token, t0);
        ASSERT_TRUE(who.has_value());
        EXPECT_EQ(who->buyer.view(), "alice");
        EXPECT_EQ(who->expires_at, t0 + 60s);
        EXPECT_EQ(who->check, CheckClaim::none_said);
    }
}

TEST(IdentityCache, DoesNotOutliveTheToken) {
    const Identity identity(secret);
    IdentityCache cache;
    const std::string token = identity.mint(BuyerId("alice"), t0, 60s);
    ASSERT_TRUE(cache.verify(identity, token, t0 + 89s).has_value());
    EXPECT_EQ(cache.verify(identity, token, t0 + 90s).error(), IdentityFault::expired);
    EXPECT_EQ(cache.verify(identity, token, t0 - 31s).error(), IdentityFault::not_yet_valid);
    EXPECT_TRUE(cache.verify(identity, token, t0).has_value());
}

TEST(IdentityCache, ForgetsWhatAWithdrawnKeySigned) {
    const ShopKey before(KeyAlgorithm::es256, "2026"), after(KeyAlgorithm::es256, "2027");
    const std::string token = before.token(R"({"sub":"alice","exp":1800000600})");
    const Identity old_keys({}, testing::ring_of({before})), both({}, testing::ring_of({before, after})),
        new_keys({}, testing::ring_of({after}));
    IdentityCache cache;
    EXPECT_TRUE(cache.verify(old_keys, token, t0).has_value());
    EXPECT_TRUE(cache.verify(both, token, t0).has_value());
    EXPECT_EQ(cache.verify(new_keys, token, t0).error(), IdentityFault::bad_key);
    EXPECT_TRUE(cache.verify(new_keys, after.token(R"({"sub":"alice","exp":1800000600})"), t0).has_value());
}

TEST(IdentityCache, ForgetsWhatOtherRulesAllowed) {
    const auto ring = testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")});
    const Identity lax({}, ring), strict({.audience = "sale"}, ring);
    const std::string token = lax.mint(BuyerId("alice"), t0, 60s);
    IdentityCache cache;
    EXPECT_TRUE(cache.verify(lax, token, t0).has_value());
    EXPECT_EQ(cache.verify(strict, token, t0).error(), IdentityFault::wrong_audience);
}

TEST(IdentityCache, KeepsNoRefusal) {
    const Identity identity(secret);
    IdentityCache cache;
    const std::string token = identity.mint(BuyerId("alice"), t0, 60s);
    EXPECT_EQ(cache.verify(identity, token, t0 - 60s).error(), IdentityFault::not_yet_valid);
    EXPECT_TRUE(cache.verify(identity, token, t0).has_value());
    const auto nobody = cache.verify(identity, "", t0);
    ASSERT_TRUE(nobody.has_error());
    EXPECT_EQ(nobody.error(), IdentityFault::missing);
    EXPECT_EQ(cache.verify(identity, token + "AAAA", t0).error(), IdentityFault::bad_signature);
}

TEST(IdentityCache, IsRightWhenEveryTokenSharesOnePlace) {
    const Identity identity(secret);
    IdentityCache cache(2);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20; ++i) {
            const std::string buyer = "buyer-" + std::to_string(i);
            const auto who = cache.verify(identity, identity.mint(BuyerId(buyer), t0, 60s), t0);
            ASSERT_TRUE(who.has_value());
            EXPECT_EQ(who->buyer.view(), buyer);
        }
    }
}

TEST(IdentityCache, ARepeatIsALookUpForLongTokensToo) {
    const ShopKey shop(KeyAlgorithm::hs256, "");
    const Identity identity({}, testing::ring_of({shop}));
    IdentityCache cache;
    const auto token_of = [&](std::string_view buyer, size_t padding) {
        return shop.token(
            fmt::format(R"({{"sub":"{}","exp":1800000600,"pad":"{}"}})", buyer, std::string(padding, 'p')));
    };
    uint64_t verified = 0;
    for (const size_t padding : {0u, 250u, 300u, 600u, 1000u, 1400u}) {
        const std::string alices = token_of("alice", padding), bobs = token_of("bobby", padding);
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(cache.verify(identity, alices, t0)->buyer.view(), "alice") << alices.size();
            EXPECT_EQ(cache.verify(identity, bobs, t0)->buyer.view(), "bobby");
        }
        verified += 2;
        EXPECT_EQ(cache.verified_total(), verified) << "a token of " << alices.size() << " bytes";
    }
    const std::string longest = token_of("alice", 2000);
    ASSERT_GT(longest.size(), IdentityCache::long_bytes_max);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(cache.verify(identity, longest, t0).has_value());
    EXPECT_EQ(cache.verified_total(), verified + 2) << "taken, and not kept";
}

TEST(TokenTable, TellsTokensOfOneHashApart) {
    TokenTable<512> table(2);
    table.put(7, "token-a", 1, who_is("alice"));
    EXPECT_EQ(table.find(7, "token-b", 1), nullptr);
    EXPECT_EQ(table.find(7, "token-", 1), nullptr);
    EXPECT_EQ(table.find(7, "token-aa", 1), nullptr);
    table.put(7, "token-b", 1, who_is("bob"));
    EXPECT_EQ(table.find(7, "token-a", 1)->buyer.view(), "alice");
    EXPECT_EQ(table.find(7, "token-b", 1)->buyer.view(), "bob");
}

TEST(TokenTable, FindsNothingOfAnotherVersion) {
    TokenTable<512> table(2);
    table.put(7, "token", 1, who_is("alice"));
    EXPECT_NE(table.find(7, "token", 1), nullptr);
    EXPECT_EQ(table.find(7, "token", 2), nullptr);
}

TEST(TokenTable, GivesUpTheOneNotUsedLast) {
    TokenTable<512> table(2);
    table.put(1, "token-a", 1, who_is("alice"));
    table.put(2, "token-b", 1, who_is("bob"));
    ASSERT_NE(table.find(1, "token-a", 1), nullptr);
    table.put(3, "token-c", 1, who_is("carol"));
    EXPECT_NE(table.find(1, "token-a", 1), nullptr);
    EXPECT_EQ(table.find(2, "token-b", 1), nullptr);
    EXPECT_NE(table.find(3, "token-c", 1), nullptr);
}

TEST(TokenTable, HoldsTheLongestTokenWhole) {
    TokenTable<512> table(2);
    std::string token(table.bytes_max, 't');
    table.put(7, token, 1, who_is("alice"));
    EXPECT_NE(table.find(7, token, 1), nullptr);
    token.back() = 'u';
    EXPECT_EQ(table.find(7, token, 1), nullptr);
}

}  // namespace
}  // namespace doorbuster
