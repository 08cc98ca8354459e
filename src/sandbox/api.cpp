#include "sandbox/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/check.hpp"
#include "base/crypto.hpp"
#include "http/json.hpp"
#include "http/language.hpp"
#include "http/route.hpp"
#include "sandbox/intent_body.hpp"
#include "sandbox/pay_page.hpp"

namespace doorbuster::sandbox {

namespace {

namespace json = boost::json;
using Verdict = SandboxProvider::Verdict;

constexpr std::string_view payments_path = "/v1/payments/", page_path = "/pay/";
constexpr uint64_t list_default = 100, list_max = 1000;

Reply json_reply(unsigned status, const json::object& body) {
    return {.status = status, .body = json::serialize(body)};
}

Reply refusal(unsigned status, std::string_view error, std::string_view detail) {
    return json_reply(status, {{"error", error}, {"detail", detail}});
}

Reply no_such_call() {
    return refusal(404, "not_found", "there is no such call");
}

Reply html_reply(unsigned status, std::string body) {
    return {.status = status, .content_type = "text/html; charset=utf-8", .body = std::move(body)};
}

// A number of the query; nothing if it is none.
std::optional<uint64_t> number_in(std::string_view query, std::string_view name, uint64_t otherwise) {
    const auto text = query_field(query, name);
    return text ? parse_number<uint64_t>(*text) : otherwise;
}

struct KeyAndVerb {
    std::string_view key, verb;
};

// "{key}" or "{key}/{verb}"; nothing for what is no key.
std::optional<KeyAndVerb> parse_key(std::string_view path) {
    const size_t slash = path.find('/');
    const std::string_view key = path.substr(0, slash);
    if (!is_key(key)) return std::nullopt;
    return KeyAndVerb{key, slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1)};
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    return target.substr(std::min(path_of(target).size() + 1, target.size()));
}

// The one that the shop's page has handed over, or that the browser likes.
Language language_of(const Ask& ask) {
    const std::string_view wanted = query_field(query_of(ask.target), "lang").value_or("");
    for (const Language language : {Language::en, Language::zh_hans, Language::zh_hant}) {
        if (tag_of(language) == wanted) return language;
    }
    return choose_language(ask.accept_language);
}

}  // namespace

bool SandboxApi::is_merchants(const Ask& ask) {
    const std::string_view path = path_of(ask.target);
    return path.starts_with(payments_path) && !path.ends_with("/capture") && !path.ends_with("/decline");
}

Reply SandboxApi::answer(const Ask& ask, const Moment& at) {
    const std::string_view path = path_of(ask.target);
    if (path.starts_with(page_path)) return answer_page(ask, path.substr(page_path.size()), at);
    if (!path.starts_with("/v1/")) return no_such_call();

    constexpr std::string_view scheme = "Bearer ";
    const bool is_ours = ask.authorization.starts_with(scheme) &&
                         equal_in_constant_time(ask.authorization.substr(scheme.size()), api_key_);
    if (!is_ours) return refusal(401, "unauthenticated", "the API key is missing or another one");

    if (path == "/v1/faults") return answer_faults(ask);
    if (path == "/v1/payments" && ask.method == "GET") {
        return answer_list(query_of(ask.target));
    }
    if (path.starts_with(payments_path)) return answer_payment(ask, path.substr(payments_path.size()), at);
    return no_such_call();
}

Reply SandboxApi::reply_of(const SandboxProvider::Outcome& outcome) const {
    switch (outcome.verdict) {
        case Verdict::done:
            return json_reply(200, payment_json(*outcome.payment, provider_.public_url()));
        case Verdict::made:
            return json_reply(201, payment_json(*outcome.payment, provider_.public_url()));
        case Verdict::unknown:
            return json_reply(404, {{"state", "unknown"}});
        case Verdict::conflict:
            return json_reply(409, {{"error", "conflict"},
                                    {"detail", "the payment is another one, or no longer allows it"},
                                    {"state", word_of(outcome.payment->state)}});
        case Verdict::full:
            return refusal(503, "full", "the sandbox keeps no more payments");
    }
    CHECK(false);
    return {};
}

Reply SandboxApi::answer_payment(const Ask& ask, std::string_view path, const Moment& at) {
    const auto named = parse_key(path);
    if (!named) return refusal(422, "invalid", "a key is 1 to 64 letters, digits, - or _");
    const auto [key, verb] = *named;
    if (ask.method == "GET" && verb.empty()) return reply_of(provider_.find(key));
    if (ask.method == "PUT" && verb.empty()) {
        const auto intent = parse_intent(ask.body);
        if (!intent) return refusal(422, "invalid", intent.error());
        return reply_of(provider_.create(key, *intent, at));
    }
    if (ask.method != "POST") return no_such_call();
    if (verb == "void") return reply_of(provider_.void_payment(key, at));
    if (verb == "capture") return reply_of(provider_.capture(key, at));
    if (verb == "decline") return reply_of(provider_.decline(key, at));
    if (verb != "refund") return no_such_call();
    const auto refunded = provider_.refund(key, at);
    // Nothing to refund is a conflict, whether or not the key is known.
    if (refunded.verdict != Verdict::unknown) return reply_of(refunded);
    return json_reply(409,
                      {{"error", "conflict"}, {"detail", "there is no such payment"}, {"state", "unknown"}});
}

Reply SandboxApi::answer_list(std::string_view query) {
    const auto after = number_in(query, "after", 0), limit = number_in(query, "limit", list_default);
    if (!after || !limit || *limit == 0) return refusal(422, "invalid", "after and limit are whole numbers");
    const uint64_t begin = std::min<uint64_t>(*after, provider_.payments());
    const uint64_t end = std::min<uint64_t>(begin + std::min(*limit, list_max), provider_.payments());
    json::array payments;
    for (uint64_t i = begin; i < end; ++i) {
        payments.push_back(payment_json(provider_.payment(i), provider_.public_url()));
    }
    json::object answer{{"payments", std::move(payments)}, {"next", nullptr}};
    if (end < provider_.payments()) answer["next"] = end;
    return json_reply(200, answer);
}

Reply SandboxApi::answer_faults(const Ask& ask) {
    if (ask.method == "PUT") {
        const auto value = parse_json(ask.body);
        const json::value* wanted =
            value && value->is_object() ? value->get_object().if_contains("faults") : nullptr;
        if (wanted == nullptr || !wanted->is_array()) {
            return refusal(422, "invalid", R"(write {"faults":["lost"]})");
        }
        std::string list;
        for (const json::value& word : wanted->get_array()) {
            list += word.is_string() ? std::string(word.get_string()) : "?";
            list += ',';
        }
        const auto faults = FaultSet::parse(list);
        if (!faults) return refusal(422, "invalid", faults.error());
        provider_.set_faults(*faults);
    } else if (ask.method != "GET") {
        return no_such_call();
    }
    json::array words;
    for (const std::string_view word : provider_.faults().words()) words.push_back(json::string(word));
    const WebhookCounts counts = counts_();
    return json_reply(200, {{"faults", std::move(words)},
                            {"webhooks",
                             {{"delivered", counts.delivered},
                              {"given_up", counts.given_up},
                              {"dropped", counts.dropped},
                              {"waiting", counts.waiting},
                              {"forged_sent", counts.forged_sent},
                              {"forged_accepted", counts.forged_accepted}}}});
}

Reply SandboxApi::answer_page(const Ask& ask, std::string_view path, const Moment& at) {
    const Language language = language_of(ask);
    const auto named = parse_key(path);
    const auto found = named ? provider_.find(named->key) : SandboxProvider::Outcome{Verdict::unknown};
    if (found.verdict == Verdict::unknown) return html_reply(404, unknown_payment_page(language));
    const auto [key, verb] = *named;
    if (ask.method == "GET" && verb.empty()) return html_reply(200, pay_page(*found.payment, language));
    if (ask.method != "POST" || (verb != "capture" && verb != "decline")) {
        return html_reply(404, unknown_payment_page(language));
    }
    // Too late or twice: the page that follows says how it stands.
    const auto acted = verb == "capture" ? provider_.capture(key, at) : provider_.decline(key, at);
    static_cast<void>(acted);
    Reply to_page = html_reply(303, "");
    to_page.location = fmt::format("{}{}?lang={}", page_path, key, tag_of(language));
    return to_page;
}

}  // namespace doorbuster::sandbox
