// The book against a naive model that recomputes everything from a list of what happened,
// under every stock policy.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "sale/book.hpp"
#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum ReserveOutcome;

struct Taken {
    uint32_t id, buyer, units;
    HoldState state;
};

// No counters: every answer is a walk over the list.
struct Model {
    uint32_t total, limit;
    StockPolicy policy;
    uint32_t slots;  // 0: twice the units
    Phase phase = Phase::selling;
    Instant opens_at = t0, closes_at = t0 + 1h;
    std::vector<Taken> taken{};

    uint32_t in_state(HoldState state) const {
        uint32_t units = 0;
        for (const Taken& one : taken) units += one.state == state ? one.units : 0;
        return units;
    }
    uint32_t slots_now() const { return slots == 0 ? 2 * total : slots; }
    uint32_t available() const { return total - in_state(HoldState::held) - in_state(HoldState::sold); }
    uint32_t active_of(uint32_t buyer) const {
        uint32_t units = 0;
        for (const Taken& one : taken) {
            units += one.buyer == buyer && one.state != HoldState::finished ? one.units : 0;
        }
        return units;
    }
    Taken* find(uint32_t id) {
        for (Taken& one : taken) {
            if (one.id == id) return &one;
        }
        return nullptr;
    }

    HoldState state_when_taken() const {
        if (policy == StockPolicy::at_order) return HoldState::sold;
        return policy == StockPolicy::at_payment ? HoldState::open : HoldState::held;
    }
    bool can_sell(const Taken& one) const {
        if (one.state == HoldState::open) return available() >= one.units;
        return one.state != HoldState::finished;
    }
    bool is_in_window(Instant now) const {
        return phase == Phase::selling && now >= opens_at && now < closes_at;
    }

    ReserveOutcome reserve(uint32_t id, uint32_t buyer, uint32_t units, Instant now, bool exempt) {
        if (const Taken* own = find(id)) {
            return own->buyer == buyer && own->units == units ? repeated : key_mismatch;
        }
        if (!exempt && !is_in_window(now)) {
            if (phase == Phase::closed) return ended;
            if (phase == Phase::not_ready) return not_open;
            if (now >= closes_at) return ended;
            if (now < opens_at) return not_open;
            return ReserveOutcome::paused;
        }
        if (active_of(buyer) + units > limit) return limit_reached;
        if (available() < units) return sold_out;
        if (policy == StockPolicy::at_payment && in_state(HoldState::open) + units > slots_now())
            return sold_out_for_now;
        taken.push_back({id, buyer, units, state_when_taken()});
        return accepted;
    }
};

BuyerId buyer_named(uint32_t number) {
    return BuyerId("buyer-" + std::to_string(number));
}

RC_GTEST_PROP(BookProperty, AnswersLikeTheNaiveModelAndKeepsItsCounts, ()) {
    const auto units = *rc::gen::inRange<uint32_t>(0, 12);
    const auto limit = *rc::gen::inRange<uint32_t>(1, 5);
    const auto policy =
        *rc::gen::element(StockPolicy::reserve, StockPolicy::at_order, StockPolicy::at_payment);
    const auto slots = *rc::gen::inRange<uint32_t>(0, 10);
    Book book({limit, t0, t0 + 1h, policy, slots}, {units, units, 0, 0}, Phase::selling);
    Model model{.total = units, .limit = limit, .policy = policy, .slots = slots};
    Instant now = t0 - 2s;
    uint64_t sequence_last = 0;

    const auto steps = *rc::gen::inRange(1, 120);
    for (int step = 0; step < steps; ++step) {
        now += milliseconds(*rc::gen::weightedElement<int>({{30, 0}, {10, 700}, {1, 1'200'000}}));
        const auto id = *rc::gen::inRange<uint32_t>(1, 40);
        switch (*rc::gen::weightedElement<int>({{12, 0}, {4, 1}, {2, 2}, {1, 3}, {1, 4}})) {
            case 0: {
                const auto buyer = *rc::gen::inRange<uint32_t>(0, 5);
                const auto wanted = *rc::gen::inRange<uint32_t>(1, 4);
                const auto exempt = *rc::gen::weightedElement<bool>({{5, false}, {1, true}});
                const auto answer = book.reserve({purchase(id), buyer_named(buyer), wanted, now, exempt});
                RC_ASSERT(answer.outcome == model.reserve(id, buyer, wanted, now, exempt));
                if (answer.outcome == accepted) RC_ASSERT(answer.sequence == ++sequence_last);
                if (answer.outcome == accepted || answer.outcome == repeated)
                    RC_ASSERT(answer.state == model.find(id)->state);
                if (answer.outcome == limit_reached && answer.purchase != PurchaseId{}) {
                    bool holds = false;
                    for (const Taken& one : model.taken) {
                        holds = holds || (purchase(one.id) == answer.purchase && one.buyer == buyer &&
                                          one.state != HoldState::finished);
                    }
                    RC_ASSERT(holds);
                }
                break;
            }
            case 1: {
                Taken* one = model.find(id);
                const bool can = one != nullptr && one->state != HoldState::finished;
                RC_ASSERT(book.release(purchase(id)) == can);
                if (can) one->state = HoldState::finished;
                break;
            }
            case 2: {
                Taken* one = model.find(id);
                const bool can = one != nullptr && model.can_sell(*one);
                RC_ASSERT(book.sell(purchase(id)) == can);
                if (can) one->state = HoldState::sold;
                break;
            }
            case 3: {
                const auto more = *rc::gen::inRange<uint32_t>(1, 4);
                book.restock(more);
                model.total += more;
                break;
            }
            case 4: {
                model.phase = *rc::gen::element(Phase::not_ready, Phase::selling, Phase::selling,
                                                Phase::paused, Phase::closed);
                book.set_phase(model.phase);
                break;
            }
        }
        const Stock expected{model.total, model.available(), model.in_state(HoldState::held),
                             model.in_state(HoldState::sold)};
        RC_ASSERT(book.stock() == expected);
        RC_ASSERT(book.slots_used() == model.in_state(HoldState::open));
        RC_ASSERT(book.orders_full() ==
                  (policy == StockPolicy::at_payment && book.slots_used() >= model.slots_now()));
        for (uint32_t buyer = 0; buyer < 5; ++buyer) {
            RC_ASSERT(book.buyer_units(buyer_named(buyer)) == model.active_of(buyer));
            RC_ASSERT(model.active_of(buyer) <= limit);
        }
    }
}

}  // namespace
}  // namespace doorbuster
