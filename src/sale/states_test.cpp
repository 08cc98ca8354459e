#include "sale/states.hpp"

#include <gtest/gtest.h>

namespace doorbuster {
namespace {

template <class State>
int steps_from(State from) {
    int count = 0;
    for (int to = 0; to < 9; ++to) count += may_step(from, static_cast<State>(to));
    return count;
}

TEST(SaleStates, AClosedSaleIsOnlyReconciledAndThatIsTheEnd) {
    EXPECT_EQ(steps_from(SaleState::closed), 1);
    EXPECT_TRUE(may_step(SaleState::closed, SaleState::reconciled));
    EXPECT_EQ(steps_from(SaleState::reconciled), 0);
}

TEST(SaleStates, NobodyBuysFromASaleThatWasNotWarmedUp) {
    for (const SaleState from : {SaleState::draft, SaleState::scheduled, SaleState::warming}) {
        EXPECT_FALSE(may_step(from, SaleState::open)) << name_of(from);
    }
    EXPECT_TRUE(may_step(SaleState::ready, SaleState::open));
}

TEST(SaleStates, SoldOutComesAndGoes) {
    EXPECT_TRUE(may_step(SaleState::open, SaleState::sold_out));
    EXPECT_TRUE(may_step(SaleState::sold_out, SaleState::open));
}

TEST(OrderStates, APaidOrderIsNeverCancelledByATimer) {
    EXPECT_EQ(steps_from(OrderState::paid), 1);
    EXPECT_TRUE(may_step(OrderState::paid, OrderState::refunding));
}

TEST(OrderStates, AnOrderBeingPaidIsVoidedBeforeItExpires) {
    EXPECT_FALSE(may_step(OrderState::paying, OrderState::expired));
    EXPECT_TRUE(may_step(OrderState::paying, OrderState::voiding));
    EXPECT_TRUE(may_step(OrderState::voiding, OrderState::expired));
    EXPECT_TRUE(may_step(OrderState::voiding, OrderState::paid));
}

TEST(States, NamesReadBack) {
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(sale_state_of(name_of(static_cast<SaleState>(i))), static_cast<SaleState>(i));
        EXPECT_EQ(order_state_of(name_of(static_cast<OrderState>(i))), static_cast<OrderState>(i));
    }
    EXPECT_FALSE(sale_state_of("nonsense").has_value());
    EXPECT_FALSE(order_state_of("").has_value());
}

}  // namespace
}  // namespace doorbuster
