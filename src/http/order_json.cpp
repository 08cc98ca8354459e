#include "http/order_json.hpp"

#include "http/json.hpp"
#include "http/language.hpp"
#include "http/replies.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

bool has_ended(const PurchaseView& view) {
    return view.placed && view.placed->state == PurchaseState::cancelled;
}

std::string_view status_of(const PurchaseView& view) {
    if (!view.placed) return "accepted";
    return has_ended(view) ? "cancelled" : "ordered";
}

json::value reason_of(const PurchaseView& view) {
    if (!has_ended(view)) return nullptr;
    return json::string(as_utf8(view.placed->reason));
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
    into["reason"] = order.reason.empty() ? json::value(nullptr) : json::value(as_utf8(order.reason));
    put_instant(into, "created_at", order.created_at);
    put_instant(into, "pay_by", order.pay_by);
    put_instant(into, "updated_at", order.updated_at);
    return into;
}

json::object payment_json(const PaymentRecord& payment, Language language) {
    constexpr std::string_view place = "{lang}";
    std::string url = as_utf8(payment.url);
    if (const size_t at = url.find(place); at != std::string::npos)
        url.replace(at, place.size(), tag_of(language));
    return {{"id", std::to_string(static_cast<int64_t>(payment.id))},
            {"order", std::to_string(static_cast<int64_t>(payment.order))},
            {"state", name_of(payment.state)},
            {"amount_minor", payment.amount_minor},
            {"currency", payment.currency},
            {"payment_url", std::move(url)}};
}

json::object admin_payment_json(const PaymentRecord& payment) {
    json::object into = payment_json(payment, Language::en);
    into["captured_minor"] = payment.captured_minor;
    into["captured_currency"] = as_utf8(payment.captured_currency);
    put_instant(into, "created_at", payment.created_at);
    put_instant(into, "updated_at", payment.updated_at);
    return into;
}

Problem order_problem(const StoreError& error) {
    if (error.code == StoreErrc::not_found) return {Code::not_found};
    if (error.code == StoreErrc::not_allowed) return {Code::wrong_state, error.detail};
    return failed_store(error);
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
