#include "funnel/limits.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {
namespace {

using std::chrono::seconds;

constexpr size_t sales_max = 256;  // told apart, with a rate of their own

uint32_t whole_seconds(Uptime window) {
    return static_cast<uint32_t>(std::chrono::ceil<seconds>(window).count());
}

std::string_view bytes_of(const Address& address) {
    return {reinterpret_cast<const char*>(address.bytes.data()), address.bytes.size()};
}

}  // namespace

std::string_view fault_of(const LimitTerms& terms) {
    for (const LimitPolicy* policy : {&terms.address, &terms.buyer, &terms.checks, &terms.global}) {
        if (const auto fault = fault_of(*policy); !fault.empty()) return fault;
    }
    if (terms.buyers_per_address_max > DistinctBuyers::places_max) {
        return "at most 64 distinct buyers of an address are told apart";
    }
    if (terms.buyer_place_kept < seconds(1) || terms.buyer_place_kept > limit_window_max) {
        return "a buyer's place is kept for 1 s to 24 h";
    }
    return {};
}

Limits::Term::Term(std::string_view its_name, const LimitPolicy& its_policy)
    : name(its_name), policy(its_policy) {
    if (policy.limit != 0) rate.emplace(policy);
}

std::shared_ptr<Limits::Table> Limits::table_for(const LimitPolicy& policy, size_t keys_max,
                                                 std::shared_ptr<Table> before) {
    const KeyTableRoom wanted{policy.limit == 0 ? KeyTableRoom{1, 1}
                                                : KeyTableRoom{keys_max, Rate::cells_of(policy)}};
    const bool suffices = before && before->room.keys_max >= wanted.keys_max &&
                          before->room.cells_per_key >= wanted.cells_per_key;
    return suffices ? before : std::make_shared<Table>(wanted);
}

Limits::Limits(const LimitTerms& terms)
    : terms_(terms),
      address_("address", terms.address),
      buyer_("buyer", terms.buyer),
      checks_("checks", terms.checks),
      global_("global", terms.global),
      addresses_(table_for(terms.address, terms.keys_max, nullptr)),
      buyers_(table_for(terms.buyer, terms.keys_max, nullptr)),
      checkers_(table_for(terms.checks, terms.keys_max, nullptr)),
      sales_(std::make_shared<Table>(KeyTableRoom{sales_max, window_limit_max})),
      all_(std::make_shared<Global>()),
      distinct_buyers_(std::make_shared<DistinctBuyers>(terms.keys_max, terms.buyer_place_kept)) {
    CHECK(fault_of(terms).empty());
}

Limits::Limits(const LimitTerms& terms, const Limits& before)
    : terms_(terms),
      address_("address", terms.address),
      buyer_("buyer", terms.buyer),
      checks_("checks", terms.checks),
      global_("global", terms.global),
      hash_(before.hash_),
      addresses_(table_for(terms.address, terms.keys_max, before.addresses_)),
      buyers_(table_for(terms.buyer, terms.keys_max, before.buyers_)),
      checkers_(table_for(terms.checks, terms.keys_max, before.checkers_)),
      sales_(before.sales_),
      all_(before.all_),
      distinct_buyers_(before.terms_.keys_max >= terms.keys_max &&
                               before.terms_.buyer_place_kept == terms.buyer_place_kept
                           ? before.distinct_buyers_
                           : std::make_shared<DistinctBuyers>(terms.keys_max, terms.buyer_place_kept)) {
    CHECK(fault_of(terms).empty());
}

LimitRuling Limits::ruling_of(const Term& term, const Decision& decision) {
    return {.passes = decision.passes,
            .retry_after = decision.retry_after,
            .name = term.name,
            .limit = term.policy.limit,
            .window_s = whole_seconds(term.policy.window),
            .remaining = decision.remaining};
}

LimitRuling Limits::take(const Term& term, Table& table, uint64_t key, Uptime now) {
    return ruling_of(term, table.limiter.take(key, *term.rate, now));
}

LimitRuling Limits::address(const Address& from, Uptime now) {
    if (!address_.rate) return {};
    return take(address_, *addresses_, hash_(bytes_of(from.limit_key())), now);
}

LimitRuling Limits::global(Uptime now) {
    if (!global_.rate) return {};
    return ruling_of(global_,
                     global_.rate->take(std::span<std::atomic<uint64_t>>(all_->cells), Rate::ticks(now)));
}

LimitRuling Limits::buyer(BuyerKey buyer, Uptime now) {
    if (!buyer_.rate) return {};
    return take(buyer_, *buyers_, buyer.hash, now);
}

LimitRuling Limits::checks(const BuyerId& buyer, Uptime now) {
    if (!checks_.rate) return {};
    return take(checks_, *checkers_, hash_(buyer), now);
}

// Exactly so many in any second, where that can be counted; else a tenth of a second's worth
// may come at once, on top of the rate.
LimitRuling Limits::sale(const SaleId& sale, uint32_t per_second_max, Uptime now) {
    using enum LimitPolicy::Kind;
    if (per_second_max == 0) return {};
    const uint32_t limit = std::min(per_second_max, bucket_limit_max);
    const auto kind = limit <= window_limit_max ? sliding_window : token_bucket;
    return take(Term("sale", {kind, limit, seconds(1), limit / 10}), *sales_, hash_(sale), now);
}

Limits::PlaceKey Limits::place_of(const Address& from, const SaleId& sale) const {
    return {fold(hash_(bytes_of(from.limit_key())) ^ hash_.seed, hash_(sale))};
}

LimitRuling Limits::buyers_at(PlaceKey place, BuyerKey buyer, uint32_t buyers_max, Uptime now) {
    const uint32_t places = buyers_max != 0 ? buyers_max : terms_.buyers_per_address_max;
    if (places == 0) return {};
    const Decision decision = distinct_buyers_->enter(place.hash, buyer.hash, places, now);
    return {.passes = decision.passes,
            .retry_after = decision.retry_after,
            .name = "buyers-per-address",
            .limit = places,
            .window_s = whole_seconds(terms_.buyer_place_kept),
            .remaining = decision.remaining};
}

void Limits::populate() const {
    for (const auto& table : {addresses_, buyers_, checkers_, sales_}) table->limiter.populate();
    distinct_buyers_->populate();
}

uint64_t Limits::overflowed_total() const {
    uint64_t total = distinct_buyers_->overflowed_total();
    for (const auto* table : {&addresses_, &buyers_, &checkers_, &sales_}) {
        total += (*table)->limiter.overflowed_total();
    }
    return total;
}

size_t Limits::memory_bytes() const {
    size_t bytes = sizeof(Global) + distinct_buyers_->memory_bytes();
    for (const auto* table : {&addresses_, &buyers_, &checkers_, &sales_}) {
        bytes += (*table)->limiter.memory_bytes();
    }
    return bytes;
}

}  // namespace doorbuster
