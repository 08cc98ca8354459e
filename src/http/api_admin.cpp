#include "http/api_admin.hpp"

#include <array>

#include "base/crypto.hpp"
#include "base/words.hpp"

namespace doorbuster {

namespace {

struct Verb {
    std::string_view name;
    SaleVerb verb;
};
constexpr std::array verbs = {Verb{"warm", SaleVerb::warm}, Verb{"open", SaleVerb::open},
                              Verb{"pause", SaleVerb::pause}, Verb{"resume", SaleVerb::resume},
                              Verb{"close", SaleVerb::close}};

const Verb* find_verb(std::string_view name) {
    for (const Verb& verb : verbs) {
        if (verb.name == name) return &verb;
    }
    return nullptr;
}

}  // namespace

bool is_admin(std::string_view authorization, std::string_view key) {
    constexpr std::string_view scheme = "Bearer ";
    if (key.empty() || !equal_words(authorization.substr(0, scheme.size()), scheme)) return false;
    return equal_in_constant_time(authorization.substr(scheme.size()), key);
}

AdminApi::AdminApi(Services& services, RiskServices& risk)
    : services_(services),
      replies_(services, probe_),
      sales_(services, replies_),
      orders_(services, replies_),
      events_(services, replies_),
      risk_(services, risk, replies_),
      audit_(services, replies_),
      probes_(services, replies_) {}

void AdminApi::set_catalogue(std::shared_ptr<const Catalogue> catalogue) {
    sales_.set_catalogue(std::move(catalogue));
    has_catalogue_ = true;
}

void AdminApi::handle(Exchange& exchange) {
    const Request& request = exchange.request();
    const bool is_livez = request.path == "/livez", is_readyz = request.path == "/readyz";
    if (!is_livez && !is_readyz && !is_admin(request.authorization, services_.admin_key)) {
        return replies_.refuse(exchange, Code::unauthenticated);
    }
    if (is_livez || is_readyz || request.path == "/metrics") {
        if (!is_read(request.method)) return replies_.refuse_method(exchange, "GET, HEAD");
        if (is_livez) return probes_.livez(exchange);
        if (is_readyz) return probes_.readyz(exchange);
        return probes_.metrics(exchange);
    }
    if (risk_.handle(exchange)) return;
    if (audit_.handle(exchange)) return;
    const PathParts path(request.path);
    if (path.size() >= 2 && path[0] == "v1") return handle_v1(exchange, path);
    replies_.refuse(exchange, Code::not_found);
}

void AdminApi::handle_v1(Exchange& exchange, const PathParts& path) {
    if (orders_.handle(exchange, path)) return;
    if (events_.handle(exchange, path)) return;
    if (path[1] == "sales") return handle_sale(exchange, path);
    replies_.refuse(exchange, Code::not_found);
}

void AdminApi::handle_sale(Exchange& exchange, const PathParts& path) {
    const Method method = exchange.request().method;
    if (!has_catalogue_) return replies_.refuse(exchange, Code::rebuilding);

    if (path.size() == 2) {
        if (is_read(method)) return sales_.list(exchange);
        if (method == Method::post) return sales_.create(exchange);
        return replies_.refuse_method(exchange, "GET, HEAD, POST");
    }
    if (path.size() == 3) {
        if (is_read(method)) return sales_.show(exchange, path[2]);
        if (method == Method::patch) return sales_.change(exchange, path[2]);
        return replies_.refuse_method(exchange, "GET, HEAD, PATCH");
    }
    if (path[3] == "status") {
        if (!is_read(method)) return replies_.refuse_method(exchange, "GET, HEAD");
        return sales_.status(exchange, path[2]);
    }
    if (path[3] == "rebuild") {
        if (is_read(method)) return sales_.show_books(exchange, path[2]);
        if (method == Method::post) return sales_.rebuild(exchange, path[2]);
        return replies_.refuse_method(exchange, "GET, HEAD, POST");
    }
    const Verb* verb = find_verb(path[3]);
    if (verb == nullptr && path[3] != "restock") return replies_.refuse(exchange, Code::not_found);
    if (method != Method::post) return replies_.refuse_method(exchange, "POST");
    if (verb == nullptr) return sales_.restock(exchange, path[2]);
    sales_.act(exchange, path[2], verb->verb);
}

void AdminApi::purchase_decided(Exchange&, const PurchaseReply&) {
    CHECK(false);  // nothing is bought here
}

}  // namespace doorbuster
