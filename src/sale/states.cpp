#include "sale/states.hpp"

#include <array>
#include <utility>

namespace doorbuster {

namespace {

template <class State>
using Step = std::pair<State, State>;

constexpr std::array sale_steps = [] {
    using enum SaleState;
    return std::to_array<Step<SaleState>>({
        {draft, scheduled},
        {scheduled, warming},
        {warming, ready},
        {ready, open},
        {open, paused},
        {paused, open},
        {open, sold_out},
        {sold_out, open},
        {sold_out, paused},  // the operator may pause while nothing is left, before a restock
        {open, closed},
        {paused, closed},
        {sold_out, closed},
        {closed, reconciled},
    });
}();

constexpr std::array order_steps = [] {
    using enum OrderState;
    return std::to_array<Step<OrderState>>({
        {pending_payment, paying},  {pending_payment, cancelled},
        {pending_payment, expired}, {paying, paid},
        {paying, voiding},          {paying, pending_payment},  // declined: try again
        {paying, refunding},                                    // underpaid
        {voiding, expired},                                     // the provider decides which of these
        {voiding, cancelled},       {voiding, paid},
        {expired, refunding},                                // paid too late, no unit left
        {cancelled, refunding},     {expired, reinstating},  // paid too late, a unit is left
        {cancelled, reinstating},   {reinstating, paid},
        {reinstating, expired},     {reinstating, cancelled},
        {paid, refunding},  // the shop's word
        {refunding, refunded},
    });
}();

template <class Table, class State>
bool contains(const Table& table, State from, State to) {
    for (const auto& step : table) {
        if (step.first == from && step.second == to) return true;
    }
    return false;
}

constexpr std::array<std::string_view, 9> sale_names = {"draft",  "scheduled", "warming", "ready",     "open",
                                                        "paused", "sold_out",  "closed",  "reconciled"};
constexpr std::array<std::string_view, 9> order_names = {"pending_payment", "paying",    "paid",
                                                         "voiding",         "expired",   "cancelled",
                                                         "reinstating",     "refunding", "refunded"};

template <class State, class Names>
std::optional<State> find_name(const Names& names, std::string_view name) {
    for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<State>(i);
    }
    return std::nullopt;
}

}  // namespace

bool may_step(SaleState from, SaleState to) {
    return contains(sale_steps, from, to);
}
bool may_step(OrderState from, OrderState to) {
    return contains(order_steps, from, to);
}

std::string_view name_of(SaleState state) {
    return sale_names[static_cast<size_t>(state)];
}
std::string_view name_of(OrderState state) {
    return order_names[static_cast<size_t>(state)];
}
std::optional<SaleState> sale_state_of(std::string_view name) {
    return find_name<SaleState>(sale_names, name);
}
std::optional<OrderState> order_state_of(std::string_view name) {
    return find_name<OrderState>(order_names, name);
}

}  // namespace doorbuster
