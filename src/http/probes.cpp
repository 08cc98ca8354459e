#include "http/probes.hpp"

namespace doorbuster {

namespace {
constexpr std::string_view ok_body = R"({"status":"ok"})";
}

void ProbeEndpoints::livez(Exchange& exchange) {
    replies_.send(exchange, Response{.headers = no_store, .body = ok_body});
}

void ProbeEndpoints::readyz(Exchange& exchange) {
    if (!services_.is_ready()) return replies_.refuse(exchange, Code::rebuilding);
    replies_.send(exchange, Response{.headers = no_store, .body = ok_body});
}

void ProbeEndpoints::metrics(Exchange& exchange) {
    const std::string text = services_.metrics_text();
    replies_.send(exchange, Response{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                                     .headers = no_store,
                                     .body = text});
}

}  // namespace doorbuster
