// Buyer: wants something, asks until it is clear, pays or does not, wants something else.
//
// Pays as people do: late, twice, on an old page, after having cancelled, or never.
#pragma once

#include "sim/world.hpp"

namespace doorbuster::sim {

class Buyer {
public:
    Buyer(World& world, uint32_t& asks, uint32_t number);

    void begin();
    void go_home() { going_home_ = true; }
    // Everything asked is answered for good, and no errand is left.
    bool at_rest() const { return !waiting_ && errands_ == 0; }

private:
    // Shopping
    void want();
    void want_later();
    void ask();
    void heard(const Answer& answer);
    void again_with_same_key();
    void again_with_another_quantity();
    PurchaseId fresh_key();

    // Paying
    void go_and_pay(const PurchaseId& purchase, int tries_left);
    void open_page(OrderId order, int tries_left);
    void at_page(OrderId order, PaymentId payment);
    void declined(OrderId order, PaymentId payment);
    void cancel(OrderId order);
    void pay_after(int64_t wait_us, PaymentId payment);
    void errand(int64_t wait_us, std::function<void()> what);

    World& world_;
    uint32_t& asks_;
    const BuyerId id_;
    Ask wish_;
    uint32_t keys_ = 0;
    int tries_ = 0;
    size_t errands_ = 0;
    bool waiting_ = false, going_home_ = false;
};

}  // namespace doorbuster::sim
