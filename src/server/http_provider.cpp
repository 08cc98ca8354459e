#include "server/http_provider.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<std::string_view, ProviderState>, 6> states = {
    {{"unknown", ProviderState::unknown},
     {"created", ProviderState::created},
     {"declined", ProviderState::declined},
     {"captured", ProviderState::captured},
     {"voided", ProviderState::voided},
     {"refunded", ProviderState::refunded}}};

std::string_view text_in(const json::object& object, std::string_view key) {
    const json::value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                  : std::string_view{};
}

}  // namespace

std::optional<ProviderView> read_provider_payment(std::string_view body) {
    boost::system::error_code error;
    const json::value value = json::parse(body, error);
    if (error || !value.is_object()) return std::nullopt;
    const json::object& payment = value.get_object();
    const std::string_view said = text_in(payment, "state");
    for (const auto& [name, state] : states) {
        if (name != said) continue;
        ProviderView view{.state = state,
                          .captured_minor = 0,
                          .captured_currency = std::string(text_in(payment, "captured_currency")),
                          .url = std::string(text_in(payment, "payment_url"))};
        const json::value* captured = payment.if_contains("captured_minor");
        if (captured != nullptr && captured->is_int64()) view.captured_minor = captured->get_int64();
        return view;
    }
    return std::nullopt;
}

std::string HttpProvider::return_url_for(OrderId order) const {
    constexpr std::string_view place = "{order}";
    std::string url = options_.return_url;
    if (const size_t at = url.find(place); at != std::string::npos)
        url.replace(at, place.size(), std::to_string(static_cast<int64_t>(order)));
    return url;
}

ProviderAnswer HttpProvider::ask(const ProviderCall& call) {
    const PaymentRecord& payment = call.payment;
    HttpCall request{.method = "GET",
                     .url = fmt::format("{}/v1/payments/{}", options_.url, static_cast<int64_t>(payment.id))};
    request.headers = {"Authorization: Bearer " + options_.key};
    request.total_max = options_.timeout;
    switch (call.ask) {
        case ProviderAsk::create: {
            request.method = "PUT";
            json::object body{{"amount_minor", payment.amount_minor},
                              {"currency", payment.currency},
                              {"reference", std::to_string(static_cast<int64_t>(payment.order))}};
            if (!options_.return_url.empty()) body["return_url"] = return_url_for(payment.order);
            request.body = json::serialize(body);
            request.headers.push_back("Content-Type: application/json");
            break;
        }
        case ProviderAsk::look_up:
            break;
        case ProviderAsk::take_back:
            request.method = "POST";
            request.url += "/void";
            break;
        case ProviderAsk::refund:
            request.method = "POST";
            request.url += "/refund";
            break;
    }
    const auto answer = caller_.run(request);
    if (!answer) return {.view = {}, .error = answer.error()};
    // 404 is an answer, too: "unknown".
    if (answer->status == 200 || answer->status == 201 || answer->status == 404) {
        if (auto view = read_provider_payment(answer->body)) return {.view = std::move(view), .error = {}};
        return {.view = {}, .error = fmt::format("status {} with a body that is no payment", answer->status)};
    }
    return {.view = {}, .error = fmt::format("status {}", answer->status)};
}

}  // namespace doorbuster
