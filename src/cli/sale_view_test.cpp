#include "cli/sale_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace doorbuster {
namespace {

using testing::HasSubstr;

boost::json::object phone_drop() {
    return boost::json::parse(R"({
        "id":"phone-drop","title":"Phone drop","state":"open","version":4,
        "opens_at":"2026-12-01T12:00:00Z","opens_at_ms":1796126400000,
        "closes_at":"2026-12-01T12:30:00Z","closes_at_ms":1796128200000,
        "warm_before_s":1800,"stock_policy":"reserve","payment_window_s":900,"human_check":"none",
        "items":[{"id":"phone","name":"Phone","price_minor":999900,"original_price_minor":1599900,
                  "currency":"TWD","units_total":1000,"units_per_buyer_max":1}]})")
        .as_object();
}

TEST(SaleView, TheListHasOneLinePerSale) {
    EXPECT_EQ(sale_list_table({{"sales", {phone_drop()}}}),
              "SALE        TITLE       STATE  OPENS AT              CLOSES AT             ITEMS\n"
              "phone-drop  Phone drop  open   2026-12-01T12:00:00Z  2026-12-01T12:30:00Z  1\n");
}

TEST(SaleView, ASaleShowsItsTermsAndItems) {
    const std::string text = sale_table(phone_drop());
    EXPECT_THAT(text, HasSubstr("payment window  900 s\n"));
    EXPECT_THAT(text, HasSubstr("phone  Phone  999900         1599900     TWD       1000   1\n"));
}

TEST(SaleView, TheStatusShowsStockAndFigures) {
    const boost::json::object status{{"sale", phone_drop()},
                                     {"items",
                                      {{{"id", "phone"},
                                        {"units_total", 10},
                                        {"units_available", 7},
                                        {"units_held", 2},
                                        {"units_sold", 1}}}},
                                     {"server",
                                      {{"acceptances_total", 3},
                                       {"ordered_total", 3},
                                       {"cancelled_total", 0},
                                       {"dead_letters_total", 0},
                                       {"position", 3},
                                       {"queued", 5},
                                       {"predicted_wait_ms", 12}}}};
    const std::string text = status_table(status);
    EXPECT_THAT(text, HasSubstr("sale 'phone-drop' is open (version 4)\n"));
    EXPECT_THAT(text, HasSubstr("phone  10     7          2     1\n"));
    EXPECT_THAT(text, HasSubstr("\nthis server, since its start, over all sales:\naccepted         3\n"));
    EXPECT_THAT(text, HasSubstr("predicted wait   12 ms\n"));
}

TEST(SaleView, TheStatusOfAWarmingSaleSaysWhatHoldsItAndHowToMendIt) {
    const boost::json::object status{
        {"sale", phone_drop()},
        {"warm_up", {{{"severity", "failure"}, {"what", "no\x1b[2J library"}, {"mend", "load it"}}}}};
    EXPECT_THAT(status_table(status),
                HasSubstr("(version 4)\nfailure: no\\x1b[2J library\n  mend: load it\n"));
}

TEST(SaleView, ARestockNamesTheNewTotal) {
    EXPECT_EQ(restock_sentence(phone_drop(), "phone"),
              "item 'phone' of sale 'phone-drop' has 1000 units in all (version 4)");
}

TEST(SaleView, MissingFieldsAreDashes) {
    EXPECT_EQ(sale_sentence({}), "sale '-' is - (version -)");
    EXPECT_THAT(sale_table({}), HasSubstr("title           -\n"));
    EXPECT_THAT(status_table({}), HasSubstr("waiting          -\n"));
    EXPECT_THAT(sale_list_table({{"sales", "none"}}), HasSubstr("SALE"));
}

}  // namespace
}  // namespace doorbuster
