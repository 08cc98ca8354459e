#include "sale/book.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace doorbuster {

Book::Book(const Terms& terms, const Stock& stock, Phase phase, uint64_t sequence_last)
    : terms_(terms), phase_(phase), stock_(stock), sequence_last_(sequence_last) {
    check_stock();
}

Book::ReserveAnswer Book::reserve(const ReserveCommand& command) {
    using enum ReserveOutcome;
    CHECK(command.now >= last_command_at_);  // the owner thread hands in max(now, last)
    CHECK(command.units >= 1);
    last_command_at_ = command.now;

    // Idempotency precedes everything: a winner who repeats after the last unit
    // went, or after the end, must hear "already yours".
    if (const Hold* own = find(command.purchase)) {
        if (own->units != command.units || own->buyer != command.buyer) return {key_mismatch};
        return {repeated, command.purchase, own->sequence, own->accepted_at, own->state};
    }
    if (!command.window_exempt) {
        if (phase_ == Phase::closed || (phase_ != Phase::not_ready && command.now >= terms_.closes_at))
            return {ended};
        if (phase_ == Phase::not_ready || command.now < terms_.opens_at) return {not_open};
        if (phase_ == Phase::paused) return {ReserveOutcome::paused};
    }

    // The limit precedes scarcity: a buyer who has a unit must not come back for
    // another one when somebody else's is returned.
    const auto buyer = buyers_.find(named(command.buyer));
    const uint64_t active = buyer == buyers_.end() ? 0 : active_units(*buyer);
    if (active + command.units > terms_.units_per_buyer_max) {
        return {limit_reached, buyer == buyers_.end() ? PurchaseId{} : at(buyer->newest).purchase};
    }
    if (stock_.units_available < command.units) return {sold_out};
    // Behind the stock: with no unit left, waiting for somebody's slot would be in vain.
    if (terms_.policy == StockPolicy::at_payment && uint64_t{slots_used_} + command.units > orders_max())
        return {sold_out_for_now};

    const Acceptance acceptance{command.purchase, command.buyer, command.units, sequence_last_ + 1,
                                command.now};
    const HoldState state = take(acceptance);
    return {accepted, command.purchase, acceptance.sequence, acceptance.accepted_at, state};
}

HoldState Book::take(const Acceptance& acceptance) {
    HoldState state = HoldState::held;
    switch (terms_.policy) {
        case StockPolicy::reserve:
            stock_.units_available -= acceptance.units;
            stock_.units_held += acceptance.units;
            break;
        case StockPolicy::at_order:
            stock_.units_available -= acceptance.units;
            stock_.units_sold += acceptance.units;
            state = HoldState::sold;
            break;
        case StockPolicy::at_payment:
            slots_used_ += acceptance.units;
            state = HoldState::open;
            break;
    }
    if (state != HoldState::open) last_taken_at_ = std::max(last_taken_at_, {acceptance.accepted_at});
    sequence_last_ = std::max(sequence_last_, acceptance.sequence);
    add(acceptance, state);
    check_stock();
    return state;
}

uint32_t Book::orders_max() const {
    if (terms_.orders_max != 0) return terms_.orders_max;
    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    return stock_.units_total > most / 2 ? most : 2 * stock_.units_total;
}

void Book::set_terms(const Terms& terms) {
    CHECK(terms.policy == terms_.policy || holds_.empty());
    terms_ = terms;
}

Book::Hold* Book::find(const PurchaseId& purchase) {
    const auto found = by_purchase_.find(purchase);
    return found == by_purchase_.end() ? nullptr : &at(found->second);
}

Book::BuyerName Book::named(const BuyerId& buyer) const {
    return {by_purchase_.hash_function()(buyer), buyer};
}

// REQUIRES: the purchase is unknown.
void Book::add(const Acceptance& acceptance, HoldState state) {
    CHECK(holds_.size() < static_cast<size_t>(no_hold));
    const auto index = static_cast<HoldIndex>(holds_.size());
    holds_.push_back({acceptance.purchase, acceptance.buyer, state, acceptance.units, no_hold,
                      acceptance.sequence, acceptance.accepted_at});
    const bool is_new = by_purchase_.emplace(acceptance.purchase, index).second;
    CHECK(is_new);
    if (state == HoldState::finished) return;
    const BuyerName name = named(acceptance.buyer);
    if (const auto buyer = buyers_.find(name); buyer != buyers_.end()) {
        at(index).earlier = std::exchange(buyer->newest, index);
    } else {
        buyers_.insert({name.hash, index});
    }
}

uint32_t Book::active_units(const Buyer& buyer) const {
    uint32_t units = 0;
    for (HoldIndex index = buyer.newest; index != no_hold; index = at(index).earlier)
        units += at(index).units;
    return units;
}

// Of a hold that is no longer active.
void Book::take_right(HoldIndex index) {
    const Hold& hold = at(index);
    const auto buyer = buyers_.find(named(hold.buyer));
    CHECK(buyer != buyers_.end());
    if (buyer->newest != index) {
        Hold* later = &at(buyer->newest);
        while (later->earlier != index) {
            CHECK(later->earlier != no_hold);
            later = &at(later->earlier);
        }
        later->earlier = hold.earlier;
    } else if (hold.earlier != no_hold) {
        buyer->newest = hold.earlier;
    } else {
        buyers_.erase(buyer);
    }
}

bool Book::release(const PurchaseId& purchase) {
    const auto found = by_purchase_.find(purchase);
    if (found == by_purchase_.end() || at(found->second).state == HoldState::finished) return false;
    Hold& hold = at(found->second);

    if (hold.state == HoldState::open) {
        CHECK(slots_used_ >= hold.units);
        slots_used_ -= hold.units;
    } else {
        uint32_t& from = hold.state == HoldState::held ? stock_.units_held : stock_.units_sold;
        CHECK(from >= hold.units);
        from -= hold.units;
        stock_.units_available += hold.units;
    }
    hold.state = HoldState::finished;

    take_right(found->second);
    check_stock();
    return true;
}

bool Book::sell(const PurchaseId& purchase) {
    Hold* const found = find(purchase);
    if (found == nullptr || found->state == HoldState::finished) return false;
    Hold& hold = *found;
    if (hold.state == HoldState::sold) return true;

    const bool is_open = hold.state == HoldState::open;
    if (is_open && stock_.units_available < hold.units) return false;
    uint32_t& from = is_open ? stock_.units_available : stock_.units_held;
    from -= hold.units;
    stock_.units_sold += hold.units;
    if (is_open) slots_used_ -= hold.units;
    hold.state = HoldState::sold;
    check_stock();
    return true;
}

void Book::restock(uint32_t units) {
    stock_.units_total += units;
    stock_.units_available += units;
    check_stock();
}

void Book::recount() {
    uint64_t held = 0, sold = 0;
    for (const Hold& hold : holds_) {
        if (hold.state == HoldState::held) held += hold.units;
        if (hold.state == HoldState::sold) sold += hold.units;
    }
    if (held + sold > stock_.units_total) return;
    stock_.units_held = static_cast<uint32_t>(held);
    stock_.units_sold = static_cast<uint32_t>(sold);
    stock_.units_available = stock_.units_total - stock_.units_held - stock_.units_sold;
    check_stock();
}

void Book::restore(const Acceptance& acceptance, HoldState state) {
    add(acceptance, state);
    sequence_last_ = std::max(sequence_last_, acceptance.sequence);
    last_command_at_ = std::max(last_command_at_, acceptance.accepted_at);
    if (terms_.policy != StockPolicy::at_payment)
        last_taken_at_ = std::max(last_taken_at_, {acceptance.accepted_at});
    if (state == HoldState::open) slots_used_ += acceptance.units;
}

bool Book::apply(const Acceptance& acceptance) {
    if (by_purchase_.contains(acceptance.purchase)) return false;
    const bool takes_units = terms_.policy != StockPolicy::at_payment;
    if (takes_units && stock_.units_available < acceptance.units) return false;
    (void)take(acceptance);
    last_command_at_ = std::max(last_command_at_, acceptance.accepted_at);
    return true;
}

uint32_t Book::buyer_units(const BuyerId& buyer) const {
    const auto found = buyers_.find(named(buyer));
    return found == buyers_.end() ? 0 : active_units(*found);
}

void Book::check_stock() const {
    // Unsigned: a negative count would have wrapped and broken the sum.
    CHECK(uint64_t{stock_.units_available} + stock_.units_held + stock_.units_sold == stock_.units_total);
}

}  // namespace doorbuster
