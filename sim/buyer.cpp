#include "sim/buyer.hpp"

namespace doorbuster::sim {

namespace {

constexpr int64_t patience_us = 400 * ms;

}  // namespace

Buyer::Buyer(World& world, uint32_t& asks, uint32_t number)
    : world_(world), asks_(asks), id_("buyer-" + std::to_string(number)) {}

void Buyer::begin() {
    world_.after(world_.random.between(0, 2500) * ms, [this] { want(); });
}

void Buyer::want() {
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

PurchaseId Buyer::fresh_key() {
    return purchase_id_of(SaleId("sim"), ItemId("any"), id_, std::to_string(++keys_));
}

void Buyer::ask() {
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

void Buyer::heard(const Answer& answer) {
    waiting_ = false;
    switch (answer.heard) {
        case Heard::accepted:
            go_and_pay(wish_.purchase, 6);
            [[fallthrough]];
        case Heard::repeated:
            if (world_.random.chance(250)) return again_with_same_key();
            if (world_.random.chance(120)) return again_with_another_quantity();
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
        case Heard::sold_out_for_now:
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

void Buyer::again_with_same_key() {
    world_.happened(Fault::retry_same_key);
    waiting_ = true;  // the wish is not settled until it is answered
    world_.after(world_.random.between(1, 300) * ms, [this] { ask(); });
}

void Buyer::again_with_another_quantity() {
    Ask other = wish_;
    other.number = ++asks_;
    other.units += 1;
    world_.send(other, [](const Answer&) {});
    want_later();
}

void Buyer::want_later() {
    if (!going_home_) world_.after(world_.random.between(5, 600) * ms, [this] { want(); });
}

void Buyer::errand(int64_t wait_us, std::function<void()> what) {
    ++errands_;
    world_.after(wait_us, [this, what = std::move(what)] {
        --errands_;
        what();
    });
}

void Buyer::go_and_pay(const PurchaseId& purchase, int tries_left) {
    errand(world_.random.between(20, 300) * ms, [this, purchase, tries_left] {
        const auto placed = world_.orders.purchase(purchase);
        if (!placed || !placed->order) {
            if (tries_left > 0) go_and_pay(purchase, tries_left - 1);
            return;
        }
        const uint64_t mood = world_.random.below(100);
        if (mood < 12) return cancel(*placed->order);
        if (mood < 22) return;                        // never pays
        if (mood < 28) open_page(*placed->order, 0);  // presses twice
        open_page(*placed->order, 4);
    });
}

void Buyer::open_page(OrderId order, int tries_left) {
    ++world_.coverage.commands;
    // One of three ends it: the page, a refusal, or patience.
    const auto is_over = std::make_shared<bool>(false);
    const auto again = [this, order, tries_left, is_over] {
        if (std::exchange(*is_over, true)) return;
        if (tries_left > 0)
            errand(world_.random.between(20, 300) * ms,
                   [this, order, tries_left] { open_page(order, tries_left - 1); });
    };
    errand(patience_us, again);
    Process* process = world_.process();
    if (process == nullptr || !process->running()) return;
    process->begin_payment(order, id_, [this, order, again, is_over](const auto& page) {
        if (*is_over) return;
        if (page) {
            *is_over = true;
            world_.coverage.did(Deed::page_opened);
            return at_page(order, page->id);
        }
        world_.coverage.did(Deed::page_refused);
        if (page.error().code == StoreErrc::unavailable) return again();
        *is_over = true;
    });
}

void Buyer::at_page(OrderId order, PaymentId payment) {
    errand(world_.random.between(5, 300) * ms, [this, order, payment] {
        const uint64_t mood = world_.random.below(100);
        if (mood < 52) return world_.provider.pay(payment);
        if (mood < 70) {
            world_.provider.decline(payment);
            return declined(order, payment);
        }
        if (mood < 80) return pay_after(world_.random.between(900, 4500) * ms, payment);  // perhaps too late
        if (mood < 90) {
            cancel(order);
            if (world_.random.chance(600)) pay_after(world_.random.between(0, 60) * ms, payment);
        }
    });
}

void Buyer::declined(OrderId order, PaymentId payment) {
    const uint64_t mood = world_.random.below(100);
    if (mood < 40) return pay_after(world_.random.between(5, 500) * ms, payment);
    if (mood < 85) {
        errand(world_.random.between(20, 300) * ms, [this, order] {
            world_.coverage.did(Deed::second_attempt);
            open_page(order, 3);
        });
        if (mood < 65) pay_after(world_.random.between(50, 900) * ms, payment);  // the old page, too
    }
}

void Buyer::pay_after(int64_t wait_us, PaymentId payment) {
    errand(wait_us, [this, payment] { world_.provider.pay(payment); });
}

void Buyer::cancel(OrderId order) {
    if (world_.process() == nullptr) return;
    ++world_.coverage.commands;
    world_.coverage.did(Deed::cancel);
    world_.note(fmt::format("cancel {} {}", id_.view(), static_cast<int64_t>(order)));
    world_.process()->cancel(order, id_);
}

}  // namespace doorbuster::sim
