// PublicApi: the calls of the public listener. One per gate thread.
//
// Thread safety: its gate's thread, but for purchases_changed; the probe may be read from any.
#pragma once

#include <memory>
#include <span>

#include "http/checks.hpp"
#include "http/cors.hpp"
#include "http/door.hpp"
#include "http/gate.hpp"
#include "http/orders.hpp"
#include "http/pages.hpp"
#include "http/payments.hpp"
#include "http/purchase_events.hpp"
#include "http/purchases.hpp"
#include "http/replies.hpp"
#include "http/route.hpp"
#include "http/sales.hpp"
#include "http/services.hpp"
#include "metrics/probe.hpp"

namespace doorbuster {

class PublicApi final : public Handler {
public:
    // Until the first catalogue arrives everything but the time is `rebuilding`.
    PublicApi(Services& services, Gate& gate, const EventTerms& events);

    void set_catalogue(std::shared_ptr<const Catalogue>);
    void set_rules(std::shared_ptr<const FunnelRules> rules);
    void set_page(const std::string& path, std::shared_ptr<const Page> page) {
        pages_.set_page(path, std::move(page));
    }

    void handle(Exchange&) override;
    void purchase_decided(Exchange&, const PurchaseReply&) override;
    void tick() override { events_.tick(); }

    // From any thread: who follows them is told.
    void purchases_changed(std::span<const PurchaseId> purchases) { events_.purchases_changed(purchases); }

    const Probe& probe() const { return probe_; }
    const NegativeCache& not_found() const { return not_found_; }

private:
    void handle_v1(Exchange&, const PathParts&);
    void handle_sale(Exchange&, const PathParts&);
    void time(Exchange&);
    void page(Exchange&, const PathParts&);
    void closed_page(Exchange&);
    void preflight(Exchange&, const PathParts&);
    void openapi(Exchange&);
    void sign_in(Exchange&);

    // Calls `read` for GET and HEAD, refuses other methods.
    template <class Read>
    void reading(Exchange&, Read read);
    bool is_rebuilding();

    Services& services_;
    Probe probe_;
    Replies replies_;
    Door door_;
    NegativeCache not_found_;
    SalesEndpoints sales_;
    PurchaseEndpoints purchases_;
    PurchaseEvents events_;
    OrderEndpoints orders_;
    PaymentEndpoints payments_;
    CheckEndpoints checks_;
    PageEndpoints pages_;
    Cors cors_;
    const std::string openapi_headers_, openapi_etag_;
    bool has_catalogue_ = false;
    bool was_ready_ = false;  // stays so: the books do not go away again
};

}  // namespace doorbuster
