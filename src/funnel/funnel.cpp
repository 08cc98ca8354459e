#include "funnel/funnel.hpp"

#include "base/check.hpp"
#include "funnel/admission.hpp"
#include "funnel/client_address.hpp"
#include "funnel/cookie.hpp"
#include "funnel/crowd.hpp"
#include "funnel/human_check.hpp"
#include "funnel/origin.hpp"

namespace doorbuster {

namespace {

Refusal refusal_of(Admission admission) {
    switch (admission) {
        case Admission::pass:
            return Refusal::none;
        case Admission::not_open:
            return Refusal::not_open;
        case Admission::ended:
            return Refusal::ended;
        case Admission::paused:
            return Refusal::paused;
        case Admission::sold_out:
            return Refusal::sold_out;
        case Admission::sold_out_for_now:
            return Refusal::sold_out_for_now;
    }
    CHECK(false);
    return Refusal::unavailable;
}

}  // namespace

Ruling Funnel::arrive(const Arrival& arrival, Uptime uptime) {
    const Level level = state_.level.in_force();
    if (!passes(level, arrival.kind)) {
        return Ruling::refuse(Stage::level,
                              level == Level::closed ? Refusal::unavailable : Refusal::overloaded);
    }

    address_ = client_address(arrival.peer, arrival.forwarded_for, rules_->trusted_proxies);
    address_standing_ = rules_->lists->of(address_);
    if (address_standing_ == Standing::blocked) return Ruling::refuse(Stage::address_list, Refusal::blocked);
    if (address_standing_ == Standing::neutral) {
        if (const auto limit = rules_->limits->address(address_, uptime); !limit.passes) {
            return Ruling::refuse(Stage::address_limit, limit);
        }
    }
    if (const auto limit = rules_->limits->global(uptime); !limit.passes) {
        return Ruling::refuse(Stage::global_limit, limit);
    }
    return Ruling::pass();
}

Ruling Funnel::identify(const Credentials& credentials, Instant now, Who& who) {
    const PresentedToken presented =
        presented_token(credentials.authorization, credentials.cookie, rules_->cookie);
    const auto verified = identities_.verify(*rules_->identity, presented.token, now);
    if (!verified) {
        // An oversized token is refused before any crypto: that is no statement about identity.
        return Ruling::refuse(Stage::identity, verified.error() == IdentityFault::oversized
                                                   ? Refusal::malformed
                                                   : Refusal::unauthenticated);
    }
    if (presented.is_from_cookie && credentials.changes_something &&
        !is_own_site(credentials.origin, credentials.host, rules_->origins)) {
        return Ruling::refuse(Stage::origin, Refusal::cross_site);
    }
    who = *verified;
    rules_->limits->expect(rules_->limits->key_of(who.buyer));
    return Ruling::pass();
}

Ruling Funnel::take_check(const BuyerId& buyer, Uptime uptime) {
    const Standing standing = rules_->lists->of(buyer);
    if (standing == Standing::blocked) return Ruling::refuse(Stage::buyer_list, Refusal::blocked);
    if (standing == Standing::allowed) return Ruling::pass();
    const ConductRuling conduct = state_.strikes.conduct_of(buyer, uptime);
    if (conduct.conduct == Conduct::barred) return Ruling::bar(Stage::risk, conduct.retry_after);
    if (const auto limit = rules_->limits->checks(buyer, uptime); !limit.passes) {
        return Ruling::refuse(Stage::buyer_limit, limit);
    }
    return Ruling::pass();
}

// Inside its callers: a ruling is not copied for each buyer who passes.
[[gnu::always_inline]] inline Ruling Funnel::ask_buyer(const Stranger& stranger, Uptime uptime) {
    if (stranger.standing == Standing::blocked) return Ruling::refuse(Stage::buyer_list, Refusal::blocked);
    if (stranger.standing == Standing::neutral) {
        if (const auto limit = rules_->limits->buyer(stranger.key, uptime); !limit.passes) {
            return Ruling::refuse(Stage::buyer_limit, limit);
        }
    }
    return Ruling::pass();
}

Ruling Funnel::ask(const Attempt& attempt, Instant now, Uptime uptime, PurchaseId& id) {
    const SaleId& sale = attempt.sale.sale.id;
    const BuyerId& buyer = attempt.who.buyer;
    Limits& limits = *rules_->limits;
    const auto key = limits.key_of(buyer);
    limits.expect_cells(key);

    if (attempt.item.board->perhaps_winner(buyer)) {
        const auto named = name_of(attempt);
        if (named && attempt.item.board->perhaps_accepted(*named)) {
            id = *named;
            return Ruling::pass();
        }
    }
    if (attempt.item.board->stock().units_available > 0) state_.strikes.expect(buyer);
    const Standing standing = rules_->lists->of(buyer);
    if (const Ruling ruling = ask_stranger(attempt, {standing, key}, now, uptime); !ruling.passes())
        return ruling;
    const auto place = limits.place_of(address_, sale);
    limits.expect(place);
    if (const Ruling ruling = check_token(attempt, now, uptime, id); !ruling.passes()) return ruling;

    if (standing != Standing::allowed) {
        // Behind the token: whoever has not passed the check takes up no place.
        if (address_standing_ == Standing::neutral) {
            const auto limit = limits.buyers_at(place, key, attempt.sale.sale.buyers_per_address_max, uptime);
            if (!limit.passes) return Ruling::refuse(Stage::buyers_per_address, limit);
        }
        const ConductRuling conduct = state_.strikes.admit(buyer, uptime);
        if (conduct.conduct == Conduct::barred) return Ruling::bar(Stage::risk, conduct.retry_after);
        if (!conduct.passes()) {
            return Ruling::refuse(Stage::risk, LimitRuling::slowed("conduct", state_.strikes.slow_every(),
                                                                   conduct.retry_after));
        }
    }
    if (const auto limit = limits.sale(sale, attempt.sale.sale.purchases_per_second_max, uptime);
        !limit.passes) {
        return Ruling::refuse(Stage::sale_limit, limit);
    }
    if (is_crowded(attempt.units_waited_for, attempt.item.board->stock())) {
        return Ruling::refuse(Stage::crowd, Refusal::crowded);
    }
    return Ruling::pass();
}

Ruling Funnel::ask_in_vain(const BuyerId& buyer, Uptime uptime) {
    return ask_buyer({rules_->lists->of(buyer), rules_->limits->key_of(buyer)}, uptime);
}

std::optional<PurchaseId> Funnel::name_of(const Attempt& attempt) {
    const BuyerId& buyer = attempt.who.buyer;
    if (attempt.token.data() != nullptr) return tokens_of(attempt).named_purchase(attempt.token, buyer);
    if (attempt.key.data() == nullptr) return std::nullopt;
    return purchase_id_of(attempt.sale.sale.id, attempt.item.item.id, buyer, attempt.key);
}

const ItemTokens& Funnel::tokens_of(const Attempt& attempt) {
    const auto found = item_tokens_.find(attempt.item.slot);
    if (found != item_tokens_.end()) return found->second;
    return item_tokens_
        .emplace(attempt.item.slot, rules_->tokens->of(attempt.sale.sale.id, attempt.item.item.id))
        .first->second;
}

// What can be said before the purchase has a name.
Ruling Funnel::ask_stranger(const Attempt& attempt, const Stranger& stranger, Instant now, Uptime uptime) {
    if (const Ruling ruling = ask_buyer(stranger, uptime); !ruling.passes()) return ruling;
    const Admission admission = admit_stranger(attempt.sale, attempt.item, attempt.who.buyer, now);
    if (admission == Admission::sold_out || admission == Admission::sold_out_for_now) {
        return Ruling::refuse(Stage::sold_out, refusal_of(admission));
    }
    if (admission != Admission::pass) return Ruling::refuse(Stage::window, refusal_of(admission));

    return Ruling::pass();
}

// The purchase gets its name: the token's, the key's, or one made up.
Ruling Funnel::check_token(const Attempt& attempt, Instant now, Uptime uptime, PurchaseId& id) {
    const Sale& sale = attempt.sale.sale;
    const BuyerId& buyer = attempt.who.buyer;
    const ItemId& item = attempt.item.item.id;
    const bool is_asked = check_asked(sale.human_check, attempt.who.check) != HumanCheck::none;

    if (attempt.token.data() == nullptr) {
        if (is_asked) return Ruling::refuse(Stage::token, Refusal::token_required);
        id = attempt.key.data() != nullptr ? purchase_id_of(sale.id, item, buyer, attempt.key)
                                           : fresh_ids_.next();
        return Ruling::pass();
    }
    // One that was got while the sale still asked is as good as ever.
    const auto opened = tokens_of(attempt).open(attempt.token, buyer, now);
    if (!opened) {
        if (!is_asked) return Ruling::refuse(Stage::token, Refusal::token_not_asked);
        // One that was ours and came too late is no offence.
        const TokenFault fault = opened.error();
        const bool is_offence = fault == TokenFault::malformed || fault == TokenFault::foreign;
        if (is_offence) state_.strikes.strike(buyer, Strike::refused_token, uptime);
        return Ruling::refuse(Stage::token, Refusal::token_invalid);
    }
    id = *opened;
    return Ruling::pass();
}

}  // namespace doorbuster
