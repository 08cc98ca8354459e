#include "http/purchase_snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "http/order_json.hpp"

namespace doorbuster {
namespace {

PurchaseView accepted() {
    PurchaseView view;
    view.sale = SaleId("drop");
    view.item = ItemId("phone");
    view.acceptance = {*PurchaseId::from_hex("000102030405060708090a0b0c0d0e0f"), BuyerId("alice"), 1, 17,
                       from_ms(1000)};
    return view;
}

PurchaseView placed(PurchaseState state, std::string reason = {}) {
    PurchaseView view = accepted();
    view.placed.emplace();
    view.placed->sale = view.sale;
    view.placed->item = view.item;
    view.placed->acceptance = view.acceptance;
    view.placed->state = state;
    view.placed->reason = std::move(reason);
    return view;
}

struct OfOrder {
    OrderState state = OrderState::pending_payment;
    uint64_t version = 1;
    HoldState hold = HoldState::held;
};
PurchaseView with_order(PurchaseState state, const OfOrder& terms) {
    PurchaseView view = placed(state);
    view.order.emplace();
    view.order->purchase = view.acceptance.purchase;
    view.order->sale = view.sale;
    view.order->item = view.item;
    view.order->buyer = view.acceptance.buyer;
    view.order->currency = "TWD";
    view.order->state = terms.state;
    view.order->version = terms.version;
    view.order->hold = terms.hold;
    return view;
}

constexpr OfOrder fresh, paid{OrderState::paid, 3, HoldState::held},
    given_back{OrderState::cancelled, 2, HoldState::finished};

std::string data_of(const PurchaseView& view) {
    return "data: " + boost::json::serialize(purchase_json(view)) + "\n\n";
}

void expect_event(const PurchaseView& view, std::string_view name, uint64_t id) {
    const PurchaseSnapshot snapshot = snapshot_of(view);
    EXPECT_EQ(snapshot.version, id);
    EXPECT_EQ(snapshot.event,
              "event: " + std::string(name) + "\nid: " + std::to_string(id) + "\n" + data_of(view));
}

TEST(PurchaseSnapshot, IsTheStatusTheVersionAndWhatALookUpSays) {
    expect_event(accepted(), "accepted", 0);
    expect_event(placed(PurchaseState::cancelled, "no unit left"), "cancelled", 1);
    expect_event(with_order(PurchaseState::ordered, fresh), "ordered", 2);
    expect_event(with_order(PurchaseState::cancelled, given_back), "cancelled", 3);
    expect_event(with_order(PurchaseState::ordered, paid), "ordered", 4);
}

TEST(PurchaseSnapshot, IsOneLineWhateverTheReasonSays) {
    const std::string event = snapshot_of(placed(PurchaseState::cancelled, "a\nb\r\nevent: paid\n\n")).event;
    EXPECT_TRUE(event.starts_with("event: cancelled\nid: 1\ndata: {"));
    EXPECT_EQ(std::count(event.begin(), event.end(), '\n'), 4);
    EXPECT_EQ(event.find('\r'), std::string::npos);
}

TEST(PurchaseSnapshot, OnlyACancellationWithoutAnOrderIsFinal) {
    EXPECT_FALSE(snapshot_of(accepted()).is_final);
    EXPECT_TRUE(snapshot_of(placed(PurchaseState::cancelled, "no unit left")).is_final);
    // A late payment may bring it back, a paid order may be refunded.
    EXPECT_FALSE(snapshot_of(with_order(PurchaseState::cancelled, given_back)).is_final);
    EXPECT_FALSE(snapshot_of(with_order(PurchaseState::ordered, paid)).is_final);
}

TEST(PurchaseSnapshot, APurchaseAndAnOrderThatDisagreeAreReadAgain) {
    EXPECT_TRUE(may_be_torn(with_order(PurchaseState::ordered, given_back)));
    EXPECT_TRUE(may_be_torn(with_order(PurchaseState::cancelled, fresh)));
    EXPECT_FALSE(may_be_torn(with_order(PurchaseState::cancelled, given_back)));
    EXPECT_FALSE(may_be_torn(with_order(PurchaseState::ordered, fresh)));
    EXPECT_FALSE(may_be_torn(accepted()));
}

}  // namespace
}  // namespace doorbuster
