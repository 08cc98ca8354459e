#include "http/purchases.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/rfc3339.hpp"
#include "http/json.hpp"
#include "http/order_json.hpp"
#include "http/purchase_body.hpp"
#include "http/route.hpp"

namespace doorbuster {

namespace {

PurchaseOutcome outcome_of(const PurchaseReply& reply) {
    if (reply.verdict == Verdict::unknown) return PurchaseOutcome::unknown;
    switch (reply.answer.outcome) {
        case ReserveOutcome::accepted:
            return PurchaseOutcome::accepted;
        case ReserveOutcome::repeated:
            return PurchaseOutcome::repeated;
        case ReserveOutcome::sold_out:
            return PurchaseOutcome::sold_out;
        case ReserveOutcome::sold_out_for_now:
            return PurchaseOutcome::sold_out_for_now;
        case ReserveOutcome::limit_reached:
            return PurchaseOutcome::limit_reached;
        case ReserveOutcome::not_open:
            return PurchaseOutcome::not_open;
        case ReserveOutcome::ended:
            return PurchaseOutcome::ended;
        case ReserveOutcome::paused:
            return PurchaseOutcome::paused;
        case ReserveOutcome::key_mismatch:
            return PurchaseOutcome::key_mismatch;
    }
    CHECK(false);
    return PurchaseOutcome::unknown;
}

Problem invalid(std::string pointer, std::string detail) {
    return {.code = Code::invalid, .faults = {{std::move(pointer), std::move(detail)}}};
}

}  // namespace

bool is_idempotency_key(std::string_view key) {
    if (key.empty() || key.size() > 255) return false;
    for (const char c : key) {
        if (c < 0x21 || c > 0x7e) return false;
    }
    return true;
}

void PurchaseEndpoints::give_leave(Exchange& exchange, std::string_view sale) {
    if (sales_.find(sale) == nullptr) return replies_.refuse(exchange, Code::not_found);
    replies_.send(exchange, Response{.status = 204, .content_type = {}, .headers = no_store});
}

void PurchaseEndpoints::submit(Exchange& exchange, std::string_view sale) {
    const Request& request = exchange.request();
    const Instant now = services_.clock.now();

    const auto who = door_.who(exchange, now);
    if (!who) return;
    const auto turn_away = [&](Stage stage, const auto& why) {
        door_.turn_away(exchange, who->buyer, stage, why);
    };

    const ListedSale* listed = sales_.find(sale);
    if (listed == nullptr) return turn_away(Stage::sale, Code::not_found);

    if (!is_json_type(request.content_type)) return turn_away(Stage::body, Code::unsupported_media);
    const auto body = read_purchase_body(request.body);
    if (!body) return turn_away(Stage::body, Code::malformed);
    if (!body->faults.empty()) {
        return turn_away(Stage::body,
                         [&] { return Problem{.code = Code::invalid, .faults = faults_of(*body)}; });
    }
    if (body->item.empty()) {
        return turn_away(Stage::body, [] { return invalid("/item", "is not an id that an item can have"); });
    }
    const ListedItem* item = listed->find(body->item.view());
    if (item == nullptr) return turn_away(Stage::sale, Code::not_found);
    if (body->quantity > item->item.units_per_buyer_max) {
        return turn_away(Stage::body, [&] {
            return invalid("/quantity", fmt::format("must be a whole number from 1 to {}",
                                                    item->item.units_per_buyer_max));
        });
    }
    const bool has_key = request.idempotency_key.data() != nullptr;
    if (has_key && !is_idempotency_key(request.idempotency_key)) {
        return turn_away(Stage::body, [] {
            return invalid("", "the Idempotency-Key header must be 1 to 255 visible ASCII characters");
        });
    }

    const auto id = door_.lets_ask(exchange,
                                   {.sale = *listed,
                                    .item = *item,
                                    .who = *who,
                                    .token = body->has_token ? body->token.view() : std::string_view{},
                                    .key = request.idempotency_key,
                                    .units_waited_for = services_.purchases.units_waited_for(item->slot)},
                                   now);
    if (!id) return;

    switch (services_.purchases.submit({.slot = item->slot,
                                        .purchase = *id,
                                        .buyer = who->buyer,
                                        .units = body->quantity,
                                        .sink = gate_.index(),
                                        .reply_to = &exchange})) {
        case Submitted::queued:
            return;
        case Submitted::overloaded:
            return door_.refuse(exchange, Stage::queue, Code::overloaded);
        case Submitted::rebuilding:
            return door_.refuse(exchange, Stage::rebuilding, Code::rebuilding);
    }
}

void PurchaseEndpoints::decided(Exchange& exchange, const PurchaseReply& reply) {
    if (reply.verdict == Verdict::rebuilding)
        return door_.refuse(exchange, Stage::rebuilding, Code::rebuilding);
    if (reply.verdict == Verdict::overloaded) return door_.refuse(exchange, Stage::queue, Code::overloaded);
    const Book::ReserveAnswer& answer = reply.answer;
    const PurchaseOutcome outcome = outcome_of(reply);
    probe_.decided(outcome);
    announce(outcome, reply);

    switch (outcome) {
        case PurchaseOutcome::accepted:
        case PurchaseOutcome::repeated:
            return answer_accepted(exchange, answer);
        case PurchaseOutcome::sold_out:
            return door_.refuse(exchange, Stage::book, Code::sold_out);
        case PurchaseOutcome::sold_out_for_now:
            return door_.refuse(exchange, Stage::book, Code::sold_out_for_now);
        case PurchaseOutcome::not_open:
            return door_.refuse(exchange, Stage::book, Code::not_open);
        case PurchaseOutcome::ended:
            return door_.refuse(exchange, Stage::book, Code::ended);
        case PurchaseOutcome::paused:
            return door_.refuse(exchange, Stage::book, Code::paused);
        case PurchaseOutcome::limit_reached:
            if (answer.purchase == PurchaseId{})
                return door_.refuse(exchange, Stage::book, Code::limit_reached);
            return door_.refuse(exchange, Stage::book, limit_reached_, answer.purchase);
        case PurchaseOutcome::key_mismatch:
            return door_.refuse(exchange, Stage::book, key_mismatch_);
        case PurchaseOutcome::unknown:
            return door_.refuse(exchange, Stage::book, unknown_, reply.purchase);
    }
}

// Whoever hears of a purchase must find it, at whichever gate. The crowd that is refused hears
// of none, and must not make the gates forget what was not found.
void PurchaseEndpoints::announce(PurchaseOutcome outcome, const PurchaseReply& reply) {
    Arrivals& arrivals = services_.funnel_state.arrivals;
    switch (outcome) {
        case PurchaseOutcome::accepted:
        case PurchaseOutcome::repeated:
        case PurchaseOutcome::unknown:
            return arrivals.arrived(reply.purchase);
        case PurchaseOutcome::limit_reached:
            return arrivals.arrived(reply.answer.purchase);
        case PurchaseOutcome::sold_out:
        case PurchaseOutcome::sold_out_for_now:
        case PurchaseOutcome::not_open:
        case PurchaseOutcome::ended:
        case PurchaseOutcome::paused:
        case PurchaseOutcome::key_mismatch:
            return;
    }
}

void PurchaseEndpoints::answer_accepted(Exchange& exchange, const Book::ReserveAnswer& answer) {
    // The request is still there, and it was good when it was submitted.
    const Request& request = exchange.request();
    const std::string_view sale = PathParts(request.path)[2];
    const auto body = read_purchase_body(request.body);
    CHECK(body && body->faults.empty());

    const std::string id = answer.purchase.hex();
    const bool has_ended = answer.state == HoldState::finished;

    // Bound: the names of sale and item, three numbers, and below 250 bytes of all else.
    CHECK(sale.size() <= SaleId::bytes_max);
    std::array<char, 250 + SaleId::bytes_max + ItemId::bytes_max + 3 * 20> text;
    const char* const end = fmt::format_to(
        text.data(),
        FMT_COMPILE(
            R"({{"id":"{}","status":"{}","sale":"{}","item":"{}","quantity":{},"sequence":{},"accepted_at":"{}","accepted_at_ms":{}}})"),
        id, has_ended ? "cancelled" : "accepted", sale, body->item.view(), body->quantity, answer.sequence,
        shown(answer.accepted_at), to_ms(answer.accepted_at));

    std::array<char, no_store.size() + 60> headers;
    const char* const headers_end =
        fmt::format_to(headers.data(), FMT_COMPILE("{}Location: /v1/purchases/{}\r\n"), no_store, id);
    replies_.send(
        exchange,
        Response{.status = 202, .headers = {headers.data(), headers_end}, .body = {text.data(), end}});
}

// Those who were accepted together have the same moment.
std::string_view PurchaseEndpoints::shown(Instant at) {
    if (at != shown_at_ || shown_text_.empty()) {
        shown_at_ = at;
        shown_text_ = format_rfc3339(at);
    }
    return shown_text_;
}

void PurchaseEndpoints::show(Exchange& exchange, std::string_view purchase) {
    const auto who = door_.who(exchange, services_.clock.now());
    if (!who) return;
    const auto id = PurchaseId::from_hex(purchase);
    if (!id) return replies_.refuse(exchange, Code::not_found);

    replies_.look_up(exchange, not_found_, not_found_.question(*id, who->buyer),
                     [id = *id, buyer = who->buyer](Lookups::Readers& readers) -> Reply {
                         const auto found = find_purchase(readers, id, buyer);
                         if (!found) return failed_store(found.error());
                         if (!*found) return Problem{Code::not_found};
                         return Answer{.body = boost::json::serialize(purchase_json(**found))};
                     });
}

}  // namespace doorbuster
