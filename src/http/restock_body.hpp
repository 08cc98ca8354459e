// {"item":"phone","units":100}: units that come in during a sale.
#pragma once

#include <boost/json/value.hpp>
#include <vector>

#include "sale/catalogue.hpp"

namespace doorbuster {

struct RestockReading {
    ItemId item;
    uint32_t units = 0;
    std::vector<Fault> faults;  // every one there is
};

RestockReading read_restock(const boost::json::value&, const ListedSale&);

}  // namespace doorbuster
