// Funnel: everything that is asked before the book, cheapest first.
//
// One file per stage; this one is their order, as a request meets them:
//
//   arrive      level (degradation) -> address lists -> limit per address -> limit of all
//   identify    token (JWT) -> origin, where a cookie brought the token
//   ask         buyer lists -> limit per buyer -> window -> sold-out flag -> purchase token
//               -> buyers per address -> strikes -> limit of the sale -> crowd
//
// Behind it the owner's queue and the book. A purchase that was accepted passes all of `ask`:
// a winner who repeats must never hear `ended` or `sold_out`, nor be turned away for asking
// often. Only somebody who has won before can repeat an accepted purchase, so for everybody
// else the purchase's id is not even computed until all stages have passed.
//
// Thread safety: none; a funnel belongs to one gate thread. What gates share is in FunnelState.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.hpp"
#include "base/clock.hpp"
#include "funnel/burned.hpp"
#include "funnel/fresh_ids.hpp"
#include "funnel/identity_cache.hpp"
#include "funnel/image_check.hpp"
#include "funnel/image_pool.hpp"
#include "funnel/level.hpp"
#include "funnel/limits.hpp"
#include "funnel/negative_cache.hpp"
#include "funnel/pow_check.hpp"
#include "funnel/pow_difficulty.hpp"
#include "funnel/purchase_token.hpp"
#include "funnel/risk_lists.hpp"
#include "funnel/ruling.hpp"
#include "funnel/strikes.hpp"
#include "sale/catalogue.hpp"

namespace doorbuster {

// What the operator set, as one immutable piece: a reload brings another.
struct FunnelRules {
    std::shared_ptr<const Identity> identity;
    std::string cookie;                // the cookie that may bring a token; empty: none
    std::vector<std::string> origins;  // sites whose pages may use it
    AddressSet trusted_proxies;
    std::shared_ptr<const RiskLists> lists;
    std::shared_ptr<Limits> limits;
    std::shared_ptr<const PurchaseTokens> tokens;
    std::shared_ptr<const PowChecks> pow;
    std::shared_ptr<const ImageChecks> image;
    uint32_t pow_number_max = pow_number_max_default;  // where the sale has none of its own
    double pow_target_per_second = 0;                  // of all gates; checks are harder beyond it
    std::chrono::seconds token_life{600};
};

// What all gate threads share and change. Every part is lock-free.
struct FunnelState {
    LevelSwitch& level;
    Strikes& strikes;
    Burned& burned;
    ImagePool& images;
    Arrivals& arrivals;
};

class Funnel {
public:
    Funnel(FunnelState state, std::shared_ptr<const FunnelRules> rules)
        : state_(state), rules_(std::move(rules)) {}

    void set_rules(std::shared_ptr<const FunnelRules> rules) {
        rules_ = std::move(rules);
        item_tokens_.clear();
    }
    const FunnelRules& rules() const { return *rules_; }

    // Every request.
    struct Arrival {
        const Address& peer;
        std::span<const std::string_view> forwarded_for;
        RequestKind kind;
    };
    [[nodiscard]] Ruling arrive(const Arrival&, Uptime uptime);

    // Requests that need to know who asks; `who` is set if it passes.
    struct Credentials {
        std::string_view authorization, cookie;
        std::string_view origin, host;
        bool changes_something;
    };
    [[nodiscard]] Ruling identify(const Credentials&, Instant now, Who& who);

    // A check that is asked for or answered.
    [[nodiscard]] Ruling take_check(const BuyerId& buyer, Uptime uptime);

    // A purchase; `id` is set if it passes.
    struct Attempt {
        const ListedSale& sale;
        const ListedItem& item;
        const Who& who;
        std::string_view token;  // null: none was sent
        std::string_view key;    // null: none was sent
        uint64_t units_waited_for;
    };
    [[nodiscard]] Ruling ask(const Attempt&, Instant now, Uptime uptime, PurchaseId& id);
    // What cannot be a purchase counts all the same for who sent it.
    [[nodiscard]] Ruling ask_in_vain(const BuyerId& buyer, Uptime uptime);

private:
    // By what the buyer sent; nothing if it names none.
    [[nodiscard]] std::optional<PurchaseId> name_of(const Attempt&);
    [[nodiscard]] const ItemTokens& tokens_of(const Attempt&);
    struct Stranger {
        Standing standing;
        Limits::BuyerKey key;
    };
    [[nodiscard]] Ruling ask_buyer(const Stranger&, Uptime uptime);
    [[nodiscard]] Ruling ask_stranger(const Attempt&, const Stranger&, Instant now, Uptime uptime);
    [[nodiscard]] Ruling check_token(const Attempt&, Instant now, Uptime uptime, PurchaseId& id);

    const FunnelState state_;
    std::shared_ptr<const FunnelRules> rules_;
    IdentityCache identities_;
    FreshIds fresh_ids_;
    // Of the rules in force; bound: the items that tokens came for.
    boost::unordered_flat_map<ItemSlot, ItemTokens> item_tokens_;

    Address address_{};
    Standing address_standing_ = Standing::neutral;
};

}  // namespace doorbuster
