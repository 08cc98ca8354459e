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

constexpr std::chrono::hours demo_token_lifetime{12};

bool is_page(const PathParts& path, std::string_view whole) {
    if (whole == "/") return true;
    return (path.size() == 1 && path[0] == "orders") || (path.size() == 2 && path[0] == "sales");
}

// What the request is for, by which an overloaded server tells what it leaves out.
RequestKind kind_of(Method method, const PathParts& path) {
    if (path.size() == 2 && path[0] == "sales") return RequestKind::page;
    if (path.size() < 2 || path[0] != "v1") return RequestKind::browse;
    if (path[1] == "time") return RequestKind::time;
    if (path[1] == "payments") return RequestKind::settle;
    if (path[1] == "purchases") return RequestKind::own;
    if (path[1] == "orders") {
        if (path.size() == 2) return RequestKind::own_list;
        return is_read(method) ? RequestKind::own : RequestKind::settle;
    }
    if (path[1] == "sales" && path.size() == 4) {
        // Who only asks for leave to send one is as cheap as the time, and has as little of it.
        if (path[3] == "purchases") return is_read(method) ? RequestKind::time : RequestKind::purchase;
        if (path[3] == "challenges" || path[3] == "tokens") return RequestKind::check;
    }
    return RequestKind::browse;
}

}  // namespace

PublicApi::PublicApi(Services& services, Gate& gate, const EventTerms& events)
    : services_(services),
      replies_(services, probe_),
      door_(services, replies_, probe_),
      not_found_(services.funnel_state.arrivals),
      sales_(services.clock, replies_, door_),
      purchases_(services, gate, replies_, probe_, door_, sales_, not_found_),
      events_(services, events, gate, replies_, probe_, door_, not_found_),
      orders_(services, replies_, door_, not_found_),
      payments_(services, replies_, door_),
      checks_(services, replies_, door_, sales_),
      pages_(replies_),
      openapi_headers_(
          fmt::format("Cache-Control: public, max-age=60\r\nETag: {}\r\n", etag_of(openapi_document()))),
      openapi_etag_(etag_of(openapi_document())) {
    cors_.set_origins(services.funnel_rules->origins);
}

void PublicApi::set_rules(std::shared_ptr<const FunnelRules> rules) {
    cors_.set_origins(rules->origins);
    door_.set_rules(std::move(rules));
}

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
    const PathParts path(request.path);
    cors_.mark(exchange);
    if (is_page(path, request.path) && door_.level() == Level::closed) return closed_page(exchange);
    if (request.path == "/v1/payments/webhook" && request.method == Method::post)
        return is_rebuilding() ? replies_.refuse(exchange, Code::rebuilding) : payments_.webhook(exchange);
    if (Cors::is_preflight(request)) return preflight(exchange, path);
    if (!door_.lets_in(exchange, kind_of(request.method, path))) return;

    if (is_page(path, request.path)) return reading(exchange, [&] { page(exchange, path); });
    if (path.size() >= 2 && path[0] == "v1") return handle_v1(exchange, path);
    if (request.path == "/openapi.json") return reading(exchange, [&] { openapi(exchange); });
    if (request.path == "/dev/sign-in" && services_.demo_sign_in) {
        if (request.method != Method::post) return replies_.refuse_method(exchange, "POST");
        return sign_in(exchange);
    }
    is_read(request.method) ? pages_.show_missing(exchange) : replies_.refuse(exchange, Code::not_found);
}

void PublicApi::handle_v1(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    if (path[1] == "time" && path.size() == 2) return reading(exchange, [&] { time(exchange); });
    if (path[1] == "sales") return handle_sale(exchange, path);

    if (path[1] == "purchases" && (path.size() == 3 || (path.size() == 4 && path[3] == "events"))) {
        return reading(exchange, [&] {
            if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
            path.size() == 3 ? purchases_.show(exchange, path[2]) : events_.follow(exchange, path[2]);
        });
    }
    if (path[1] == "orders" && path.size() <= 3) {
        return reading(exchange, [&] {
            if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
            path.size() == 2 ? orders_.list(exchange) : orders_.show(exchange, path[2]);
        });
    }
    if (path[1] == "orders" && path.size() == 4 && (path[3] == "cancel" || path[3] == "payments")) {
        if (method != Method::post) return replies_.refuse_method(exchange, "POST");
        if (is_rebuilding()) return replies_.refuse(exchange, Code::rebuilding);
        return path[3] == "cancel" ? orders_.cancel(exchange, path[2]) : payments_.begin(exchange, path[2]);
    }
    if (path[1] == "payments" && path.size() == 3 && path[2] == "webhook")
        return replies_.refuse_method(exchange, "POST");
    replies_.refuse(exchange, Code::not_found);
}

void PublicApi::handle_sale(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    // The operator's calls do not exist here, so nothing names the methods they have.
    if (path.size() == 2 && method == Method::post) return replies_.refuse(exchange, Code::not_found);
    if (path.size() == 3 && method == Method::patch) return replies_.refuse(exchange, Code::not_found);

    const std::string_view call = path.size() == 4 ? path[3] : std::string_view{};
    const bool asks_check = call == "challenges";
    const bool answers_check = call == "tokens";
    const bool buys = call == "purchases";
    if (!call.empty() && !asks_check && !answers_check && !buys && call != "stock") {
        return replies_.refuse(exchange, Code::not_found);
    }
    const bool may_post = buys || answers_check || asks_check;
    const bool may_read = !buys && !answers_check;
    const bool asks_leave = buys && method == Method::head;
    const bool is_allowed =
        (method == Method::post && may_post) || (is_read(method) && may_read) || asks_leave;
    if (!is_allowed) {
        return replies_.refuse_method(exchange, buys        ? "HEAD, POST"
                                                : !may_read ? "POST"
                                                : !may_post ? "GET, HEAD"
                                                            : "GET, HEAD, POST");
    }
    if (is_rebuilding()) return door_.refuse(exchange, Stage::rebuilding, Code::rebuilding);

    if (asks_leave) return purchases_.give_leave(exchange, path[2]);
    if (buys) return purchases_.submit(exchange, path[2]);
    if (asks_check) return checks_.challenge(exchange, path[2]);
    if (answers_check) return checks_.token(exchange, path[2]);
    if (path.size() == 2) return sales_.list(exchange);
    if (path.size() == 3) return sales_.show(exchange, path[2]);
    sales_.stock(exchange, path[2]);
}

void PublicApi::purchase_decided(Exchange& exchange, const PurchaseReply& reply) {
    purchases_.decided(exchange, reply);
}

void PublicApi::time(Exchange& exchange) {
    const Instant now = services_.clock.now();
    // A page that waits hears with the time whether its sale still keeps to what was announced.
    const auto named = query_field(exchange.request().query, "sale");
    const ListedSale* listed = named ? sales_.find(*named) : nullptr;
    std::string sale = "null";
    if (listed != nullptr) {
        const SaleState state = listed->state_now();
        const auto sold_out_at = state == SaleState::sold_out ? listed->sold_out_at_ms() : std::nullopt;
        sale = fmt::format(R"({{"state":"{}","opens_at_ms":{},"closes_at_ms":{},"sold_out_at_ms":{}}})",
                           name_of(state), to_ms(listed->sale.opens_at), to_ms(listed->sale.closes_at),
                           sold_out_at ? fmt::to_string(*sold_out_at) : "null");
    }
    const std::string body =
        fmt::format(R"({{"now":"{}","now_ms":{},"sale":{}}})", format_rfc3339(now), to_ms(now), sale);
    replies_.send(exchange, Response{.headers = no_store, .body = body});
}

void PublicApi::page(Exchange& exchange, const PathParts& path) {
    if (path.size() == 2 && is_rebuilding())
        return door_.refuse(exchange, Stage::rebuilding, Code::rebuilding);
    pages_.show(exchange, exchange.request().path);
}

void PublicApi::closed_page(Exchange& exchange) {
    probe_.refused(Stage::level);
    pages_.show_closed(exchange);
}

// It counts as the request that it asks for, in limits as under load.
void PublicApi::preflight(Exchange& exchange, const PathParts& path) {
    const Request& request = exchange.request();
    const Method asked = request.access_control_request_method == "POST" ? Method::post : Method::get;
    if (!door_.lets_in(exchange, kind_of(asked, path))) return;
    if (!cors_.allows(request.origin)) return replies_.refuse(exchange, Code::cross_site);
    replies_.send(exchange, Response{.status = 204, .content_type = {}, .headers = Cors::preflight_headers});
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
    const Identity& identity = *door_.rules().identity;
    if (!identity.can_mint()) {
        return replies_.refuse(exchange,
                               {.code = Code::wrong_state,
                                .detail = "this server has no key to sign with: set identity.hmac_secret"});
    }
    const std::string token = identity.mint(*buyer, now, demo_token_lifetime);
    // A name in which no token can be used must not look like a sign-in.
    const auto who = identity.verify(token, now);
    if (!who || who->buyer != *buyer) {
        return replies_.refuse(
            exchange, {.code = Code::invalid, .faults = {{"/buyer", "must not contain control characters"}}});
    }
    const json::object answer{{"token", token},
                              {"buyer", buyer->view()},
                              {"expires_at", format_rfc3339(now + demo_token_lifetime)}};
    Answer signed_in{.body = json::serialize(answer)};
    if (const std::string& cookie = door_.rules().cookie; !cookie.empty()) {
        signed_in.headers += fmt::format("Set-Cookie: {}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}\r\n",
                                         cookie, token, std::chrono::seconds(demo_token_lifetime).count());
    }
    replies_.send(exchange, std::move(signed_in));
}

}  // namespace doorbuster
