// PurchaseBody: what a buyer asks for, read from the request without allocating.
//
//   {"item":"phone","quantity":1}
//
// Closed: a field that is not known is a fault, so that nobody believes that a price
// or a status in the body counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sale/ids.hpp"
#include "sale/sale.hpp"

namespace doorbuster {

struct PurchaseBody {
    ItemId item;  // empty where there is none, or one that no item can have
    uint32_t quantity = 1;
    bool has_token = false;
    std::vector<Fault> faults;  // what makes it 422; empty if it can be asked for
};

// Nothing for text that is no JSON, is nested too deep or names a field twice: 400.
std::optional<PurchaseBody> read_purchase_body(std::string_view text);

}  // namespace doorbuster
