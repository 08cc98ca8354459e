// What the stages of the funnel cost, one by one and together.
//
// So many buyers at as many addresses come in turn: 64, whose entries stay in the processor's
// nearest cache, and 20,000, whose entries do not.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <vector>

#include "funnel/admission.hpp"
#include "funnel/client_address.hpp"
#include "funnel/crowd.hpp"
#include "funnel/funnel.hpp"
#include "funnel/origin.hpp"
#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace std::chrono_literals;
using testing::t0;

constexpr const char* secret = "a secret of the shop, long enough to be one";

// Limits that count everybody and refuse nobody.
LimitTerms generous() {
    using enum LimitPolicy::Kind;
    return {.address = {token_bucket, 1'000'000, 1s, 1'000'000},
            .buyer = {sliding_window, 10, 60s},
            .global = {token_bucket, 1'000'000'000, 1s, 1'000'000'000},
            .buyers_per_address_max = 20,
            .keys_max = 1 << 20};
}

// Ten thousand addresses and as many buyers, none of whom comes.
std::shared_ptr<const RiskLists> long_lists() {
    std::vector<ListEntry> entries;
    for (int i = 0; i < 10'000; ++i) {
        entries.push_back(*ListEntry::from("block", "address", fmt::format("100.64.{}.{}", i >> 8, i & 255)));
        entries.push_back(*ListEntry::from("block", "buyer", fmt::format("mallory-{}", i)));
    }
    return std::make_shared<RiskLists>(entries);
}

struct Scene {
    explicit Scene(size_t its_crowd) : crowd(its_crowd) {
        listed.items.push_back({listed.sale.items.front(), ItemSlot{0}, std::make_shared<ItemBoard>()});
        board().show({1000, 1000, 0, 0});
        limits->populate();  // as the warm-up of a sale does
        for (size_t i = 0; i < crowd; ++i) {
            buyers.push_back({.buyer = BuyerId("buyer-" + std::to_string(100'000 + i)),
                              .expires_at = t0 + 1h,
                              .valid_from = t0});
            addresses.push_back(Address::v4({10, 1, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}));
        }
    }
    ItemBoard& board() { return *listed.items.front().board; }

    // Whoever comes next; each round of the crowd is a minute later, when nobody's limit is used up.
    void next() {
        if (++at == crowd) {
            at = 0;
            uptime += 61s;
        }
    }

    const size_t crowd;
    size_t at = 0;
    Uptime uptime{1h};
    std::span<const std::string_view> hops;
    std::vector<Who> buyers;  // as identity leaves them
    const BuyerId& buyer() const { return buyers[at].buyer; }
    std::vector<Address> addresses;
    ListedSale listed{testing::phone_drop(1000), SaleState::open, 1, {}};
    LevelSwitch level{t0};
    Strikes strikes{65'536, {}};
    Burned burned{64};
    ImagePool images{2, {}, {}};
    Arrivals arrivals;
    std::shared_ptr<const PurchaseTokens> tokens =
        std::make_shared<PurchaseTokens>(SigningKeys::Secrets{secret});
    std::shared_ptr<Limits> limits = std::make_shared<Limits>(generous());
    std::shared_ptr<const RiskLists> lists = std::make_shared<RiskLists>();
    std::shared_ptr<FunnelRules> rules =
        std::make_shared<FunnelRules>(FunnelRules{.identity = std::make_shared<Identity>(std::string(secret)),
                                                  .cookie = {},
                                                  .origins = {},
                                                  .trusted_proxies = {},
                                                  .lists = lists,
                                                  .limits = limits,
                                                  .tokens = tokens,
                                                  .pow = nullptr,
                                                  .image = nullptr});
    Funnel funnel{{level, strikes, burned, images, arrivals}, rules};
};

// Everybody has been there once before the clock runs: the memory is there.
template <class Run>
void measure(benchmark::State& state, Scene& scene, Run&& run) {
    for (size_t i = 0; i < scene.crowd; ++i, scene.next()) run(scene);
    for (auto _ : state) {
        benchmark::DoNotOptimize(run(scene));
        scene.next();
    }
}

template <class Stage>
void stage(benchmark::State& state, Stage&& run) {
    Scene scene(static_cast<size_t>(state.range(0)));
    measure(state, scene, run);
}

BENCHMARK_CAPTURE(stage, level, [](Scene& s) { return passes(s.level.in_force(), RequestKind::purchase); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, address_list, [](Scene& s) { return s.lists->of(s.addresses[s.at]); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, address_limit,
                  [](Scene& s) { return s.limits->address(s.addresses[s.at], s.uptime); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, global_limit, [](Scene& s) { return s.limits->global(s.uptime); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, buyer_limit, [](Scene& s) { return s.limits->buyer(s.buyer(), s.uptime); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, buyers_per_address,
                  [](Scene& s) {
                      return s.limits->buyers_at(s.addresses[s.at], s.listed.sale.id, s.buyer(), 0, s.uptime);
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, strikes, [](Scene& s) { return s.strikes.admit(s.buyer(), s.uptime); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, purchase_token,
                  [](Scene& s) {
                      static const ItemTokens tokens =
                          s.tokens->of(s.listed.sale.id, s.listed.sale.items.front().id);
                      static const std::string token =
                          tokens.mint(testing::purchase(1), s.buyers[0].buyer, {t0, t0 + 10min});
                      return tokens.open(token, s.buyers[0].buyer, t0).has_value();
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, client_address_behind_a_proxy,
                  [](Scene& s) {
                      static const AddressSet proxies({*AddressRange::parse("10.0.0.0/8")});
                      static const std::array<std::string_view, 1> hops{"203.0.113.7, 10.2.3.4"};
                      return client_address(s.addresses[s.at], hops, proxies);
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, origin,
                  [](Scene& s) {
                      static const std::vector<std::string> origins{"https://shop.example"};
                      benchmark::DoNotOptimize(s.at);
                      return is_own_site("https://shop.example", "buy.example", origins);
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, buyer_list_of_10000,
                  [](Scene& s) {
                      static const auto lists = long_lists();
                      return lists->of(s.buyer());
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, address_list_of_10000,
                  [](Scene& s) {
                      static const auto lists = long_lists();
                      return lists->of(s.addresses[s.at]);
                  })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, window_and_sold_out_flag,
                  [](Scene& s) { return admit_stranger(s.listed, s.listed.items.front(), s.buyer(), t0); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, sale_limit,
                  [](Scene& s) { return s.limits->sale(s.listed.sale.id, 1'000'000'000, s.uptime); })
    ->Arg(64)
    ->Arg(20'000);
BENCHMARK_CAPTURE(stage, crowd,
                  [](Scene& s) { return is_crowded(s.at, s.listed.items.front().board->stock()); })
    ->Arg(64)
    ->Arg(20'000);

// An answer to a proof of work: read, verified, judged and burned.
void check_answered(benchmark::State& state) {
    Scene scene(64);
    Burned burned(1 << 20);
    const PowChecks checks(SigningKeys::Secrets{secret});
    const CheckScope scope{scene.listed.sale.id, scene.buyer()};
    const PowChecks::Challenge made = checks.make(scope, {.nonce = {}, .number = 7}, 1, t0);
    const std::string answer = base64(fmt::format(
        R"({{"algorithm":"SHA-256","challenge":"{}","number":{},"salt":"{}","signature":"{}"}})",
        std::string_view(made.challenge.data(), made.challenge.size()), 0, made.salt(), made.id()));
    uint64_t mark = 0;
    for (auto _ : state) {
        const auto answered = checks.read(answer, scope, t0);
        if (!answered) state.SkipWithError("the check is not known");
        // As if each were another check's; a new slice of time before the table is full.
        mark += 0x9e3779b97f4a7c15;
        benchmark::DoNotOptimize(burned.burn(mark, answered->expires_at + (mark >> 46) * 64s));
    }
}
BENCHMARK(check_answered);

// Everything but identity, as a gate runs it. Without a token the buyer's key names the purchase.
bool whole(Scene& scene, std::string_view token = {}) {
    Ruling ruling =
        scene.funnel.arrive({scene.addresses[scene.at], scene.hops, RequestKind::purchase}, scene.uptime);
    if (!ruling.passes()) return false;
    PurchaseId id;
    ruling = scene.funnel.ask(
        {.sale = scene.listed,
         .item = scene.listed.items.front(),
         .who = scene.buyers[scene.at],
         .token = token,
         .key = token.data() == nullptr ? "a-key-of-the-buyers-own-making" : std::string_view{},
         .units_waited_for = 0},
        t0, scene.uptime, id);
    benchmark::DoNotOptimize(id);
    return ruling.passes();
}

void whole_sold_out(benchmark::State& state) {
    Scene scene(static_cast<size_t>(state.range(0)));
    scene.board().show({1000, 0, 1000, 0});
    measure(state, scene, [&](Scene&) {
        if (whole(scene)) state.SkipWithError("it is sold out");
        return 0;
    });
}
BENCHMARK(whole_sold_out)->Arg(64)->Arg(20'000);

void whole_passing(benchmark::State& state) {
    Scene scene(static_cast<size_t>(state.range(0)));
    measure(state, scene, [&](Scene&) {
        if (!whole(scene)) state.SkipWithError("somebody was refused");
        return 0;
    });
}
BENCHMARK(whole_passing)->Arg(64)->Arg(20'000);

// A sale with a human check, whose buyers have passed it.
void whole_passing_with_token(benchmark::State& state) {
    Scene scene(static_cast<size_t>(state.range(0)));
    scene.listed.sale.human_check = HumanCheck::pow;
    const ItemTokens minting = scene.tokens->of(scene.listed.sale.id, scene.listed.sale.items.front().id);
    std::vector<std::string> tokens;
    for (size_t i = 0; i < scene.buyers.size(); ++i) {
        tokens.push_back(minting.mint(testing::purchase(static_cast<uint32_t>(i)), scene.buyers[i].buyer,
                                      {t0, t0 + 10min}));
    }
    measure(state, scene, [&](Scene&) {
        if (!whole(scene, tokens[scene.at])) state.SkipWithError("somebody was refused");
        return 0;
    });
}
BENCHMARK(whole_passing_with_token)->Arg(64)->Arg(20'000);

// Behind a proxy, with lists of ten thousand entries each and a rate of the sale's own.
void whole_passing_with_everything(benchmark::State& state) {
    Scene scene(static_cast<size_t>(state.range(0)));
    scene.listed.sale.purchases_per_second_max = 1'000'000'000;
    scene.rules->lists = long_lists();
    scene.rules->trusted_proxies = AddressSet({*AddressRange::parse("10.0.0.0/8")});
    std::vector<std::string> clients;
    for (size_t i = 0; i < scene.crowd; ++i)
        clients.push_back(fmt::format("198.18.{}.{}, 10.2.3.4", i >> 8, i & 255));
    std::array<std::string_view, 1> hops;
    scene.hops = hops;
    measure(state, scene, [&](Scene&) {
        hops[0] = clients[scene.at];
        if (!whole(scene)) state.SkipWithError("somebody was refused");
        return 0;
    });
}
BENCHMARK(whole_passing_with_everything)->Arg(64)->Arg(20'000);

}  // namespace
}  // namespace doorbuster
