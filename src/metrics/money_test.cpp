#include "metrics/money.hpp"

#include <gmock/gmock.h>

#include "metrics/families.hpp"

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const MoneyFigures& money) {
    Families families;
    add_money(families, money);
    return families.text();
}

TEST(MoneyMetrics, CountOrdersByState) {
    const std::string text = text_of({.orders = {{"paying", 3}, {"paid", 40}}});
    EXPECT_THAT(text, HasSubstr("doorbuster_orders{state=\"paying\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_orders{state=\"paid\"} 40\n"));
}

TEST(MoneyMetrics, TellHowLongWhatWaitsHasWaited) {
    const std::string text = text_of({.ledger_lag_seconds = 0.5,
                                      .oldest_due_order_seconds = 130,
                                      .oldest_voiding_seconds = 301,
                                      .webhook_oldest_seconds = 7});
    EXPECT_THAT(text, HasSubstr("doorbuster_ledger_lag_seconds 0.5\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_oldest_due_order_seconds 130\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_oldest_voiding_seconds 301\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_webhook_oldest_seconds 7\n"));
}

TEST(MoneyMetrics, CountWhatBecameOfPaymentsAndDeliveriesAlsoBeforeItHappened) {
    const std::string text = text_of({.dead_letters = 2,
                                      .payments_to_settle = 5,
                                      .payments_refunded_total = 1,
                                      .expired_total = 6,
                                      .webhook_backlog = 8,
                                      .webhooks_failed_total = 9});
    EXPECT_THAT(text, HasSubstr("# TYPE doorbuster_payments_total counter\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_payments_total{result=\"refunded\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_payments_total{result=\"reinstated\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_payments_to_settle 5\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_expired_total 6\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_webhook_backlog 8\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_webhook_deliveries_total{result=\"failed\"} 9\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_webhook_deliveries_total{result=\"delivered\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE doorbuster_dead_letters gauge\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_dead_letters 2\n"));
}

TEST(MoneyMetrics, ShowDifferencesAndAgeOfEachSalesLastReconciliation) {
    const std::string text = text_of({.reconciles = {{"drop", 2, 60}, {"flash", 0, 5}}});
    EXPECT_THAT(text, HasSubstr("doorbuster_reconcile_differences{sale=\"drop\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_reconcile_differences{sale=\"flash\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_reconcile_age_seconds{sale=\"drop\"} 60\n"));
}

TEST(MoneyMetrics, RowsBeyondTheBoundAreOneRowThatHidesNoDifference) {
    MoneyFigures money;
    for (size_t i = 0; i < MoneyFigures::reconcile_rows_max; ++i) money.reconciles.push_back({"sale"});
    EXPECT_THAT(text_of(money), Not(HasSubstr("sale=\"*\"")));

    money.reconciles.push_back({"beyond", 2, 60});
    money.reconciles.push_back({"far", 1, 30});
    const std::string text = text_of(money);
    EXPECT_THAT(text, Not(HasSubstr("beyond")));
    EXPECT_THAT(text, HasSubstr("doorbuster_reconcile_differences{sale=\"*\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_reconcile_age_seconds{sale=\"*\"} 60\n"));
}

}  // namespace
}  // namespace doorbuster
