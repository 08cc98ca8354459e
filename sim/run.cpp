#include "sim/run.hpp"

#include "sim/judge.hpp"
#include "sim/world.hpp"

namespace doorbuster::sim {

namespace {

constexpr uint32_t buyers = 16;
constexpr int64_t patience_us = 400 * ms;

// One buyer: wants something, asks until it is clear, perhaps cancels, wants something else.
class Buyer {
public:
    Buyer(World& world, uint32_t& asks, uint32_t number)
        : world_(world), asks_(asks), id_("buyer-" + std::to_string(number)) {}

    void begin() {
        world_.after(world_.random.between(0, 2500) * ms, [this] { want(); });
    }

    // Everything asked is answered for good.
    bool at_rest() const { return !waiting_; }
    void go_home() { going_home_ = true; }

private:
    void want() {
        if (going_home_) return;
        wish_ = {.number = 0,
                 .buyer = id_,
                 .item = ItemId(world_.random.chance(400) ? "few" : "more"),
                 .purchase = fresh_key(),
                 .units = static_cast<uint32_t>(world_.random.chance(750) ? 1 : 2)};
        if (wish_.item == ItemId("few")) wish_.units = 1;
        tries_ = 0;
        ask();
    }

    PurchaseId fresh_key() {
        return purchase_id_of(SaleId("sim"), ItemId("any"), id_, std::to_string(++keys_));
    }

    void ask() {
        wish_.number = ++asks_;
        waiting_ = true;
        world_.note(fmt::format("ask {} {} {} {} x{}", wish_.number, id_.view(), wish_.item.view(),
                                wish_.purchase.hex().substr(0, 8), wish_.units));
        const uint32_t number = wish_.number;
        world_.send(wish_, [this, number](const Answer& answer) {
            if (waiting_ && number == wish_.number) heard(answer);
        });
        world_.after(patience_us, [this, number] {
            if (waiting_ && number == wish_.number) {
                ++world_.coverage.heard_count[static_cast<size_t>(Heard::nothing)];
                heard({Heard::nothing});
            }
        });
    }

    void heard(const Answer& answer) {
        waiting_ = false;
        switch (answer.heard) {
            case Heard::accepted:
            case Heard::repeated:
                if (world_.random.chance(250)) return again_with_same_key();
                if (world_.random.chance(120)) return again_with_another_quantity();
                if (world_.random.chance(450)) return cancel_later();
                return want_later();
            case Heard::unknown:
            case Heard::nothing:
            case Heard::overloaded:
            case Heard::rebuilding:
                // The wise ask again with the same key; some lose patience and press anew.
                if (!going_home_ && world_.random.chance(200)) {
                    world_.happened(Fault::retry_new_key);
                    return want_later();
                }
                return again_with_same_key();
            case Heard::sold_out:
            case Heard::limit_reached:
            case Heard::not_open:
            case Heard::paused:
                if (++tries_ < 4 && world_.random.chance(600)) return again_with_same_key();
                return want_later();
            case Heard::cancelled:
            case Heard::ended:
            case Heard::key_mismatch:
                return want_later();
        }
    }

    void again_with_same_key() {
        world_.happened(Fault::retry_same_key);
        waiting_ = true;  // the wish is not settled until it is answered
        world_.after(world_.random.between(1, 300) * ms, [this] { ask(); });
    }

    void again_with_another_quantity() {
        Ask other = wish_;
        other.number = ++asks_;
        other.units += 1;
        world_.send(other, [](const Answer&) {});
        want_later();
    }

    void cancel_later() {
        world_.after(world_.random.between(20, 900) * ms, [this, purchase = wish_.purchase] {
            const auto placed = world_.orders.purchases.find(purchase);
            if (world_.process() != nullptr && placed != world_.orders.purchases.end() &&
                placed->second.order) {
                ++world_.coverage.cancels;
                world_.note(fmt::format("cancel {} {}", id_.view(), purchase.hex().substr(0, 8)));
                world_.process()->cancel(*placed->second.order, id_, [](bool) {});
            }
            want_later();
        });
    }

    void want_later() {
        if (!going_home_) world_.after(world_.random.between(5, 600) * ms, [this] { want(); });
    }

    World& world_;
    uint32_t& asks_;
    const BuyerId id_;
    Ask wish_;
    uint32_t keys_ = 0;
    int tries_ = 0;
    bool waiting_ = false, going_home_ = false;
};

// Pauses, resumes and restocks now and then.
class Operator {
public:
    explicit Operator(World& world) : world_(world) {}

    void begin() { act_later(); }
    void go_home() { going_home_ = true; }

private:
    void act_later() {
        world_.after(world_.random.between(200, 1200) * ms, [this] { act(); });
    }
    void act() {
        if (going_home_) return;
        if (Process* process = world_.process()) {
            const uint64_t what = world_.random.below(8);
            world_.note(fmt::format("operator {}", what));
            if (what == 0) {
                process->operate(SaleVerb::pause, [](bool) {});
            } else if (what < 6) {
                process->operate(SaleVerb::resume, [](bool) {});
            } else {
                process->restock(ItemId(world_.random.chance(500) ? "few" : "more"),
                                 static_cast<uint32_t>(world_.random.between(1, 3)),
                                 [this](bool done) { world_.coverage.restocks += done; });
            }
        }
        act_later();
    }

    World& world_;
    bool going_home_ = false;
};

// With everybody gone, whoever comes gets exactly the units that are free, then "sold out".
void probe(World& world, const Judge& judge, uint32_t& asks) {
    const ListedSale sale = world.process()->listed();  // a copy: it may close while they buy
    if (sale.state != SaleState::open || world.wall_now() >= sale.sale.closes_at) return;
    for (const ListedItem& item : sale.items) {
        const int64_t free = judge.units_free(item.item.id);
        for (int64_t i = 0; i <= free; ++i) {
            const BuyerId buyer(fmt::format("late-{}-{}", item.item.id.view(), i));
            const Heard expected = i < free ? Heard::accepted : Heard::sold_out;
            Heard last = Heard::nothing;
            const Ask ask{++asks, buyer, item.item.id,
                          purchase_id_of(SaleId("sim"), item.item.id, buyer, "k"), 1};
            world.send(ask, [&](const Answer& answer) { last = answer.heard; });
            world.run_until(world.now_us() + 200 * ms);
            const bool closed_meanwhile = last == Heard::ended || last == Heard::paused;
            if (last != expected && !closed_meanwhile) {
                world.broke(fmt::format("P2: a late buyer of {} heard {} with {} of {} units free",
                                        item.item.id.view(), heard_names[static_cast<size_t>(last)], free - i,
                                        free));
                return;
            }
        }
    }
}

}  // namespace

Result run(uint64_t seed, const Trace& trace) {
    World world(seed, trace);
    Judge judge(world);
    world.judge = [&](const Ask& ask, const Answer& answer) { judge.answered(ask, answer); };
    uint32_t asks = 0;
    std::vector<std::unique_ptr<Buyer>> crowd;
    for (uint32_t i = 0; i < buyers; ++i) {
        crowd.push_back(std::make_unique<Buyer>(world, asks, i));
        crowd.back()->begin();
    }
    Operator operator_one(world);
    operator_one.begin();

    constexpr int64_t faulty_for_us = 9000 * ms, patience_at_end_us = 60'000 * ms, step_us = 100 * ms;
    world.run_until(faulty_for_us);
    world.set_faulty(false);
    operator_one.go_home();
    for (const auto& buyer : crowd) buyer->go_home();

    auto settled = [&] {
        Process* process = world.process();
        if (process == nullptr || !process->running() || process->has_work() || !process->caught_up())
            return false;
        for (const auto& buyer : crowd) {
            if (!buyer->at_rest()) return false;
        }
        return true;
    };
    const int64_t give_up_at = world.now_us() + patience_at_end_us;
    // Late messages may still arrive after everybody has an answer; let them.
    for (int quiet = 0; quiet < 20 && world.now_us() < give_up_at;) {
        world.run_until(world.now_us() + step_us);
        quiet = settled() ? quiet + 1 : 0;
    }
    if (!settled()) {
        world.broke("it never came to rest after the faults ended");
    } else {
        judge.at_rest();
        probe(world, judge, asks);
    }
    world.coverage.seeds = 1;
    return {seed, world.broken, world.coverage, world.fingerprint};
}

}  // namespace doorbuster::sim
