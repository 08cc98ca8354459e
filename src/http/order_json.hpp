// Orders and purchases as their buyer sees them.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "orders/lookups.hpp"
#include "store/orders.hpp"

namespace doorbuster {

boost::json::object order_json(const OrderRecord&);

// accepted -> ordered with the order, or cancelled with the reason.
boost::json::object purchase_json(const PurchaseView&);

}  // namespace doorbuster
