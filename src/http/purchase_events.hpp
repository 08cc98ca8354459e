// PurchaseEvents: `GET /v1/purchases/{purchase}/events`, a purchase as server-sent events.
//
// Who may read a purchase may follow it: the same identity, the same "not found" with the
// same look-ups. `Last-Event-ID` names what the client has; what is not newer is not sent.
//
// Thread safety: its gate's thread, but for purchases_changed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "http/changed_purchases.hpp"
#include "http/door.hpp"
#include "http/event_streams.hpp"
#include "http/gate.hpp"
#include "http/replies.hpp"

namespace doorbuster {

// What all gates hold to.
struct EventTerms {
    Uptime stream_max, heartbeat;
    StreamRoom& room;
};

class PurchaseEvents {
public:
    PurchaseEvents(Services& services, const EventTerms& terms, Gate& gate, Replies& replies, Probe& probe,
                   Door& door, NegativeCache& not_found);

    void follow(Exchange&, std::string_view purchase);
    void tick() { streams_.tick(services_.clock.uptime()); }

    // From any thread. While nobody here follows any purchase it costs one load.
    void purchases_changed(std::span<const PurchaseId>);

private:
    bool look(uint64_t stream, const EventStreams::Subject&);
    void take_changed();

    Services& services_;
    Gate& gate_;
    Replies& replies_;
    Door& door_;
    NegativeCache& not_found_;
    EventStreams streams_;
    ChangedPurchases changed_;
    std::vector<PurchaseId> taken_;  // kept for its memory
};

}  // namespace doorbuster
