#include "http/payments.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "http/json.hpp"
#include "http/order_json.hpp"
#include "http/route.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

template <class Id>
std::optional<Id> id_in(const json::object& object, std::string_view key) {
    const json::value* text = object.if_contains(key);
    if (text == nullptr || !text->is_string()) return std::nullopt;
    const auto number = parse_number<int64_t>(std::string_view(text->get_string()));
    return number ? std::optional(Id{*number}) : std::nullopt;
}

std::string_view detail_of(WebhookVerdict verdict) {
    switch (verdict) {
        case WebhookVerdict::too_old:
            return "the event was signed more than five minutes ago";
        case WebhookVerdict::too_new:
            return "the event is signed for a time to come: compare the clocks";
        case WebhookVerdict::malformed:
            return "webhook-id, webhook-timestamp and webhook-signature are needed";
        case WebhookVerdict::no_match:
        case WebhookVerdict::valid:
            break;
    }
    return "no signature fits the body and a secret of this server";
}

}  // namespace

std::optional<ProviderHint> read_provider_event(std::string_view body) {
    const auto event = parse_json(body);
    const json::object* object = event ? event->if_object() : nullptr;
    const json::value* data = object != nullptr ? object->if_contains("data") : nullptr;
    if (data == nullptr || !data->is_object()) return std::nullopt;
    const auto payment = id_in<PaymentId>(data->get_object(), "key");
    const auto order = id_in<OrderId>(data->get_object(), "reference");
    if (!payment || !order) return std::nullopt;
    return ProviderHint{*payment, *order};
}

void PaymentEndpoints::begin(Exchange& exchange, std::string_view order) {
    const Instant now = services_.clock.now();
    const auto who = door_.who(exchange, now);
    if (!who) return;
    const auto number = parse_number<int64_t>(order);
    if (!number) return replies_.refuse(exchange, Code::not_found);

    replies_.on_orders_thread(exchange, [this, &exchange, id = OrderId{*number}, buyer = who->buyer, now,
                                         language = exchange.language()] {
        services_.payments.begin(
            id, buyer, now, [this, &exchange, language](const StoreResult<PaymentRecord>& begun) {
                if (begun) {
                    return replies_.later(exchange,
                                          Answer{.body = json::serialize(payment_json(*begun, language))});
                }
                const StoreError& error = begun.error();
                if (error.code == StoreErrc::unavailable) {
                    return replies_.later(
                        exchange,
                        Problem{.code = Code::unknown,
                                .detail = "the payment provider has not answered; ask again, it is the "
                                          "same payment"});
                }
                replies_.later(exchange, order_problem(error));
            });
    });
}

void PaymentEndpoints::webhook(Exchange& exchange) {
    const Request& request = exchange.request();
    if (services_.provider_secrets.empty()) return replies_.refuse(exchange, Code::not_found);
    const Instant now = services_.clock.now();
    const WebhookVerdict verdict = verify_webhook({.id = request.webhook_id,
                                                   .timestamp = request.webhook_timestamp,
                                                   .signature = request.webhook_signature,
                                                   .body = request.body},
                                                  services_.provider_secrets, now);
    if (verdict != WebhookVerdict::valid) {
        if (!door_.lets_in(exchange, RequestKind::settle)) return;
        return replies_.refuse(
            exchange, Problem{.code = Code::unauthenticated, .detail = std::string(detail_of(verdict))});
    }
    const auto hint = read_provider_event(request.body);
    if (!hint) {
        return replies_.refuse(
            exchange, {.code = Code::invalid,
                       .faults = {{"/data", "must name a payment by key and its order by reference"}}});
    }
    replies_.on_orders_thread(exchange, [this, &exchange, event = std::string(request.webhook_id),
                                         hint = *hint, now] {
        const auto payment = services_.orders.reader().find_payment(hint.payment);
        if (!payment) return replies_.later(exchange, failed_store(payment.error()));
        if (!*payment || (*payment)->order != hint.order) {
            return replies_.later(exchange, Problem{.code = Code::invalid,
                                                    .faults = {{"/data", "is no payment of that order"}}});
        }
        const auto noted = services_.payments.hint(event, hint.payment, now);
        if (!noted) return replies_.later(exchange, failed_store(noted.error()));
        replies_.later(exchange, Answer{.body = json::serialize(json::object{{"new", *noted}})});
    });
}

}  // namespace doorbuster
