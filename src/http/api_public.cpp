#include "http/api_public.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/rfc3339.hpp"
#include "http/etag.hpp"
#include "http/json.hpp"
#include "http/openapi.hpp"

namespace doorbuster {

namespace json = boost::json;

namespace {

constexpr std::string_view front_page =
    R"(<!doctype html><html lang="en"><meta charset="utf-8"><title>Doorbuster</title>)"
    R"(<h1>Doorbuster</h1><p>A flash-sale server. <a href="/v1/sales">Sales</a> · )"
    R"(<a href="/openapi.json">Interface</a></p></html>)";

constexpr std::chrono::hours demo_token_lifetime{12};

}  // namespace

PublicApi::PublicApi(Services& services, Gate& gate)
    : services_(services),
      replies_(services, probe_),
      sales_(replies_),
      purchases_(services, gate, replies_, probe_, sales_),
      orders_(services, replies_),
      openapi_headers_(
          fmt::format("Cache-Control: public, max-age=60\r\nETag: {}\r\n", etag_of(openapi_document()))),
      openapi_etag_(etag_of(openapi_document())) {}

void PublicApi::set_catalogue(std::shared_ptr<const Catalogue> catalogue) {
    sales_.set_catalogue(std::move(catalogue));
    has_catalogue_ = true;
}

// A sale that is not loaded yet is not a sale that does not exist, and a board that is
// not rebuilt yet does not know its winners.
bool PublicApi::is_rebuilding() {
    if (!was_ready_) was_ready_ = has_catalogue_ && services_.is_ready();
    return !was_ready_;
}

template <class Read>
void PublicApi::reading(Exchange& exchange, Read read) {
    if (!is_read(exchange.request().method)) return replies_.refuse_method(exchange, "GET, HEAD");
    read();
}

void PublicApi::handle(Exchange& exchange) {
    const Request& request = exchange.request();
    if (request.path == "/") return reading(exchange, [&] { page(exchange); });
    const PathParts path(request.path);
    if (path.size() >= 2 && path[0] == "v1") return handle_v1(exchange, path);
    if (request.path == "/openapi.json") return reading(exchange, [&] { openapi(exchange); });
    if (request.path == "/dev/sign-in" && services_.demo_sign_in) {
        if (request.method != Method::post) return replies_.refuse_method(exchange, "POST");
        return sign_in(exchange);
    }
    replies_.refuse(exchange, Code::not_found);
}

void PublicApi::handle_v1(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    if (path[1] == "time" && path.size() == 2) return reading(exchange, [&] { time(exchange); });
    if (path[1] == "sales") return handle_sale(exchange, path);

    if (path[1] == "purchases" && path.size() == 3) {
        return reading(exchange, [&] {
            if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
            purchases_.show(exchange, path[2]);
        });
    }
    if (path[1] == "orders" && path.size() <= 3) {
        return reading(exchange, [&] {
            if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
            path.size() == 2 ? orders_.list(exchange) : orders_.show(exchange, path[2]);
        });
    }
    if (path[1] == "orders" && path[3] == "cancel") {
        if (method != Method::post) return replies_.refuse_method(exchange, "POST");
        if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
        return orders_.cancel(exchange, path[2]);
    }
    replies_.refuse(exchange, Code::not_found);
}

void PublicApi::handle_sale(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    // The operator's calls do not exist here, so nothing names the methods they have.
    if (path.size() == 2 && method == Method::post) return replies_.refuse(exchange, Code::not_found);
    if (path.size() == 3 && method == Method::patch) return replies_.refuse(exchange, Code::not_found);

    const bool buys = path.size() == 4 && path[3] == "purchases";
    if (path.size() == 4 && !buys && path[3] != "stock") return replies_.refuse(exchange, Code::not_found);
    if (buys && method != Method::post) return replies_.refuse_method(exchange, "POST");
    if (!buys && !is_read(method)) return replies_.refuse_method(exchange, "GET, HEAD");
    if (is_rebuilding()) {
        if (buys) probe_.refused(Stage::rebuilding);
        return replies_.refuse(exchange, Code::rebuilding);
    }

    if (buys) return purchases_.submit(exchange, path[2]);
    if (path.size() == 2) return sales_.list(exchange);
    if (path.size() == 3) return sales_.show(exchange, path[2]);
    sales_.stock(exchange, path[2]);
}

void PublicApi::purchase_decided(Exchange& exchange, const PurchaseReply& reply) {
    purchases_.decided(exchange, reply);
}

void PublicApi::time(Exchange& exchange) {
    const Instant now = services_.clock.now();
    const std::string body = fmt::format(R"({{"now":"{}","now_ms":{}}})", format_rfc3339(now), to_ms(now));
    replies_.send(exchange, Response{.headers = no_store, .body = body});
}

void PublicApi::page(Exchange& exchange) {
    replies_.send(exchange, Response{.content_type = "text/html; charset=utf-8",
                                     .headers = "Cache-Control: public, max-age=60\r\n",
                                     .body = front_page});
}

void PublicApi::openapi(Exchange& exchange) {
    if (none_match_hits(exchange.request().if_none_match, openapi_etag_)) {
        return replies_.send(exchange,
                             Response{.status = 304, .content_type = {}, .headers = openapi_headers_});
    }
    replies_.send(exchange, Response{.headers = openapi_headers_, .body = openapi_document()});
}

void PublicApi::sign_in(Exchange& exchange) {
    if (!is_json_type(exchange.request().content_type))
        return replies_.refuse(exchange, Code::unsupported_media);
    const auto body = parse_json(exchange.request().body);
    if (!body) return replies_.refuse(exchange, Code::malformed);

    const json::value* name = body->is_object() ? body->get_object().if_contains("buyer") : nullptr;
    const auto buyer = name != nullptr && name->is_string()
                           ? BuyerId::from(std::string_view(name->get_string()))
                           : std::nullopt;
    std::vector<Fault> faults;
    if (!buyer)
        faults.push_back({"/buyer", fmt::format("must be text of 1 to {} bytes", BuyerId::bytes_max)});
    if (body->is_object()) {
        for (const auto& field : body->get_object()) {
            if (field.key() == "buyer") continue;
            faults.push_back({pointer_step(std::string_view(field.key())), "is not a field of a sign-in"});
        }
    }
    if (!faults.empty())
        return replies_.refuse(exchange, {.code = Code::invalid, .faults = std::move(faults)});

    const Instant now = services_.clock.now();
    const std::string token = services_.identity.mint(*buyer, now, demo_token_lifetime);
    // A name in which no token can be used must not look like a sign-in.
    if (services_.identity.verify("Bearer " + token, now) != *buyer) {
        return replies_.refuse(
            exchange, {.code = Code::invalid, .faults = {{"/buyer", "must not contain control characters"}}});
    }
    const json::object answer{{"token", token},
                              {"buyer", buyer->view()},
                              {"expires_at", format_rfc3339(now + demo_token_lifetime)}};
    replies_.send(exchange, Answer{.body = json::serialize(answer)});
}

}  // namespace doorbuster
