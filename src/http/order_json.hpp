// Orders and purchases as their buyer sees them.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "http/problem.hpp"
#include "http/request.hpp"
#include "orders/lookups.hpp"
#include "store/orders.hpp"

namespace doorbuster {

boost::json::object order_json(const OrderRecord&);

// As its buyer sees it, and with what the operator may know.
// The provider's address may have a place for the language, `{lang}`.
boost::json::object payment_json(const PaymentRecord&, Language);
boost::json::object admin_payment_json(const PaymentRecord&);

// What a buyer hears when a call about an order failed.
Problem order_problem(const StoreError&);

// accepted -> ordered with the order, or cancelled with the reason.
boost::json::object purchase_json(const PurchaseView&);

}  // namespace doorbuster
