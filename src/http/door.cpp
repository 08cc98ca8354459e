#include "http/door.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"

namespace doorbuster {

namespace {

Code code_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::none:
        case Refusal::token_not_asked:
            break;  // neither is told by a code alone
        case Refusal::malformed:
            return Code::malformed;
        case Refusal::unauthenticated:
            return Code::unauthenticated;
        case Refusal::cross_site:
            return Code::cross_site;
        case Refusal::blocked:
            return Code::blocked;
        case Refusal::rate_limited:
            return Code::rate_limited;
        case Refusal::overloaded:
            return Code::overloaded;
        case Refusal::unavailable:
            return Code::unavailable;
        case Refusal::not_open:
            return Code::not_open;
        case Refusal::ended:
            return Code::ended;
        case Refusal::paused:
            return Code::paused;
        case Refusal::sold_out:
            return Code::sold_out;
        case Refusal::sold_out_for_now:
            return Code::sold_out_for_now;
        case Refusal::token_required:
            return Code::token_required;
        case Refusal::token_invalid:
            return Code::token_invalid;
        case Refusal::crowded:
            return Code::crowded;
    }
    CHECK(false);
    return Code::internal;
}

}  // namespace

bool Door::lets_in(Exchange& exchange, RequestKind kind) {
    const Request& request = exchange.request();
    const Ruling ruling =
        funnel_.arrive({exchange.peer(), {request.forwarded_for.data(), request.forwarded_lines}, kind},
                       services_.clock.uptime());
    if (ruling.passes()) return true;
    refuse(exchange, ruling);
    return false;
}

std::optional<Who> Door::who(Exchange& exchange, Instant now) {
    const Request& request = exchange.request();
    Who who;
    const Ruling ruling = funnel_.identify({.authorization = request.authorization,
                                            .cookie = request.cookie,
                                            .origin = request.origin,
                                            .host = request.host,
                                            .changes_something = !is_read(request.method)},
                                           now, who);
    if (ruling.passes()) return who;
    refuse(exchange, ruling);
    return std::nullopt;
}

bool Door::lets_check(Exchange& exchange, const BuyerId& buyer) {
    const Ruling ruling = funnel_.take_check(buyer, services_.clock.uptime());
    if (ruling.passes()) return true;
    refuse(exchange, ruling);
    return false;
}

std::optional<PurchaseId> Door::lets_ask(Exchange& exchange, const Funnel::Attempt& attempt, Instant now) {
    PurchaseId id;
    const Ruling ruling = funnel_.ask(attempt, now, services_.clock.uptime(), id);
    if (ruling.passes()) return id;
    refuse(exchange, ruling);
    return std::nullopt;
}

void Door::refuse(Exchange& exchange, const Ruling& ruling) {
    probe_.refused(ruling.stage);
    if (ruling.refusal == Refusal::token_not_asked) return replies_.refuse(exchange, token_not_asked_);
    const Code code = code_of(ruling.refusal);
    std::array<char, limit_headers_bytes_max> headers;
    if (ruling.refusal == Refusal::blocked && ruling.limit.retry_after > Uptime{}) {
        const auto wait_s = std::chrono::ceil<std::chrono::seconds>(ruling.limit.retry_after).count();
        const auto end = fmt::format_to(headers.data(), "Retry-After: {}\r\n", wait_s);
        return replies_.refuse(exchange, code, {headers.data(), static_cast<size_t>(end - headers.data())});
    }
    if (ruling.refusal != Refusal::rate_limited) return replies_.refuse(exchange, code);
    replies_.refuse(exchange, code, {headers.data(), format_limit_headers(ruling.limit, headers)});
}

void Door::refuse(Exchange& exchange, Stage stage, Code code) {
    probe_.refused(stage);
    replies_.refuse(exchange, code);
}

void Door::refuse(Exchange& exchange, Stage stage, const Problem& problem) {
    probe_.refused(stage);
    replies_.refuse(exchange, problem);
}

void Door::refuse(Exchange& exchange, Stage stage, const PreparedRefusal& refusal, const PurchaseId& named) {
    probe_.refused(stage);
    replies_.refuse(exchange, refusal, named);
}

}  // namespace doorbuster
