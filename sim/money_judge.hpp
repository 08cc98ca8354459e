// MoneyJudge: holds what the orders record against what the provider did and the shop heard.
//
// It watches every write of the orders at the moment it is durable, with its own table of the
// steps an order may take and of what the shop is told for each. It shares no code with the
// rulings that it judges.
#pragma once

#include <map>

#include "sim/world.hpp"

namespace doorbuster::sim {

class MoneyJudge {
public:
    explicit MoneyJudge(World& world) : world_(world) {}

    // At the moment a write of the orders is durable.
    void committed(std::span<const OrderId> touched);

    // Nothing waits for time, provider or shop any more.
    bool settled() const;

    // When the faults are over and everything has settled.
    void at_rest();

    // The shop has heard everything that happened.
    bool all_delivered() const;

private:
    struct Seen {
        OrderState state{};
        HoldState hold{};
    };

    void moved(const OrderRecord& order);
    void judge_step(const OrderRecord& order, OrderState from);
    void expect(EventKind kind, const OrderRecord& order) { ++expected_[{order.id, kind}]; }
    void check_stock();
    void check_order(const OrderRecord& order);
    void check_payment(const PaymentRecord& payment);
    void check_events();
    void check_letters();
    void broke(const OrderRecord& order, const std::string& why);

    World& world_;
    std::map<OrderId, Seen> seen_;  // as the last durable write left it
    SaleState sale_seen_ = SaleState::scheduled;
    std::map<std::pair<OrderId, EventKind>, uint64_t> expected_;
    std::map<EventKind, uint64_t> expected_of_sale_;
};

}  // namespace doorbuster::sim
