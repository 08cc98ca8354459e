#include "orders/event_json.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "sale/testing.hpp"

namespace doorbuster {
namespace {

using namespace testing;

std::string text_of(const EventFacts& facts) {
    return boost::json::serialize(event_json(facts));
}

OrderRecord order() {
    OrderRecord record;
    record.id = OrderId{7001};
    record.purchase = purchase(1);
    record.sale = SaleId("phone-drop");
    record.item = ItemId("phone");
    record.buyer = alice;
    record.units = 2;
    record.amount_minor = 1999800;
    record.currency = "TWD";
    return record;
}

EventFacts of_order(EventKind kind) {
    return {.event = {.number = 17,
                      .kind = kind,
                      .at = t0 + 250ms,
                      .sale = SaleId("phone-drop"),
                      .order = OrderId{7001},
                      .purchase = {},
                      .payment = {}},
            .order = order(),
            .purchase = {},
            .payment = {}};
}

TEST(EventJson, AnOrderIsToldWithWhoBoughtWhatForHowMuch) {
    EventFacts facts = of_order(EventKind::order_paid);
    facts.order->payment = PaymentId{9001};
    EXPECT_EQ(text_of(facts),
              R"({"type":"order.paid","timestamp":"2026-12-01T12:00:00.250Z","data":{"id":"7001",)"
              R"("purchase":"01000000000000000000000000000000","sale":"phone-drop","item":"phone",)"
              R"("buyer":"alice","units":2,"amount":{"amount_minor":1999800,"currency":"TWD"},)"
              R"("state":"paid","payment":"9001"}})");
}

TEST(EventJson, WhatHappenedSinceChangesNoByte) {
    for (const EventKind kind :
         {EventKind::order_created, EventKind::order_expired, EventKind::order_cancelled}) {
        const EventFacts before = of_order(kind);
        EventFacts since = before;
        since.order->state = OrderState::refunded;
        since.order->version = 9;
        since.order->updated_at = t0 + 24h;
        since.order->hold = HoldState::finished;
        since.order->holder = purchase(5);
        since.order->payment = PaymentId{9002};
        since.order->reason = "it was paid too late, and no unit was left";
        EXPECT_EQ(text_of(since), text_of(before)) << name_of(kind);
    }
}

TEST(EventJson, ARefundTellsItsReasonAndPayment) {
    EventFacts facts = of_order(EventKind::order_refunded);
    facts.order->payment = PaymentId{9001};
    facts.order->reason = "damaged in transport";
    const auto data = event_json(facts).at("data");
    EXPECT_EQ(data.at("state"), "refunded");
    EXPECT_EQ(data.at("reason"), "damaged in transport");
    EXPECT_EQ(data.at("payment"), "9001");
}

TEST(EventJson, ARefundedCaptureTellsWhatCameBack) {
    EventFacts facts = of_order(EventKind::payment_refunded);
    facts.event.payment = PaymentId{9002};
    facts.payment = PaymentRecord{.id = PaymentId{9002},
                                  .order = OrderId{7001},
                                  .currency = "TWD",
                                  .captured_minor = 5,
                                  .captured_currency = "USD",
                                  .url = "",
                                  .look_at = {}};
    const auto data = event_json(facts).at("data");
    EXPECT_EQ(data.at("id"), "9002");
    EXPECT_EQ(data.at("order"), "7001");
    EXPECT_EQ(data.at("amount").at("amount_minor"), 5);
    EXPECT_EQ(data.at("amount").at("currency"), "USD");
}

TEST(EventJson, ACancelledPurchaseTellsItsReasonAlsoWhenItHasAnOrderSince) {
    EventFacts facts = of_order(EventKind::purchase_cancelled);
    facts.event.order.reset();
    facts.event.purchase = purchase(1);
    facts.purchase = PurchaseRecord{.sale = SaleId("phone-drop"),
                                    .item = ItemId("phone"),
                                    .acceptance = {purchase(1), alice, 1, 1, t0},
                                    .state = PurchaseState::cancelled,
                                    .reason = std::string(reason_unplaceable),
                                    .order = {},
                                    .hold = HoldState::finished};
    const std::string before = text_of(facts);
    EXPECT_EQ(event_json(facts).at("data").at("reason").as_string(), reason_unplaceable);
    facts.purchase->state = PurchaseState::ordered;
    facts.purchase->reason = "cancelled by the buyer";
    facts.purchase->order = OrderId{7001};
    EXPECT_EQ(text_of(facts), before);
}

TEST(EventJson, ASaleIsToldWithItsState) {
    const EventFacts facts{.event = {.number = 3,
                                     .kind = EventKind::sale_available,
                                     .at = t0,
                                     .sale = SaleId("phone-drop"),
                                     .order = {},
                                     .purchase = {},
                                     .payment = {}},
                           .order = {},
                           .purchase = {},
                           .payment = {}};
    EXPECT_EQ(text_of(facts), R"({"type":"sale.available","timestamp":"2026-12-01T12:00:00Z",)"
                              R"("data":{"id":"phone-drop","state":"open"}})");
}

TEST(EventJson, EveryKindHasAState) {
    for (size_t i = 0; i < event_names.size(); ++i) {
        EventFacts facts = of_order(static_cast<EventKind>(i));
        facts.event.payment = PaymentId{1};
        facts.event.purchase = purchase(1);
        EXPECT_NE(event_json(facts).at("data").at("state"), "") << event_names[i];
    }
}

TEST(EventJson, AnEventWhoseRecordIsGoneIsToldAllTheSame) {
    EventFacts facts = of_order(EventKind::order_paid);
    facts.order.reset();
    EXPECT_EQ(event_json(facts).at("data").at("id"), "7001");
    EXPECT_EQ(event_json(facts).at("data").at("sale"), "phone-drop");
}

TEST(EventId, IsReadBackWithOrWithoutItsPrefix) {
    EXPECT_EQ(event_id(17), "evt_17");
    EXPECT_EQ(event_number_of("evt_17"), 17u);
    EXPECT_EQ(event_number_of("17"), 17u);
    for (const char* text :
         {"", "evt_", "evt_-1", "evt_1x", "1 ", "msg_1", "99999999999999999999", "9223372036854775808"}) {
        EXPECT_EQ(event_number_of(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace doorbuster
