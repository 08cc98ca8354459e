// Operator: the shop's people. Pause, resume, restock, give money back, look at dead letters.
#pragma once

#include "sim/world.hpp"

namespace doorbuster::sim {

class Operator {
public:
    explicit Operator(World& world) : world_(world) {}

    void begin() { act_later(); }
    void go_home() { going_home_ = true; }
    // Each ends as an order or with its cancellation.
    void close_letters();

private:
    void act_later();
    void act();
    void refund_one();

    World& world_;
    bool going_home_ = false;
};

}  // namespace doorbuster::sim
