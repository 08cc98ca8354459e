// Services: what the endpoints work with. Borrowed; main owns them all.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/standard_webhooks.hpp"
#include "funnel/funnel.hpp"
#include "orders/letters_desk.hpp"
#include "orders/lookups.hpp"
#include "orders/notifier.hpp"
#include "orders/orders_thread.hpp"
#include "orders/payment_desk.hpp"
#include "orders/sale_desk.hpp"
#include "orders/worker.hpp"
#include "sale/catalogue.hpp"
#include "store/books_rebuild.hpp"
#include "store/purchase_desk.hpp"
#include "store/shared_marks.hpp"

namespace doorbuster {

namespace audit {
class AuditDesk;
}

struct Services {
    Clock& clock;
    PurchaseDesk& purchases;
    Lookups& lookups;
    OrdersThread& orders_thread;  // the sale desk and the orders may be used only in its tasks
    SaleDesk& desk;
    PaymentDesk& payments;
    LettersDesk& letters;
    Orders& orders;
    Outbox& outbox;      // on the orders thread, as the orders
    Notifier& notifier;  // there, too
    BookControl& books;
    std::function<OrderFigures()> order_figures;
    BooksRebuild* rebuilds = nullptr;  // on the orders thread; none: the books are this process' own
    // Runs the task on the audit thread; false if that has no room.
    std::function<bool(std::function<void(audit::AuditDesk&)>)> on_audit_thread{};
    FunnelState funnel_state;
    SharedMarks* marks = nullptr;  // where several processes serve: a check counts once among them all
    std::shared_ptr<const FunnelRules> funnel_rules;  // as at the start; the gates get newer ones
    size_t gate_threads = 1;                      // among which what the server may do per second is shared
    std::vector<WebhookSecret> provider_secrets;  // of the payment provider's events; none: none are taken
    std::string admin_key;
    bool demo_sign_in = false;                  // `doorbuster dev` only
    std::function<std::string()> metrics_text;  // Prometheus text format
    std::function<bool()> is_ready;
};

}  // namespace doorbuster
