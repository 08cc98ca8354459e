// AdminApi: the calls of the admin listener. Every one but the two probes needs the key.
//
// Thread safety: its gate's thread; the probe may be read from any.
#pragma once

#include <memory>

#include "http/admin_audit.hpp"
#include "http/admin_events.hpp"
#include "http/admin_orders.hpp"
#include "http/admin_risk.hpp"
#include "http/admin_sales.hpp"
#include "http/gate.hpp"
#include "http/probes.hpp"
#include "http/replies.hpp"
#include "http/route.hpp"
#include "http/services.hpp"
#include "metrics/probe.hpp"

namespace doorbuster {

class AdminApi final : public Handler {
public:
    // Until the first catalogue arrives every call about sales is `rebuilding`.
    AdminApi(Services& services, RiskServices& risk);

    void set_catalogue(std::shared_ptr<const Catalogue>);

    void handle(Exchange&) override;
    void purchase_decided(Exchange&, const PurchaseReply&) override;

    const Probe& probe() const { return probe_; }

private:
    void handle_v1(Exchange&, const PathParts&);
    void handle_sale(Exchange&, const PathParts&);

    Services& services_;
    Probe probe_;
    Replies replies_;
    AdminSales sales_;
    AdminOrders orders_;
    AdminEvents events_;
    AdminRisk risk_;
    AdminAudit audit_;
    ProbeEndpoints probes_;
    bool has_catalogue_ = false;
};

// "Bearer KEY": the scheme in any case, the key compared in constant time. No key admits nobody.
bool is_admin(std::string_view authorization, std::string_view key);

}  // namespace doorbuster
