#include "sim/operator.hpp"

namespace doorbuster::sim {

void Operator::act_later() {
    world_.after(world_.random.between(100, 600) * ms, [this] { act(); });
}

void Operator::act() {
    if (going_home_) return;
    if (Process* process = world_.process()) {
        const uint64_t what = world_.random.below(14);
        world_.note(fmt::format("operator {}", what));
        if (what == 0) {
            process->operate(SaleVerb::pause, [](bool) {});
        } else if (what < 6) {
            process->operate(SaleVerb::resume, [](bool) {});
        } else if (what < 8) {
            process->restock(ItemId(world_.random.chance(500) ? "few" : "more"),
                             static_cast<uint32_t>(world_.random.between(1, 3)), [this](bool done) {
                                 if (done) world_.coverage.did(Deed::restock);
                             });
        } else if (what < 12) {
            refund_one();
        } else {
            close_letters();
        }
    }
    act_later();
}

void Operator::refund_one() {
    std::vector<OrderId> paid;
    for (const auto& [id, order] : world_.orders.orders) {
        if (order.state == OrderState::paid) paid.push_back(order.id);
    }
    if (paid.empty()) return;
    const OrderId order = paid[world_.random.below(paid.size())];
    const bool units_return = world_.random.chance(500);
    world_.refunds_asked.insert(order);
    world_.coverage.did(units_return ? Deed::refund_with_units : Deed::refund_without_units);
    world_.process()->refund(order, units_return);
}

void Operator::close_letters() {
    Process* process = world_.process();
    if (process == nullptr || !process->running()) return;
    for (const auto& [position, letter] : world_.orders.dead_letters) {
        if (letter.state != LetterState::open) continue;
        if (world_.random.chance(400)) {
            process->drop_letter(position, [this](const auto& done) {
                if (done) world_.coverage.did(Deed::letter_dropped);
            });
        } else {
            process->retry_letter(position, [this](const auto& done) {
                if (done) world_.coverage.did(Deed::letter_retried);
            });
        }
    }
}

}  // namespace doorbuster::sim
