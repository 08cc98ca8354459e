#include "http/purchase_snapshot.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "http/order_json.hpp"
#include "http/replies.hpp"

namespace doorbuster {

namespace {

uint64_t version_of(const PurchaseView& view) {
    if (view.order) return view.order->version + 1;
    return view.placed ? 1 : 0;
}

}  // namespace

bool may_be_torn(const PurchaseView& view) {
    if (!view.placed || !view.order) return false;
    const bool has_ended = view.placed->state == PurchaseState::cancelled;
    return has_ended != (view.order->hold == HoldState::finished);
}

PurchaseSnapshot snapshot_of(const PurchaseView& view) {
    const auto fields = purchase_json(view);
    const uint64_t version = version_of(view);
    return {.version = version,
            .is_final = view.placed && view.placed->state == PurchaseState::cancelled && !view.order,
            .event = fmt::format("event: {}\nid: {}\ndata: {}\n\n",
                                 std::string_view(fields.at("status").get_string()), version,
                                 boost::json::serialize(fields))};
}

LookedUp look_up_snapshot(Lookups::Readers& readers, const PurchaseId& purchase, const BuyerId& buyer) {
    auto found = find_purchase(readers, purchase, buyer);
    // A second read begins after the commit that tore the first.
    if (found && *found && may_be_torn(**found)) found = find_purchase(readers, purchase, buyer);
    if (!found) return failed_store(found.error());
    if (!*found) return Problem{Code::not_found};
    return snapshot_of(**found);
}

}  // namespace doorbuster
