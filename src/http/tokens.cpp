#include "http/tokens.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "base/rfc3339.hpp"
#include "funnel/flat_object.hpp"
#include "http/json.hpp"

namespace doorbuster {

struct Tokens::Body {
    std::array<char, ItemId::bytes_max> item_room;
    std::array<char, 128> challenge_room;
    std::array<char, PowChecks::answer_bytes_max> answer_room;
    std::array<char, flat_name_bytes_max> names;
    std::array<FlatField, 3> fields{FlatField{.name = "item", .room = item_room},
                                    FlatField{.name = "challenge", .room = challenge_room},
                                    FlatField{.name = "answer", .room = answer_room}};

    const FlatField& item() const { return fields[0]; }
    const FlatField& challenge() const { return fields[1]; }
    const FlatField& answer() const { return fields[2]; }
    bool has_challenge() const { return challenge().kind != FlatField::Kind::absent; }
    // By the shape of the id: a proof of work's is its signature.
    bool is_pow() const { return !has_challenge() || challenge().value.size() == 64; }

    // What makes it 400, 415 or 422.
    std::optional<CheckReply> read(const Request&);
};

std::optional<CheckReply> Tokens::Body::read(const Request& request) {
    if (!is_json_type(request.content_type)) return Code::unsupported_media;
    const FlatReading reading = read_flat_object(request.body, fields, names);
    if (reading.fault == FlatFault::malformed) return Code::malformed;
    if (reading.fault == FlatFault::not_an_object) return invalid_check("", "must be an object");

    std::vector<Fault> faults;
    if (reading.other_name) {
        faults.push_back({pointer_step(as_utf8(*reading.other_name)), "is not a field of an answer"});
    }
    if (item().kind == FlatField::Kind::absent) {
        faults.push_back({"/item", "is required"});
    } else if (item().kind != FlatField::Kind::text) {
        faults.push_back({"/item", "must be the id of an item, as text"});
    }
    if (has_challenge() && challenge().kind != FlatField::Kind::text) {
        faults.push_back({"/challenge", "must be the id of a check, as text"});
    }
    if (answer().kind == FlatField::Kind::absent) {
        faults.push_back({"/answer", "is required"});
    } else if (answer().kind != FlatField::Kind::text || answer().overlong) {
        faults.push_back(
            {"/answer", fmt::format("must be text of at most {} bytes", PowChecks::answer_bytes_max)});
    }
    if (faults.empty()) return std::nullopt;
    return Problem{.code = Code::invalid, .faults = std::move(faults)};
}

Tokens::Answered Tokens::answer(const Ask& ask) {
    Body body;
    if (auto refusal = body.read(ask.request)) return {std::move(*refusal)};

    if (const auto closed = refusal_of(check_window(ask.listed, ask.now))) return {*closed};
    if (check_asked(ask.listed.sale.human_check, ask.who.check) == HumanCheck::none)
        return {no_check_asked()};
    // Before the check is touched: a slip in the item's name burns nothing.
    const ListedItem* item = ask.listed.find(body.item().value);
    if (item == nullptr) return {Code::not_found};

    return body.is_pow() ? answer_pow(ask, body, item->item.id) : answer_image(ask, body, item->item.id);
}

Tokens::Answered Tokens::answer_pow(const Ask& ask, const Body& body, const ItemId& item) {
    const auto read =
        ask.pow.read(body.answer().value, {.sale = ask.listed.sale.id, .buyer = ask.who.buyer}, ask.now);
    if (!read) return {refusal_of(read.error())};
    const bool is_named = !body.has_challenge() || body.challenge().value == read->id();
    return settle(ask, item, {read->id(), {read->mark, read->expires_at}, read->is_right && is_named});
}

Tokens::Answered Tokens::answer_image(const Ask& ask, const Body& body, const ItemId& item) {
    const std::string_view id = body.challenge().value;
    const auto read = ask.image.read(id, body.answer().value,
                                     {.sale = ask.listed.sale.id, .buyer = ask.who.buyer}, ask.now);
    if (!read) return {refusal_of(read.error())};
    return settle(ask, item, {id, {read->mark, read->expires_at}, read->is_right});
}

Tokens::Answered Tokens::settle(const Ask& ask, const ItemId& item, const Judged& judged) {
    switch (burned_.burn(judged.check.mark, judged.check.expires_at)) {
        case Burn::full:
            return {Code::overloaded};
        case Burn::again:
            return {sent_again(judged.is_right)};
        case Burn::first:
            break;
    }
    if (!judged.is_right) return {Code::check_failed, judged.check};
    return {mint(ask, item, judged.id), judged.check};
}

CheckReply Tokens::mint(const Ask& ask, const ItemId& item, std::string_view check) {
    const Sale& sale = ask.listed.sale;
    const TokenScope scope{.sale = sale.id, .item = item, .buyer = ask.who.buyer};
    const Instant expires_at = token_expiry(ask.now, sale.opens_at, sale.closes_at, ask.token_life);
    const std::string token = ask.tokens.of(sale.id, item)
                                  .mint(purchase_of_check(check, scope), ask.who.buyer,
                                        {.issued_at = ask.now, .expires_at = expires_at});
    body_.clear();
    fmt::format_to(std::back_inserter(body_), R"({{"token":"{}","expires_at":"{}","expires_at_ms":{}}})",
                   token, format_rfc3339(expires_at), to_ms(expires_at));
    return body_;
}

}  // namespace doorbuster
