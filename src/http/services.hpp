// Services: what the endpoints work with. Borrowed; main owns them all.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "funnel/funnel.hpp"
#include "orders/lookups.hpp"
#include "orders/orders_thread.hpp"
#include "orders/sale_desk.hpp"
#include "sale/catalogue.hpp"
#include "shard/owner.hpp"

namespace doorbuster {

struct Services {
    Clock& clock;
    Owner& owner;
    Lookups& lookups;
    OrdersThread& orders_thread;  // the sale desk and the orders may be used only in its tasks
    SaleDesk& desk;
    Orders& orders;
    BookControl& books;
    FunnelState funnel_state;
    std::shared_ptr<const FunnelRules> funnel_rules;  // as at the start; the gates get newer ones
    double pow_per_second_target = 0;  // checks that one gate thread may hand out before they get harder
    std::string admin_key;
    bool demo_sign_in = false;                  // `doorbuster dev` only
    std::function<std::string()> metrics_text;  // Prometheus text format
    std::function<bool()> is_ready;
};

}  // namespace doorbuster
