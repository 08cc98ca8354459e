#include "funnel/human_check.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

TEST(CheckAsked, IsTheSalesUnlessTheShopSaysOtherwise) {
    for (const HumanCheck check : {HumanCheck::none, HumanCheck::pow, HumanCheck::image}) {
        EXPECT_EQ(check_asked(check, CheckClaim::none_said), check);
        EXPECT_EQ(check_asked(check, CheckClaim::waive), HumanCheck::none);
        EXPECT_EQ(check_asked(check, CheckClaim::image), HumanCheck::image);
    }
    EXPECT_EQ(check_asked(HumanCheck::none, CheckClaim::pow), HumanCheck::pow);
    EXPECT_EQ(check_asked(HumanCheck::image, CheckClaim::pow), HumanCheck::image);
}

TEST(CheckWindow, IsFromTheWarmUpToTheEnd) {
    const auto at = [](SaleState state, Instant now) {
        return check_window({.sale = phone_drop(), .state = state, .version = 1, .items = {}}, now);
    };
    EXPECT_EQ(at(SaleState::draft, t0), CheckWindow::not_open);
    EXPECT_EQ(at(SaleState::scheduled, t0), CheckWindow::not_open);
    EXPECT_EQ(at(SaleState::warming, t0 - 20min), CheckWindow::open);
    EXPECT_EQ(at(SaleState::ready, t0 - 20min), CheckWindow::open);
    EXPECT_EQ(at(SaleState::open, t0), CheckWindow::open);
    EXPECT_EQ(at(SaleState::paused, t0), CheckWindow::open);
    EXPECT_EQ(at(SaleState::sold_out, t0), CheckWindow::open);
    EXPECT_EQ(at(SaleState::open, t0 + 30min), CheckWindow::ended);
    EXPECT_EQ(at(SaleState::closed, t0), CheckWindow::ended);
    EXPECT_EQ(at(SaleState::reconciled, t0), CheckWindow::ended);
}

}  // namespace
}  // namespace doorbuster
