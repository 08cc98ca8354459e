// Door: the funnel, as the endpoints of one gate thread use it. It hands the funnel what the
// request says, answers the refusals and counts them by stage.
//
// Thread safety: its gate's thread.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "funnel/funnel.hpp"
#include "http/replies.hpp"
#include "http/response.hpp"

namespace doorbuster {

class Door {
public:
    Door(Services& services, Replies& replies, Probe& probe)
        : services_(services),
          replies_(replies),
          probe_(probe),
          funnel_(services.funnel_state, services.funnel_rules) {}

    void set_rules(std::shared_ptr<const FunnelRules> rules) { funnel_.set_rules(std::move(rules)); }

    // Each refuses the request, and says so, if a stage does not let it pass.
    [[nodiscard]] bool lets_in(Exchange&, RequestKind);
    [[nodiscard]] std::optional<Who> who(Exchange&, Instant now);
    [[nodiscard]] bool lets_check(Exchange&, const BuyerId&);
    [[nodiscard]] std::optional<PurchaseId> lets_ask(Exchange&, const Funnel::Attempt&, Instant now);

    // What a buyer sent cannot be a purchase. Whoever sends too much hears that instead, and nothing is made
    // for them: `why` is a code, or makes the Problem when it is called.
    template <class Why>
    void turn_away(Exchange&, const BuyerId&, Stage, const Why& why);

    void refuse(Exchange&, const Ruling&);
    void refuse(Exchange&, Stage, Code);
    void refuse(Exchange&, Stage, const Problem&);
    void refuse(Exchange&, Stage, const PreparedRefusal&, const PurchaseId& named = {});

    void strike(const BuyerId& buyer, Strike strike) {
        services_.funnel_state.strikes.strike(buyer, strike, services_.clock.uptime());
    }
    Level level() const { return services_.funnel_state.level.in_force(); }
    const FunnelRules& rules() const { return funnel_.rules(); }

private:
    Services& services_;
    Replies& replies_;
    Probe& probe_;
    Funnel funnel_;

    const PreparedRefusal token_not_asked_{
        {.code = Code::invalid, .faults = {{"/token", "this sale asks for no token"}}}};
};

template <class Why>
void Door::turn_away(Exchange& exchange, const BuyerId& buyer, Stage stage, const Why& why) {
    const Ruling ruling = funnel_.ask_in_vain(buyer, services_.clock.uptime());
    if (!ruling.passes()) return refuse(exchange, ruling);
    if constexpr (std::is_invocable_v<const Why&>) {
        refuse(exchange, stage, why());
    } else {
        refuse(exchange, stage, why);
    }
}

}  // namespace doorbuster
