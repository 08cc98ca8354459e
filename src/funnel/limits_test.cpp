#include "funnel/limits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using enum LimitPolicy::Kind;

constexpr Uptime t0 = 1000s;
const BuyerId alice("alice"), bob("bob");
const SaleId drop("drop"), other("other");

Address address(std::string_view text) {
    return *Address::parse(text);
}

std::string headers_of(const LimitRuling& ruling) {
    std::array<char, limit_headers_bytes_max> buffer;
    return {buffer.data(), format_limit_headers(ruling, buffer)};
}

// How many of so many tries pass.
template <class Try>
uint32_t passes_of(uint32_t tries, Try&& attempt) {
    uint32_t passes = 0;
    for (uint32_t i = 0; i < tries; ++i) passes += attempt().passes;
    return passes;
}

TEST(Limits, ByDefaultAnAddressHasABurstOf200And100PerSecond) {
    Limits limits{LimitTerms{}};
    EXPECT_EQ(passes_of(500, [&] { return limits.address(address("192.0.2.1"), t0); }), 200u);
    EXPECT_EQ(passes_of(500, [&] { return limits.address(address("192.0.2.1"), t0 + 1s); }), 100u);
    EXPECT_TRUE(limits.address(address("192.0.2.2"), t0).passes);
}

TEST(Limits, RotatingThroughAnIPv6NetworkGainsNothing) {
    Limits limits{LimitTerms{}};
    uint32_t passes = 0;
    for (uint32_t i = 0; i < 500; ++i) {
        Address from = address("2001:db8:1:2::");
        from.bytes[15] = static_cast<uint8_t>(i);
        from.bytes[8] = static_cast<uint8_t>(i >> 4);
        passes += limits.address(from, t0).passes;
    }
    EXPECT_EQ(passes, 200u);
    EXPECT_TRUE(limits.address(address("2001:db8:1:3::"), t0).passes);
}

TEST(Limits, ByDefaultABuyerHasTenInAnyMinute) {
    Limits limits{LimitTerms{}};
    EXPECT_EQ(passes_of(50, [&] { return limits.buyer(alice, t0); }), 10u);
    EXPECT_EQ(passes_of(50, [&] { return limits.buyer(alice, t0 + 59s); }), 0u);
    EXPECT_EQ(passes_of(50, [&] { return limits.buyer(alice, t0 + 60s); }), 10u);
    EXPECT_TRUE(limits.buyer(bob, t0).passes);
    EXPECT_TRUE(limits.checks(alice, t0 + 60s).passes) << "checks are counted apart";
}

TEST(Limits, AllTogetherHaveOneBucket) {
    Limits limits{LimitTerms{}};
    EXPECT_EQ(passes_of(60'000, [&] { return limits.global(t0); }), 50'000u);
    EXPECT_EQ(passes_of(60'000, [&] { return limits.global(t0 + 100ms); }), 5'000u);
}

TEST(Limits, ASaleHasItsOwn) {
    Limits limits{LimitTerms{}};
    EXPECT_EQ(passes_of(100, [&] { return limits.sale(drop, 3, t0); }), 3u);
    EXPECT_EQ(passes_of(100, [&] { return limits.sale(other, 1000, t0); }), 100u);
    EXPECT_EQ(passes_of(100, [&] { return limits.sale(other, 0, t0); }), 100u);
    EXPECT_TRUE(limits.sale(SaleId("any"), UINT32_MAX, t0).passes);
}

TEST(Limits, BuyersOfAnAddressAreCountedPerSale) {
    Limits limits{{.buyers_per_address_max = 2}};
    const Address office = address("192.0.2.1");
    EXPECT_TRUE(limits.buyers_at(office, drop, alice, 0, t0).passes);
    EXPECT_TRUE(limits.buyers_at(office, drop, bob, 0, t0).passes);
    EXPECT_FALSE(limits.buyers_at(office, drop, BuyerId("carol"), 0, t0).passes);
    EXPECT_TRUE(limits.buyers_at(office, drop, BuyerId("carol"), 3, t0).passes) << "the sale's own";
    EXPECT_TRUE(limits.buyers_at(office, drop, alice, 0, t0).passes);
    EXPECT_TRUE(limits.buyers_at(office, other, BuyerId("dave"), 0, t0).passes);
    EXPECT_TRUE(limits.buyers_at(address("192.0.2.2"), drop, BuyerId("dave"), 0, t0).passes);
}

TEST(Limits, ALimitOfZeroIsNone) {
    Limits limits{{.address = {}, .buyer = {}, .checks = {}, .global = {}, .buyers_per_address_max = 0}};
    EXPECT_EQ(passes_of(100'000, [&] { return limits.global(t0); }), 100'000u);
    EXPECT_EQ(passes_of(1000, [&] { return limits.address(address("::1"), t0); }), 1000u);
    EXPECT_EQ(passes_of(1000, [&] { return limits.buyer(alice, t0); }), 1000u);
    EXPECT_EQ(passes_of(1000, [&] { return limits.checks(alice, t0); }), 1000u);
    EXPECT_TRUE(limits.buyers_at(address("::1"), drop, alice, 0, t0).passes);
}

TEST(Limits, AReloadForgetsNothing) {
    const LimitTerms terms{};
    Limits before(terms);
    EXPECT_EQ(passes_of(50, [&] { return before.buyer(alice, t0); }), 10u);
    EXPECT_EQ(passes_of(500, [&] { return before.address(address("::1"), t0); }), 200u);
    LimitTerms stricter = terms;
    stricter.buyer.limit = 5;
    Limits after(stricter, before);
    EXPECT_FALSE(after.buyer(alice, t0 + 1s).passes);
    EXPECT_FALSE(after.address(address("::1"), t0).passes);
    EXPECT_EQ(passes_of(50, [&] { return after.buyer(bob, t0); }), 5u);
    EXPECT_EQ(after.memory_bytes(), before.memory_bytes());
}

TEST(Limits, AStricterReloadCountsEveryPassThatIsStillInTheWindow) {
    const LimitTerms terms{};  // 10 in 60 s
    Limits before(terms);
    EXPECT_TRUE(before.buyer(alice, t0).passes);
    EXPECT_EQ(passes_of(50, [&] { return before.buyer(alice, t0 + 50s); }), 9u);
    LimitTerms stricter = terms;
    stricter.buyer.limit = 3;
    Limits after(stricter, before);
    const LimitRuling refused = after.buyer(alice, t0 + 61s);  // the first is over, nine are not
    EXPECT_FALSE(refused.passes);
    EXPECT_EQ(refused.retry_after, 49s);
    EXPECT_EQ(passes_of(50, [&] { return after.buyer(alice, t0 + 110s); }), 3u);
}

TEST(Limits, AStricterReloadLeavesTheRoomThatThereIs) {
    Limits before{LimitTerms{}};
    EXPECT_EQ(passes_of(3, [&] { return before.buyer(alice, t0); }), 3u);
    EXPECT_TRUE(before.buyer(alice, t0 + 30s).passes);
    LimitTerms stricter;
    stricter.buyer.limit = 3;
    Limits after(stricter, before);
    EXPECT_FALSE(after.buyer(alice, t0 + 59s).passes);
    EXPECT_EQ(passes_of(50, [&] { return after.buyer(alice, t0 + 60s); }), 2u)
        << "one is of half a minute ago";
    EXPECT_EQ(passes_of(50, [&] { return after.buyer(alice, t0 + 90s); }), 1u);
}

TEST(Limits, AReloadThatNeedsMoreRoomGetsIt) {
    Limits before{LimitTerms{}};
    LimitTerms looser;
    looser.buyer.limit = 40;
    Limits after(looser, before);
    EXPECT_EQ(passes_of(50, [&] { return after.buyer(alice, t0); }), 40u);
}

TEST(Limits, FaultyTermsAreNamed) {
    EXPECT_EQ(fault_of(LimitTerms{}), "");
    EXPECT_NE(fault_of({.buyer = {sliding_window, 100, 60s}}), "");
    EXPECT_NE(fault_of({.buyers_per_address_max = 65}), "");
    EXPECT_NE(fault_of({.buyer_place_kept = 0s}), "");
}

TEST(LimitHeaders, SayWhenToComeBackAndWhy) {
    Limits limits{LimitTerms{}};
    (void)passes_of(200, [&] { return limits.address(address("::1"), t0); });
    EXPECT_EQ(headers_of(limits.address(address("::1"), t0)),
              "Retry-After: 1\r\n"
              "RateLimit-Policy: \"address\";q=100;w=1\r\n"
              "RateLimit: \"address\";r=0;t=1\r\n");
    (void)passes_of(10, [&] { return limits.buyer(alice, t0); });
    EXPECT_EQ(headers_of(limits.buyer(alice, t0 + 17500ms)),
              "Retry-After: 43\r\n"
              "RateLimit-Policy: \"buyer\";q=10;w=60\r\n"
              "RateLimit: \"buyer\";r=0;t=43\r\n");
    EXPECT_EQ(
        headers_of(LimitRuling::slowed("conduct", 5s, 3s)),
        "Retry-After: 3\r\nRateLimit-Policy: \"conduct\";q=1;w=5\r\nRateLimit: \"conduct\";r=0;t=3\r\n");
}

TEST(LimitHeaders, TheLongestFit) {
    const LimitRuling longest{.passes = false,
                              .retry_after = 24h,
                              .name = "buyers-per-address",
                              .limit = UINT32_MAX,
                              .window_s = UINT32_MAX,
                              .remaining = UINT32_MAX};
    EXPECT_LE(headers_of(longest).size(), limit_headers_bytes_max);
}

}  // namespace
}  // namespace doorbuster
