// What it costs to know who the buyer is: a token seen for the first time, and its repeat.
//
// Tokens are of the usual size, about 230 bytes. Repeats are measured with one buyer and with
// many, whose entries no longer fit the nearest cache of the processor.
#include <benchmark/benchmark.h>

#include <vector>

#include "funnel/identity_cache.hpp"
#include "funnel/shop_key_testing.hpp"

namespace doorbuster {
namespace {

using testing::ShopKey;

const Instant now = from_ms(1'800'000'000'000);
constexpr std::chrono::seconds lifetime{600};

IdentityRules usual_rules() {
    return {.issuer = "https://shop.example", .audience = "sale", .check_claim = "check"};
}

std::vector<std::string> tokens_of(const Identity& identity, size_t count) {
    std::vector<std::string> tokens;
    for (size_t i = 0; i < count; ++i) {
        tokens.push_back(identity.mint(BuyerId("buyer-" + std::to_string(100'000 + i)), now, lifetime));
    }
    return tokens;
}

void judge(benchmark::State& state, const Identity& identity, const std::vector<std::string>& tokens) {
    size_t at = 0;
    for (auto _ : state) {
        const auto who = identity.verify(tokens[at], now);
        if (!who) return state.SkipWithError("a token was refused");
        benchmark::DoNotOptimize(who->buyer);
        if (++at == tokens.size()) at = 0;
    }
}

void first_seen_hs256(benchmark::State& state, const char* kid) {
    const Identity identity(usual_rules(), testing::ring_of({ShopKey(KeyAlgorithm::hs256, kid)}));
    judge(state, identity, tokens_of(identity, 1024));
}
BENCHMARK_CAPTURE(first_seen_hs256, without_kid, "");
BENCHMARK_CAPTURE(first_seen_hs256, with_kid, "2026-12");

void first_seen_public_key(benchmark::State& state, KeyAlgorithm algorithm) {
    const ShopKey shop(algorithm, "2026-12");
    const std::string payload =
        R"({"sub":"buyer-100000","iat":1800000000,"exp":1800000600,"iss":"https://shop.example","aud":"sale"})";
    judge(state, Identity(usual_rules(), testing::ring_of({shop})), {shop.token(payload)});
}
BENCHMARK_CAPTURE(first_seen_public_key, es256, KeyAlgorithm::es256);
BENCHMARK_CAPTURE(first_seen_public_key, eddsa, KeyAlgorithm::eddsa);

void repeated(benchmark::State& state) {
    const Identity identity(usual_rules(), testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")}));
    const auto tokens = tokens_of(identity, static_cast<size_t>(state.range(0)));
    IdentityCache cache;
    for (const std::string& token : tokens) {
        if (!cache.verify(identity, token, now)) return state.SkipWithError("a token was refused");
    }
    size_t at = 0;
    for (auto _ : state) {
        const auto who = cache.verify(identity, tokens[at], now);
        benchmark::DoNotOptimize(who->buyer);
        if (++at == tokens.size()) at = 0;
    }
}
// With more buyers than that, some share a place and are verified again.
BENCHMARK(repeated)->Arg(1)->Arg(64)->Arg(512);

void forged(benchmark::State& state) {
    const Identity identity(usual_rules(), testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")}));
    const Identity forger(usual_rules(), testing::ring_of({ShopKey(KeyAlgorithm::hs256, "")}));
    const std::string token = forger.mint(BuyerId("mallory"), now, lifetime);
    IdentityCache cache;
    for (auto _ : state) {
        if (cache.verify(identity, token, now)) return state.SkipWithError("a forged token was accepted");
    }
}
BENCHMARK(forged);

}  // namespace
}  // namespace doorbuster
