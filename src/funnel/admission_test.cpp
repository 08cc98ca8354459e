#include "funnel/admission.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;
using enum Admission;

ListedSale listed_in(SaleState state, uint32_t units_available = 1) {
    ListedSale listed{phone_drop(), state, 1, {}};
    listed.items.push_back({listed.sale.items.front(), ItemSlot{0}, std::make_shared<ItemBoard>()});
    listed.items.front().board->show({1, units_available, 1 - units_available, 0});
    return listed;
}

struct Case {
    SaleState state;
    Admission before, inside, after;
};

class Window : public ::testing::TestWithParam<Case> {};

// `pass` after the end: the book says that one.
TEST_P(Window, SaysWhatTheBookWillSay) {
    const Case& expected = GetParam();
    const ListedSale listed = listed_in(expected.state);
    const Sale& sale = listed.sale;
    Book book({1, sale.opens_at, sale.closes_at}, {9, 9, 0, 0}, phase_in(expected.state));
    const std::pair<Instant, Admission> moments[] = {{sale.opens_at - 1ms, expected.before},
                                                     {sale.opens_at, expected.inside},
                                                     {sale.closes_at - 1ms, expected.inside},
                                                     {sale.closes_at, expected.after}};
    uint32_t id = 0;
    for (const auto& [now, admission] : moments) {
        EXPECT_EQ(window_of(listed, now), admission);
        const BuyerId buyer("buyer-" + std::to_string(++id));
        const ReserveOutcome outcome = book.reserve({purchase(id), buyer, 1, now}).outcome;
        const bool is_over = now >= sale.closes_at;
        switch (admission) {
            case pass:
                EXPECT_EQ(outcome, is_over ? ReserveOutcome::ended : ReserveOutcome::accepted);
                break;
            case not_open:
                EXPECT_EQ(outcome, ReserveOutcome::not_open);
                break;
            case ended:
                EXPECT_EQ(outcome, ReserveOutcome::ended);
                break;
            case paused:
                EXPECT_EQ(outcome, ReserveOutcome::paused);
                break;
            case sold_out:
            case sold_out_for_now:
                ADD_FAILURE() << "the window knows no stock";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(EveryState, Window,
                         ::testing::Values(Case{SaleState::draft, not_open, not_open, not_open},
                                           Case{SaleState::scheduled, not_open, not_open, not_open},
                                           Case{SaleState::warming, not_open, not_open, not_open},
                                           Case{SaleState::ready, not_open, pass, pass},
                                           Case{SaleState::open, not_open, pass, pass},
                                           Case{SaleState::paused, not_open, paused, pass},
                                           Case{SaleState::closed, ended, ended, ended},
                                           Case{SaleState::reconciled, ended, ended, ended}));

TEST(Admission, WithTheLastUnitGoneStrangersAreRefusedHere) {
    const ListedSale listed = listed_in(SaleState::open, 0);
    EXPECT_EQ(admit(listed, listed.items.front(), purchase(1), alice, t0), sold_out);
}

TEST(Admission, WithNoRoomForAnotherOrderStrangersHearForNowUnlessNoUnitIsLeft) {
    const ListedSale listed = listed_in(SaleState::open);
    const ListedItem& item = listed.items.front();
    item.board->show({1, 1, 0, 0}, true);
    EXPECT_EQ(admit(listed, item, purchase(1), alice, t0), sold_out_for_now);
    EXPECT_EQ(listed.state_now(), SaleState::open) << "units are left";
    item.board->show({1, 0, 0, 1}, true);
    EXPECT_EQ(admit(listed, item, purchase(1), alice, t0), sold_out);
    item.board->show({1, 1, 0, 0}, true);
    item.board->add_winner(purchase(1), alice);
    EXPECT_EQ(admit(listed, item, purchase(1), alice, t0), pass);
    EXPECT_EQ(admit(listed, item, purchase(2), alice, t0), pass) << "to hear of the limit";
    item.board->show({1, 1, 0, 0}, false);
    EXPECT_EQ(admit(listed, item, purchase(3), bob, t0), pass);
}

TEST(Admission, AWinnerWhoRepeatsPassesWhateverTheSaleIs) {
    for (const SaleState state : {SaleState::open, SaleState::paused, SaleState::closed}) {
        const ListedSale listed = listed_in(state, 0);
        listed.items.front().board->add_winner(purchase(1), alice);
        EXPECT_EQ(admit(listed, listed.items.front(), purchase(1), alice, t0 + 24h), pass);
        EXPECT_NE(admit(listed, listed.items.front(), purchase(2), bob, t0), pass);
    }
}

TEST(Admission, AWinnerWithAnotherKeyPassesTheFlagToHearOfTheLimit) {
    const ListedSale listed = listed_in(SaleState::open, 0);
    listed.items.front().board->add_winner(purchase(1), alice);
    EXPECT_EQ(admit(listed, listed.items.front(), purchase(2), alice, t0), pass);
}

}  // namespace
}  // namespace doorbuster
