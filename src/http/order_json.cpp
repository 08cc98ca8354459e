#include "http/order_json.hpp"

#include "http/json.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

bool has_ended(const PurchaseRecord& placed) {
    return placed.state == PurchaseState::cancelled || placed.hold == HoldState::finished;
}

std::string_view status_of(const PurchaseView& view) {
    if (!view.placed) return "accepted";
    return has_ended(*view.placed) ? "cancelled" : "ordered";
}

json::value reason_of(const PurchaseView& view) {
    if (!view.placed || !has_ended(*view.placed)) return nullptr;
    if (!view.placed->reason.empty()) return json::string(as_utf8(view.placed->reason));
    // It had an order, and that one's state tells why it is no more.
    if (view.order && !holds_units(view.order->state)) {
        return json::string("the order was " + std::string(name_of(view.order->state)));
    }
    return "the purchase was released";
}

}  // namespace

json::object order_json(const OrderRecord& order) {
    json::object into{{"id", std::to_string(static_cast<int64_t>(order.id))},
                      {"purchase", order.purchase.hex()},
                      {"sale", order.sale.view()},
                      {"item", order.item.view()},
                      {"quantity", order.units},
                      {"amount_minor", order.amount_minor},
                      {"currency", order.currency},
                      {"state", name_of(order.state)}};
    put_instant(into, "created_at", order.created_at);
    put_instant(into, "pay_by", order.pay_by);
    put_instant(into, "updated_at", order.updated_at);
    return into;
}

json::object purchase_json(const PurchaseView& view) {
    json::object into{{"id", view.acceptance.purchase.hex()},
                      {"status", status_of(view)},
                      {"sale", view.sale.view()},
                      {"item", view.item.view()},
                      {"quantity", view.acceptance.units},
                      {"sequence", view.acceptance.sequence}};
    put_instant(into, "accepted_at", view.acceptance.accepted_at);
    into["order"] = view.order ? json::value(order_json(*view.order)) : json::value(nullptr);
    into["reason"] = reason_of(view);
    return into;
}

}  // namespace doorbuster
