// PurchaseSnapshot: a purchase at one moment, as an event of a stream.
//
//   event: ordered
//   id: 2
//   data: {what GET /v1/purchases/{id} says, in one line}
//
// The event is the purchase's status; changes of its order are further events of the same
// name. The id is a version that grows: 0 accepted, 1 cancelled without an order, then one more
// than the order's own, which begins at 1: a purchase that was put aside and became an order
// after all is news, too. So a client that has seen one id needs nothing older.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "http/problem.hpp"
#include "orders/lookups.hpp"
#include "sale/ids.hpp"

namespace doorbuster {

struct PurchaseSnapshot {
    uint64_t version = 0;
    bool is_final = false;  // there is nothing left to wait for
    std::string event;      // as it goes over the wire, its empty line included
};
PurchaseSnapshot snapshot_of(const PurchaseView&);

// A commit may fall between the read of the purchase and the read of its order. Such a view
// has the new version and not yet the new status, and the right one would not be newer.
bool may_be_torn(const PurchaseView&);

// What its buyer may know of the purchase. On a look-up thread.
using LookedUp = std::variant<PurchaseSnapshot, Problem>;
LookedUp look_up_snapshot(Lookups::Readers&, const PurchaseId&, const BuyerId&);

}  // namespace doorbuster
