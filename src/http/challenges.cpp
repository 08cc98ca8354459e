#include "http/challenges.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/rfc3339.hpp"
#include "funnel/flat_object.hpp"
#include "http/json.hpp"

namespace doorbuster {

namespace {

// What is asked for, or why it cannot be.
struct Wish {
    std::optional<HumanCheck> kind = {};
    std::optional<CheckReply> refusal = {};
};

Wish read_wish(const Request& request) {
    if (request.method != Method::post) return {.kind = HumanCheck::pow};
    if (request.body.empty()) return {};
    if (!is_json_type(request.content_type)) return {.refusal = Code::unsupported_media};

    std::array<char, 16> room;
    std::array<char, flat_name_bytes_max> names;
    std::array<FlatField, 1> fields{FlatField{.name = "kind", .room = room}};
    const FlatReading reading = read_flat_object(request.body, fields, names);
    if (reading.fault == FlatFault::malformed) return {.refusal = Code::malformed};
    if (reading.fault == FlatFault::not_an_object) return {.refusal = invalid_check("", "must be an object")};
    if (reading.other_name) {
        return {.refusal = invalid_check(pointer_step(as_utf8(*reading.other_name)),
                                         "is not a field of a request for a check")};
    }
    const FlatField& kind = fields[0];
    if (kind.kind == FlatField::Kind::absent) return {};
    if (kind.value == "pow") return {.kind = HumanCheck::pow};
    if (kind.value == "image") return {.kind = HumanCheck::image};
    return {.refusal = invalid_check("/kind", R"(must be "pow" or "image")")};
}

// Every part is hexadecimal, a number or our own: nothing here needs escaping.
void append_pow(std::string& into, const PowChecks::Challenge& made) {
    fmt::format_to(
        std::back_inserter(into),
        R"({{"id":"{}","kind":"pow","algorithm":"{}","challenge":"{}","maxnumber":{},"salt":"{}","signature":"{}","expires_at":"{}","expires_at_ms":{}}})",
        made.id(), PowChecks::algorithm, std::string_view(made.challenge.data(), made.challenge.size()),
        made.number_max, made.salt(), made.id(), format_rfc3339(made.expires_at), to_ms(made.expires_at));
}

}  // namespace

CheckReply Challenges::make(const Ask& ask) {
    Wish wish = read_wish(ask.request);
    if (wish.refusal) return std::move(*wish.refusal);

    if (const auto closed = refusal_of(check_window(ask.listed, ask.now))) return *closed;
    const HumanCheck asked = check_asked(ask.listed.sale.human_check, ask.who.check);
    if (asked == HumanCheck::none) return no_check_asked();
    if (wish.kind.value_or(asked) == HumanCheck::pow) return make_pow_reply(ask);
    if (asked != HumanCheck::image) return invalid_check("/kind", "this sale asks for proof of work");
    return make_image(ask);
}

PowChecks::Challenge Challenges::make_pow(const Ask& ask) {
    PowChecks::Seed seed;
    std::array<uint8_t, sizeof seed.nonce + sizeof seed.number> random;
    fill_(random);
    std::memcpy(seed.nonce.data(), random.data(), seed.nonce.size());
    std::memcpy(&seed.number, random.data() + seed.nonce.size(), sizeof seed.number);

    difficulty_.set_target(ask.pow_target_per_second);
    const uint32_t of_sale = ask.listed.sale.pow_number_max;
    const uint32_t number_max =
        difficulty_.next(of_sale == 0 ? ask.pow_number_max : of_sale, ask.overload_level, ask.uptime);
    return ask.pow.make({.sale = ask.listed.sale.id, .buyer = ask.who.buyer}, seed, number_max, ask.now);
}

CheckReply Challenges::make_pow_reply(const Ask& ask) {
    body_.clear();
    append_pow(body_, make_pow(ask));
    return body_;
}

CheckReply Challenges::make_image(const Ask& ask) {
    const auto picture = images_.take();
    if (!picture) {
        // Not one is drawn yet: what is offered beside a picture stands in for it.
        images_.begin();
        return make_pow_reply(ask);
    }

    ImageChecks::Nonce nonce;
    fill_(nonce);
    const auto made =
        ask.image.make(picture->text(), {.sale = ask.listed.sale.id, .buyer = ask.who.buyer}, nonce, ask.now);
    body_.clear();
    fmt::format_to(std::back_inserter(body_),
                   R"({{"id":"{}","kind":"image","image":"{}","expires_at":"{}","expires_at_ms":{},"pow":)",
                   made.id, picture->data_uri(), format_rfc3339(made.expires_at), to_ms(made.expires_at));
    append_pow(body_, make_pow(ask));
    body_ += '}';
    return body_;
}

}  // namespace doorbuster
