// Entries for the contract tests.
#pragma once

#include "sale/testing.hpp"
#include "store/orders.hpp"

namespace doorbuster::testing {

inline LedgerEntry entry(uint32_t id, const BuyerId& buyer = alice, uint32_t units = 1) {
    return {SaleId("phone-drop"), ItemId("phone"), {purchase(id), buyer, units, id, t0 + milliseconds(id)}};
}

inline Placement placement(uint64_t position, const LedgerEntry& what) {
    return {{.position = position, .entry = what, .raw = {}}, OrderId{static_cast<int64_t>(1000 + position)}};
}

}  // namespace doorbuster::testing
