#include "metrics/page.hpp"

#include <gmock/gmock.h>

namespace doorbuster {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsPage, SumsTheProbesOfAListenerByStatus) {
    Probe one, two;
    one.answered(202);
    two.answered(202);
    two.answered(409);
    MetricsSnapshot snapshot;
    snapshot.listeners.push_back({.name = "public", .probes = {&one, &two}});

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_requests_total{listener=\"public\",status=\"202\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_requests_total{listener=\"public\",status=\"409\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("status=\"500\"")));
}

TEST(MetricsPage, ShowsTheFiguresOfEachListener) {
    MetricsSnapshot snapshot;
    snapshot.listeners.push_back({.name = "public", .probes = {}, .accept_pauses_total = 3});
    snapshot.listeners.push_back({.name = "admin", .probes = {}, .connections_open = 2});

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_accept_pauses_total{listener=\"public\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_accept_pauses_total{listener=\"admin\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_connections_open{listener=\"admin\"} 2\n"));
}

TEST(MetricsPage, ShowsEveryStageAndOutcomeAlsoBeforeItHappened) {
    Probe probe;
    probe.refused(Stage::sold_out);
    probe.decided(PurchaseOutcome::accepted);
    MetricsSnapshot snapshot;
    snapshot.listeners.push_back({.name = "public", .probes = {&probe}});

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_refused_total{stage=\"sold_out\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_refused_total{stage=\"identity\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_purchases_total{outcome=\"accepted\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_purchases_total{outcome=\"unknown\"} 0\n"));
}

TEST(MetricsPage, ShowsWhereEveryUnitOfAnItemIs) {
    MetricsSnapshot snapshot;
    snapshot.units.push_back(
        {.sale = "drop", .item = "phone", .available = 7, .held = 2, .sold = 1, .sold_out_changes = 4});

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"drop\",item=\"phone\",state=\"available\"} 7\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"drop\",item=\"phone\",state=\"held\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"drop\",item=\"phone\",state=\"sold\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_sold_out_changes_total{sale=\"drop\",item=\"phone\"} 4\n"));
}

TEST(MetricsPage, ItemsBeyondTheBoundAreOneRowThatLosesNoUnit) {
    MetricsSnapshot snapshot;
    for (size_t i = 0; i < MetricsSnapshot::item_rows_max; ++i) {
        snapshot.units.push_back({.sale = "drop", .item = std::to_string(i), .available = 1});
    }
    EXPECT_THAT(metrics_text(snapshot), Not(HasSubstr("item=\"*\"")));

    snapshot.units.push_back({.sale = "drop", .item = "beyond", .available = 7, .held = 2, .sold = 1});
    snapshot.units.push_back({.sale = "drop", .item = "far", .available = 1});
    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("item=\"999\",state=\"available\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("beyond")));
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"*\",item=\"*\",state=\"available\"} 8\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"*\",item=\"*\",state=\"held\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_units{sale=\"*\",item=\"*\",state=\"sold\"} 1\n"));
}

TEST(MetricsPage, ALabelCannotForgeALine) {
    MetricsSnapshot snapshot;
    snapshot.units.push_back({.sale = "drop\"} 1\ndoorbuster_ready 1\n", .item = "phone"});
    EXPECT_THAT(metrics_text(snapshot), Not(HasSubstr("\ndoorbuster_ready 1\n")));
}

TEST(MetricsPage, ShowsStreamsLateSalesAndMoney) {
    MetricsSnapshot snapshot;
    snapshot.event_streams = 12;
    snapshot.sales_late = 1;
    snapshot.money.expired_total = 3;

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_event_streams 12\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_sales_late 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_expired_total 3\n"));
}

TEST(MetricsPage, CountsRecordsByWhatBecameOfThem) {
    MetricsSnapshot snapshot;
    snapshot.orders_behind = 4;
    snapshot.dead_letters_total = 1;

    const std::string text = metrics_text(snapshot);
    EXPECT_THAT(text, HasSubstr("doorbuster_orders_behind 4\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_orders_total{outcome=\"dead_letter\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("doorbuster_ready 0\n"));
}

}  // namespace
}  // namespace doorbuster
