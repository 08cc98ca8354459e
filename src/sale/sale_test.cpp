#include "sale/sale.hpp"

#include <gtest/gtest.h>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

std::vector<std::string> pointers_of(const Sale& sale) {
    std::vector<std::string> pointers;
    for (const Fault& fault : faults_of(sale)) pointers.push_back(fault.pointer);
    return pointers;
}

TEST(Sale, AGoodOneHasNoFaults) {
    EXPECT_TRUE(faults_of(phone_drop()).empty());
}

TEST(Sale, EveryFaultIsNamedAtItsPlace) {
    Sale sale = phone_drop();
    sale.id = SaleId("Phone Drop");
    sale.title = "";
    sale.closes_at = sale.opens_at;
    sale.warm_before = -1s;
    sale.payment_window = 1s;
    sale.items.push_back(sale.items.front());
    sale.items[0].name = "a\nb";
    sale.items[0].price_minor = -1;
    sale.items[1].original_price_minor = 1;
    sale.items[1].currency = "twd";
    sale.items[1].units_total = 0;
    EXPECT_EQ(pointers_of(sale),
              (std::vector<std::string>{"/id", "/title", "/closes_at", "/warm_before_s", "/payment_window_s",
                                        "/items/0/name", "/items/0/price_minor", "/items/1/id",
                                        "/items/1/original_price_minor", "/items/1/currency",
                                        "/items/1/units_total", "/items/1/units_per_buyer_max"}));
}

TEST(Sale, ASaleSellsSomething) {
    Sale sale = phone_drop();
    sale.items.clear();
    EXPECT_EQ(pointers_of(sale), std::vector<std::string>{"/items"});
}

TEST(Sale, OrdersAreBoundedOnlyWhereTheyTakeNoUnit) {
    Sale sale = phone_drop(10, 2);
    sale.items[0].orders_max = 5;
    EXPECT_EQ(pointers_of(sale), std::vector<std::string>{"/items/0/orders_max"});
    EXPECT_EQ(faults_of(sale).front().detail, "only applies to stock_policy at_payment");
    sale.stock_policy = StockPolicy::at_payment;
    EXPECT_TRUE(faults_of(sale).empty());
    sale.items[0].orders_max = 1;
    EXPECT_EQ(pointers_of(sale), std::vector<std::string>{"/items/0/orders_max"})
        << "a buyer of two would never be served";
    sale.items[0].orders_max = 0;
    EXPECT_TRUE(faults_of(sale).empty());
}

TEST(StockPolicy, IsNamedAndReadByTheSameWord) {
    for (const StockPolicy policy : {StockPolicy::reserve, StockPolicy::at_order, StockPolicy::at_payment})
        EXPECT_EQ(stock_policy_of(name_of(policy)), policy);
    EXPECT_EQ(stock_policy_of("at_random"), std::nullopt);
}

TEST(Sale, ALimitAboveTheStockIsAContradiction) {
    EXPECT_EQ(pointers_of(phone_drop(1, 2)), std::vector<std::string>{"/items/0/units_per_buyer_max"});
}

}  // namespace
}  // namespace doorbuster
