#include "orders/event_json.hpp"

#include <charconv>

#include "base/rfc3339.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr std::string_view id_prefix = "evt_";

std::string_view state_after(EventKind kind) {
    using enum EventKind;
    switch (kind) {
        case order_created:
            return "pending_payment";
        case order_paid:
        case order_reinstated:
            return "paid";
        case order_expired:
            return "expired";
        case order_cancelled:
        case purchase_cancelled:
            return "cancelled";
        case order_refunding:
            return "refunding";
        case order_refunded:
        case payment_refunded:
            return "refunded";
        case sale_opened:
        case sale_available:
            return "open";
        case sale_paused:
            return "paused";
        case sale_sold_out:
            return "sold_out";
        case sale_closed:
            return "closed";
        case sale_reconciled:
            return "reconciled";
    }
    return "";
}

// From here on the order's payment is the one that paid, and its reason the refund's.
bool tells_payment(EventKind kind) {
    using enum EventKind;
    return kind == order_paid || kind == order_reinstated || kind == order_refunding ||
           kind == order_refunded;
}
bool tells_reason(EventKind kind) {
    return kind == EventKind::order_refunding || kind == EventKind::order_refunded;
}

template <class Id>
json::string text_of(Id id) {
    return json::string(std::to_string(static_cast<int64_t>(id)));
}

json::object amount_json(int64_t amount_minor, std::string_view currency) {
    return {{"amount_minor", amount_minor}, {"currency", currency}};
}

void put_order(json::object& into, const OrderRecord& order) {
    into["purchase"] = order.purchase.hex();
    into["sale"] = order.sale.view();
    into["item"] = order.item.view();
    into["buyer"] = order.buyer.view();
    into["units"] = order.units;
}

json::object order_data(const EventFacts& facts) {
    json::object data{{"id", text_of(*facts.event.order)}};
    if (!facts.order) {
        data["sale"] = facts.event.sale.view();
    } else {
        put_order(data, *facts.order);
        data["amount"] = amount_json(facts.order->amount_minor, facts.order->currency);
    }
    data["state"] = state_after(facts.event.kind);
    if (!facts.order) return data;
    if (tells_payment(facts.event.kind) && facts.order->payment)
        data["payment"] = text_of(*facts.order->payment);
    if (tells_reason(facts.event.kind)) data["reason"] = facts.order->reason;
    return data;
}

json::object payment_data(const EventFacts& facts) {
    json::object data{{"id", text_of(*facts.event.payment)}};
    if (facts.event.order) data["order"] = text_of(*facts.event.order);
    if (facts.order) put_order(data, *facts.order);
    if (facts.payment)
        data["amount"] = amount_json(facts.payment->captured_minor, facts.payment->captured_currency);
    data["state"] = state_after(facts.event.kind);
    return data;
}

json::object purchase_data(const EventFacts& facts) {
    json::object data{{"id", facts.event.purchase->hex()}, {"sale", facts.event.sale.view()}};
    if (facts.purchase) {
        data["item"] = facts.purchase->item.view();
        data["buyer"] = facts.purchase->acceptance.buyer.view();
        data["units"] = facts.purchase->acceptance.units;
    }
    data["state"] = state_after(facts.event.kind);
    if (facts.purchase) {
        // One that has an order since was a dead letter then: what is told again is told as before.
        data["reason"] = facts.purchase->order ? reason_unplaceable : facts.purchase->reason;
    }
    return data;
}

json::object data_of(const EventFacts& facts) {
    const EventRecord& event = facts.event;
    if (event.kind == EventKind::payment_refunded && event.payment) return payment_data(facts);
    if (event.kind == EventKind::purchase_cancelled && event.purchase) return purchase_data(facts);
    if (event.order) return order_data(facts);
    return {{"id", event.sale.view()}, {"state", state_after(event.kind)}};
}

}  // namespace

std::string event_id(uint64_t number) {
    return std::string(id_prefix) + std::to_string(number);
}

std::optional<uint64_t> event_number_of(std::string_view text) {
    if (text.starts_with(id_prefix)) text.remove_prefix(id_prefix.size());
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    if (!is_whole || number > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
    return number;
}

StoreResult<EventFacts> facts_of(const EventRecord& event, OrdersReader& reader) {
    EventFacts facts{.event = event, .order = {}, .purchase = {}, .payment = {}};
    if (event.payment) {
        auto payment = reader.find_payment(*event.payment);
        if (!payment) return payment.error();
        facts.payment = *std::move(payment);
        if (!facts.event.order && facts.payment) facts.event.order = facts.payment->order;
    }
    if (facts.event.order) {
        auto order = reader.find_order(*facts.event.order);
        if (!order) return order.error();
        facts.order = *std::move(order);
    }
    if (event.purchase) {
        auto purchase = reader.find_purchase(*event.purchase);
        if (!purchase) return purchase.error();
        facts.purchase = *std::move(purchase);
    }
    return facts;
}

json::object event_json(const EventFacts& facts) {
    return {{"type", name_of(facts.event.kind)},
            {"timestamp", format_rfc3339(facts.event.at)},
            {"data", data_of(facts)}};
}

}  // namespace doorbuster
