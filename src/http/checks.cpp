#include "http/checks.hpp"

namespace doorbuster {

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
    send(exchange, *who, answer(*listed, *who, now));
}

void CheckEndpoints::challenge(Exchange& exchange, std::string_view sale) {
    with_sale(exchange, sale, [&](const ListedSale& listed, const Who& who, Instant now) {
        const FunnelRules& rules = door_.rules();
        return challenges_.make({.request = exchange.request(),
                                 .listed = listed,
                                 .who = who,
                                 .pow = *rules.pow,
                                 .image = *rules.image,
                                 .pow_number_max = rules.pow_number_max,
                                 .pow_target_per_second = rules.pow_target_per_second /
                                                          static_cast<double>(services_.gate_threads),
                                 .overload_level = static_cast<unsigned>(door_.level()),
                                 .now = now,
                                 .uptime = services_.clock.uptime()});
    });
}

void CheckEndpoints::token(Exchange& exchange, std::string_view sale) {
    with_sale(exchange, sale, [&](const ListedSale& listed, const Who& who, Instant now) {
        const FunnelRules& rules = door_.rules();
        return tokens_.answer({.request = exchange.request(),
                               .listed = listed,
                               .who = who,
                               .pow = *rules.pow,
                               .image = *rules.image,
                               .tokens = *rules.tokens,
                               .token_life = rules.token_life,
                               .now = now});
    });
}

void CheckEndpoints::send(Exchange& exchange, const Who& who, const CheckReply& reply) {
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
    if (code == Code::check_failed) door_.strike(who.buyer, Strike::failed_check);
    door_.refuse(exchange, Stage::check, code);
}

}  // namespace doorbuster
