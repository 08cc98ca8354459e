#include "sim/run.hpp"

#include "sim/buyer.hpp"
#include "sim/judge.hpp"
#include "sim/money_judge.hpp"
#include "sim/operator.hpp"
#include "sim/world.hpp"

namespace doorbuster::sim {

namespace {

constexpr uint32_t buyers = 16;
constexpr int64_t faulty_for_us = 7000 * ms, patience_at_end_us = 120'000 * ms, step_us = 100 * ms;

class Run {
public:
    Run(uint64_t seed, const Trace& trace)
        : world_(seed, trace), judge_(world_), money_(world_), operator_(world_) {
        world_.judge = [this](const Ask& ask, const Answer& answer) { judge_.answered(ask, answer); };
        world_.judge_commit = [this](std::span<const OrderId> touched) { money_.committed(touched); };
    }

    Result run(uint64_t seed) {
        for (uint32_t i = 0; i < buyers; ++i) {
            crowd_.push_back(std::make_unique<Buyer>(world_, asks_, i));
            crowd_.back()->begin();
        }
        operator_.begin();
        world_.run_until(faulty_for_us);
        world_.set_faulty(false);
        operator_.go_home();
        for (const auto& buyer : crowd_) buyer->go_home();

        if (come_to_rest()) {
            check();
            probe();
            if (hear_everything() && come_to_rest()) check();
        }
        world_.coverage.seeds = 1;
        return {seed, world_.broken, world_.coverage, world_.fingerprint};
    }

private:
    bool settled() const;
    bool come_to_rest();
    bool hear_everything();
    void check() {
        judge_.at_rest();
        money_.at_rest();
    }
    void probe();
    void probe(const ListedItem& item);

    mutable World world_;
    Judge judge_;
    MoneyJudge money_;
    Operator operator_;
    uint32_t asks_ = 0;
    std::vector<std::unique_ptr<Buyer>> crowd_;
};

bool Run::settled() const {
    const Process* process = world_.process();
    if (process == nullptr || !process->running() || process->has_work() || !process->caught_up())
        return false;
    for (const auto& buyer : crowd_) {
        if (!buyer->at_rest()) return false;
    }
    return money_.settled();
}

bool Run::come_to_rest() {
    const int64_t give_up_at = world_.now_us() + patience_at_end_us;
    // Late messages may still arrive after everybody has an answer; let them. So long also lasts
    // what the shop hears of the stock only when it has lasted.
    for (int quiet = 0; quiet < 15 && world_.now_us() < give_up_at;) {
        operator_.close_letters();
        world_.run_until(world_.now_us() + step_us);
        quiet = settled() ? quiet + 1 : 0;
    }
    if (settled()) return true;
    world_.broke("it never came to rest after the faults ended");
    return false;
}

// What the shop did not take is tried again minutes or hours later.
bool Run::hear_everything() {
    for (int i = 0; i < 20 && !money_.all_delivered(); ++i) {
        world_.skip(i < 5 ? 1000 * ms : 600'000 * ms);
        world_.run_until(world_.now_us() + 500 * ms);
    }
    if (money_.all_delivered()) return true;
    world_.broke("the shop never heard of everything");
    return false;
}

// With everybody gone, whoever comes gets exactly the units that are free, then "sold out".
void Run::probe() {
    const ListedSale sale = world_.process()->listed();  // a copy: it may close while they buy
    if (sale.state != SaleState::open) return;
    if (world_.wall_now() + std::chrono::seconds(2) >= sale.sale.closes_at) return;
    for (const ListedItem& item : sale.items) probe(item);
}

void Run::probe(const ListedItem& item) {
    const bool at_payment = world_.process()->listed().sale.stock_policy == StockPolicy::at_payment;
    const int64_t units = judge_.units_free(item.item.id);
    const int64_t free = at_payment && units > 0 ? judge_.slots_free(item.item.id) : units;
    const Heard refusal = at_payment && units > 0 ? Heard::sold_out_for_now : Heard::sold_out;
    std::map<Heard, int64_t> heard;
    for (int64_t i = 0; i <= free; ++i) {
        world_.after(i * 5 * ms, [this, &heard, &item, i] {
            const BuyerId buyer(fmt::format("late-{}-{}", item.item.id.view(), i));
            const Ask ask{++asks_, buyer, item.item.id,
                          purchase_id_of(SaleId("sim"), item.item.id, buyer, "k"), 1};
            world_.send(ask, [&heard](const Answer& answer) { ++heard[answer.heard]; });
        });
    }
    world_.run_until(world_.now_us() + (free + 1) * 5 * ms + 200 * ms);
    world_.coverage.did(Deed::units_counted_by_late_buyers);
    if (heard[Heard::accepted] == free && heard[refusal] == 1) return;
    world_.broke(fmt::format("P2: of {} late buyers of {} {} got one, with {} free", free + 1,
                             item.item.id.view(), heard[Heard::accepted], free));
}

}  // namespace

Result run(uint64_t seed, const Trace& trace) {
    return std::make_unique<Run>(seed, trace)->run(seed);
}

}  // namespace doorbuster::sim
