// Limits: how much of everything one address, one buyer, one sale and all together may ask.
//
// The stages of the funnel that count. Each answers a ruling that says what the refused hears:
// Retry-After, and RateLimit and RateLimit-Policy as draft-ietf-httpapi-ratelimit-headers has
// them. Nothing that is refused is counted.
//
// Thread safety: one object for all gate threads, lock-free, no allocation after construction.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/address.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "funnel/distinct_buyers.hpp"
#include "funnel/limit_policy.hpp"
#include "funnel/limit_ruling.hpp"
#include "funnel/limiter.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

struct LimitTerms {
    using Kind = LimitPolicy::Kind;

    LimitPolicy address{Kind::token_bucket, 100, std::chrono::seconds(1), 200};
    LimitPolicy buyer{Kind::sliding_window, 10, std::chrono::seconds(60)};
    LimitPolicy checks{Kind::token_bucket, 30, std::chrono::seconds(60), 30};  // human checks of a buyer
    LimitPolicy global{Kind::token_bucket, 50'000, std::chrono::seconds(1), 50'000};

    uint32_t buyers_per_address_max = 20;  // for sales that say nothing else; 0: no limit
    Uptime buyer_place_kept = std::chrono::minutes(10);

    // Addresses, and buyers, told apart at a time, at about 200 bytes each. To be no less than the
    // buyers that come within ten minutes: those beyond share what is left, and hardly pass.
    size_t keys_max = limit_keys_default;

    friend bool operator==(const LimitTerms&, const LimitTerms&) = default;
};

// Why the terms cannot be; empty if they can.
[[nodiscard]] std::string_view fault_of(const LimitTerms& terms);

class Limits {
public:
    // REQUIRES: fault_of(terms) is empty.
    explicit Limits(const LimitTerms& terms);

    // Other terms, while running: what `before` has counted still counts, and goes on being
    // counted for both. Only where more room is asked than there is does a limit begin afresh.
    Limits(const LimitTerms& terms, const Limits& before);

    [[nodiscard]] LimitRuling address(const Address& from, Uptime now);
    [[nodiscard]] LimitRuling global(Uptime now);
    [[nodiscard]] LimitRuling buyer(const BuyerId& buyer, Uptime now) {
        return this->buyer(key_of(buyer), now);
    }
    [[nodiscard]] LimitRuling checks(const BuyerId& buyer, Uptime now);

    // A sale's own; 0: none.
    [[nodiscard]] LimitRuling sale(const SaleId& sale, uint32_t per_second_max, Uptime now);

    // Distinct buyers behind an address in a sale. `buyers_max` 0: as the terms say.
    [[nodiscard]] LimitRuling buyers_at(const Address& from, const SaleId& sale, const BuyerId& buyer,
                                        uint32_t buyers_max, Uptime now) {
        return buyers_at(place_of(from, sale), key_of(buyer), buyers_max, now);
    }

    // The same for who knows a while before that it will ask, and about one buyer more than once: the
    // name is hashed once, and what the limits know of it is on its way from the memory.
    struct BuyerKey {
        uint64_t hash;
    };
    struct PlaceKey {
        uint64_t hash;
    };
    BuyerKey key_of(const BuyerId& buyer) const { return {hash_(buyer)}; }
    PlaceKey place_of(const Address& from, const SaleId& sale) const;
    void expect(BuyerKey buyer) { buyers_->limiter.expect(buyer.hash); }
    void expect_cells(BuyerKey buyer) { buyers_->limiter.expect_cells(buyer.hash); }
    void expect(PlaceKey place) { distinct_buyers_->expect(place.hash); }
    [[nodiscard]] LimitRuling buyer(BuyerKey buyer, Uptime now);
    [[nodiscard]] LimitRuling buyers_at(PlaceKey place, BuyerKey buyer, uint32_t buyers_max, Uptime now);

    // For the rush: brings the tables into memory (about 200 bytes for each of the keys_max), so that
    // nobody's request waits for a page. From any thread.
    void populate() const;

    // Of all tables: how often somebody was held to a limit together with others, for want of room.
    uint64_t overflowed_total() const;
    size_t memory_bytes() const;

private:
    // A policy at work: none where the limit is 0.
    struct Term {
        explicit Term(std::string_view name, const LimitPolicy& policy);
        std::string_view name;
        LimitPolicy policy;
        std::optional<Rate> rate;
    };
    struct Table {
        explicit Table(KeyTableRoom with_room) : room(with_room), limiter(with_room) {}
        const KeyTableRoom room;
        Limiter limiter;
    };
    // One line of its own: every request of every gate writes its first word.
    struct alignas(64) Global {
        std::array<std::atomic<uint64_t>, window_limit_max> cells{};
    };

    static std::shared_ptr<Table> table_for(const LimitPolicy&, size_t keys_max,
                                            std::shared_ptr<Table> before);
    static LimitRuling ruling_of(const Term&, const Decision&);
    static LimitRuling take(const Term&, Table&, uint64_t key, Uptime now);

    // Fixed at construction.
    const LimitTerms terms_;
    const Term address_, buyer_, checks_, global_;
    const SeededHash hash_;

    // Changed by every thread, and shared with the Limits before and after.
    const std::shared_ptr<Table> addresses_, buyers_, checkers_, sales_;
    const std::shared_ptr<Global> all_;
    const std::shared_ptr<DistinctBuyers> distinct_buyers_;
};

}  // namespace doorbuster
