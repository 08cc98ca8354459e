// AdminAudit: recounting a sale, what earlier counts found, and playing it once more.
//
//   POST /v1/sales/{sale}/reconcile               {"repair":false,"acknowledge":[]}
//   POST /v1/sales/{sale}/replay
//   GET  /v1/sales/{sale}/reconciliations         newest first; ?before={run}
//   GET  /v1/sales/{sale}/reconciliations/{run}   JSON, or a page for `Accept: text/html`
//
// Thread safety: its gate's thread.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string_view>
#include <vector>

#include "audit/audit_desk.hpp"
#include "base/result.hpp"
#include "http/replies.hpp"

namespace doorbuster {

class AdminAudit {
public:
    AdminAudit(Services& services, Replies& replies) : services_(services), replies_(replies) {}

    // False if the path is none of these calls.
    bool handle(Exchange&);

private:
    void reconcile(Exchange&, const SaleId&);
    void replay(Exchange&, const SaleId&);
    void list(Exchange&, const SaleId&);
    void show(Exchange&, const SaleId&, std::string_view run);
    void on_audit_thread(Exchange&, std::function<void(audit::AuditDesk&)> task);

    Services& services_;
    Replies& replies_;
};

// {"repair":true,"acknowledge":["sequence_gap:phone-drop:…"]}
Result<audit::Wish, std::vector<Fault>> read_reconcile(const boost::json::value& body);

}  // namespace doorbuster
