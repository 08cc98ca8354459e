// A sale as JSON: how it is shown, and how an operator's is read.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <vector>

#include "sale/catalogue.hpp"
#include "sale/sale.hpp"
#include "store/orders.hpp"

namespace doorbuster {

// What the operator may send: the sale's own fields, none of those that the server keeps.
boost::json::object sale_terms_json(const Sale&);

// What everybody may see.
boost::json::object sale_json(const Sale&, SaleState);
boost::json::object sale_json(const ListedSale&, SaleState shown);

// What the operator sees: with the version that If-Match wants.
boost::json::object admin_sale_json(const ListedSale&);
boost::json::object admin_sale_json(const SaleRecord&);

// [{"id","units_total","units_available","units_held","units_sold"},…], as of now. Text, because
// every waiting buyer's page asks for it.
std::string stock_text(const ListedSale&);

struct SaleReading {
    Sale sale;
    std::optional<SaleState> state;  // where the text names one
    std::vector<Fault> faults;       // every one there is; the sale is good if there is none
};

// Reads a sale and reports every fault at once: wrong types, unknown and missing
// fields, whatever faults_of finds in the fields that could be read, and an end that has
// passed at `now`: such a sale would close as soon as it is there.
SaleReading read_sale(const boost::json::value&, Instant now);

// `current` with the top-level fields of `patch` (RFC 7396: null removes, so that the
// default counts again). Faults as read_sale's, but an end that has passed is one only if the
// patch sets it or schedules the sale; the id cannot be changed.
SaleReading read_sale_patch(const Sale& current, const boost::json::value& patch, Instant now);

}  // namespace doorbuster
