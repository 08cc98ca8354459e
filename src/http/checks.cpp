#include "http/checks.hpp"

#include <algorithm>
#include <string>

#include "http/gate.hpp"

namespace doorbuster {

namespace {

// A gate whose clock is behind takes a check for good a while longer than the one that burned it.
constexpr std::chrono::seconds clocks_apart_max{60};

}  // namespace

CheckEndpoints::CheckEndpoints(Services& services, Replies& replies, Door& door, SalesEndpoints& sales)
    : services_(services),
      replies_(replies),
      door_(door),
      sales_(sales),
      challenges_(services.funnel_state.images),
      tokens_(services.funnel_state.burned) {}

template <class Answer>
void CheckEndpoints::with_sale(Exchange& exchange, std::string_view sale, Answer answer) {
    const Instant now = services_.clock.now();
    const auto who = door_.who(exchange, now);
    if (!who || !door_.lets_check(exchange, who->buyer)) return;
    const ListedSale* listed = sales_.find(sale);
    if (listed == nullptr) return door_.refuse(exchange, Stage::sale, Code::not_found);
    answer(*listed, *who, now);
}

void CheckEndpoints::challenge(Exchange& exchange, std::string_view sale) {
    with_sale(exchange, sale, [&](const ListedSale& listed, const Who& who, Instant now) {
        const FunnelRules& rules = door_.rules();
        const CheckReply reply =
            challenges_.make({.request = exchange.request(),
                              .listed = listed,
                              .who = who,
                              .pow = *rules.pow,
                              .image = *rules.image,
                              .pow_number_max = rules.pow_number_max,
                              .pow_target_per_second =
                                  rules.pow_target_per_second / static_cast<double>(services_.gate_threads),
                              .overload_level = static_cast<unsigned>(door_.level()),
                              .now = now,
                              .uptime = services_.clock.uptime()});
        send(exchange, who.buyer, reply);
    });
}

void CheckEndpoints::token(Exchange& exchange, std::string_view sale) {
    with_sale(exchange, sale, [&](const ListedSale& listed, const Who& who, Instant now) {
        const FunnelRules& rules = door_.rules();
        const Tokens::Answered answered = tokens_.answer({.request = exchange.request(),
                                                          .listed = listed,
                                                          .who = who,
                                                          .pow = *rules.pow,
                                                          .image = *rules.image,
                                                          .tokens = *rules.tokens,
                                                          .token_life = rules.token_life,
                                                          .now = now});
        const bool others_count = services_.marks != nullptr && answered.burned;
        others_count ? ask_others(exchange, who.buyer, answered, now)
                     : send(exchange, who.buyer, answered.reply);
    });
}

void CheckEndpoints::ask_others(Exchange& exchange, const BuyerId& buyer, const Tokens::Answered& answered,
                                Instant now) {
    // The token is made already and waits here: if another was first, nobody ever sees it.
    const auto* body = std::get_if<std::string_view>(&answered.reply);
    const milliseconds life = std::max(milliseconds(1), answered.burned->expires_at - now + clocks_apart_max);
    const bool asked = services_.marks->set(
        answered.burned->mark, life,
        [this, &exchange, buyer, is_right = body != nullptr,
         token = std::string(body ? *body : "")](MarkOutcome outcome) {
            exchange.gate().post([this, &exchange, buyer, is_right, token, outcome] {
                asked_others(exchange, buyer, is_right ? CheckReply(token) : Code::check_failed, outcome);
            });
        });
    if (!asked) asked_others(exchange, buyer, answered.reply, MarkOutcome::unknown);
}

void CheckEndpoints::asked_others(Exchange& exchange, const BuyerId& buyer, const CheckReply& if_first,
                                  MarkOutcome outcome) {
    const bool is_right = std::holds_alternative<std::string_view>(if_first);
    switch (outcome) {
        case MarkOutcome::first:
            return send(exchange, buyer, if_first);
        case MarkOutcome::again:
            return send(exchange, buyer, sent_again(is_right));
        case MarkOutcome::unknown:
            // What is known here counts here: a guesser gains nothing by the others' silence.
            if (!is_right) door_.strike(buyer, Strike::failed_check);
            return door_.refuse(exchange, Stage::check, Code::overloaded);
    }
}

void CheckEndpoints::send(Exchange& exchange, const BuyerId& buyer, const CheckReply& reply) {
    if (const auto* body = std::get_if<std::string_view>(&reply)) {
        return replies_.send(exchange, Response{.headers = no_store, .body = *body});
    }
    if (const auto* problem = std::get_if<Problem>(&reply)) {
        return door_.refuse(exchange, Stage::check, *problem);
    }
    if (std::holds_alternative<ExcusedCheck>(reply)) {
        return door_.refuse(exchange, Stage::check, Code::check_failed);
    }
    const Code code = std::get<Code>(reply);
    if (code == Code::check_failed) door_.strike(buyer, Strike::failed_check);
    door_.refuse(exchange, Stage::check, code);
}

}  // namespace doorbuster
