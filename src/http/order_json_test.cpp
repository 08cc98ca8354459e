#include "http/order_json.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace doorbuster {
namespace {

namespace json = boost::json;

OrderRecord order() {
    return {.id = OrderId{9'007'199'254'740'993},
            .purchase = *PurchaseId::from_hex("000102030405060708090a0b0c0d0e0f"),
            .sale = SaleId("drop"),
            .item = ItemId("phone"),
            .buyer = BuyerId("alice"),
            .units = 2,
            .amount_minor = 1'999'800,
            .currency = "TWD",
            .policy = StockPolicy::reserve,
            .state = OrderState::pending_payment,
            .version = 1,
            .created_at = from_ms(1000),
            .pay_by = from_ms(901'000),
            .updated_at = from_ms(1500),
            .hold = HoldState::held,
            .holder = *PurchaseId::from_hex("000102030405060708090a0b0c0d0e0f"),
            .payment = {},
            .falls_to = OrderState::expired,
            .reason = {}};
}

PurchaseView accepted() {
    return {.sale = SaleId("drop"),
            .item = ItemId("phone"),
            .acceptance = {order().purchase, BuyerId("alice"), 2, 17, from_ms(1000)},
            .placed = std::nullopt,
            .order = std::nullopt};
}

PurchaseView placed(PurchaseState state, HoldState hold, std::string reason) {
    PurchaseView view = accepted();
    view.placed = PurchaseRecord{.sale = view.sale,
                                 .item = view.item,
                                 .acceptance = view.acceptance,
                                 .state = state,
                                 .reason = std::move(reason),
                                 .order = std::nullopt,
                                 .hold = hold};
    return view;
}

// The id is beyond what a JavaScript number holds: it is text.
TEST(OrderJson, ShowsExactlyTheseFields) {
    EXPECT_EQ(
        json::serialize(order_json(order())),
        R"({"id":"9007199254740993","purchase":"000102030405060708090a0b0c0d0e0f","sale":"drop","item":"phone",)"
        R"("quantity":2,"amount_minor":1999800,"currency":"TWD","state":"pending_payment","reason":null,)"
        R"("created_at":"1970-01-01T00:00:01Z","created_at_ms":1000,"pay_by":"1970-01-01T00:15:01Z",)"
        R"("pay_by_ms":901000,"updated_at":"1970-01-01T00:00:01.500Z","updated_at_ms":1500})");
}

TEST(PurchaseJson, ShowsExactlyTheseFields) {
    EXPECT_EQ(json::serialize(purchase_json(accepted())),
              R"({"id":"000102030405060708090a0b0c0d0e0f","status":"accepted","sale":"drop","item":"phone",)"
              R"("quantity":2,"sequence":17,"accepted_at":"1970-01-01T00:00:01Z","accepted_at_ms":1000,)"
              R"("order":null,"reason":null})");
}

TEST(PurchaseJson, AnOrderedOneCarriesItsOrder) {
    PurchaseView view = placed(PurchaseState::ordered, HoldState::held, "");
    view.order = order();
    const json::object shown = purchase_json(view);
    EXPECT_EQ(shown.at("status").as_string(), "ordered");
    EXPECT_EQ(shown.at("order"), json::value(order_json(order())));
    EXPECT_TRUE(shown.at("reason").is_null());
}

TEST(PurchaseJson, ACancelledOneSaysWhy) {
    const json::object shown =
        purchase_json(placed(PurchaseState::cancelled, HoldState::finished, "no unit left"));
    EXPECT_EQ(shown.at("status").as_string(), "cancelled");
    EXPECT_EQ(shown.at("reason").as_string(), "no unit left");
    EXPECT_TRUE(shown.at("order").is_null());
}

TEST(PurchaseJson, OneWhoseOrderWasReinstatedIsOrderedAlthoughAnotherIdHoldsItsUnits) {
    PurchaseView view = placed(PurchaseState::ordered, HoldState::finished, "");
    view.order = order();
    view.order->state = OrderState::paid;
    view.order->hold = HoldState::sold;
    EXPECT_EQ(purchase_json(view).at("status").as_string(), "ordered");
}

}  // namespace
}  // namespace doorbuster
