// Judge: holds the promises against what is answered and what the records say.
//
// It knows nothing of the book's rules or state: it adds up the durable records.
#pragma once

#include <map>
#include <set>

#include "sim/world.hpp"

namespace doorbuster::sim {

class Judge {
public:
    explicit Judge(World& world) : world_(world) {}

    // At the moment an answer leaves the process.
    void answered(const Ask& ask, const Answer& answer);

    // When the faults are over and nothing is under way any more.
    void at_rest();

    // Units of the item that the records show to be free.
    int64_t units_free(const ItemId& item) const;
    // Where payment takes the unit: how many units' worth of orders may still be opened.
    int64_t slots_free(const ItemId& item) const;

private:
    struct Counted {
        int64_t taken = 0, open = 0, of_buyer = 0;
    };
    // Of what is accepted in the ledger and not ended in the orders: units taken, and units
    // that open orders will take when they are paid.
    Counted count(const ItemId& item, const BuyerId& buyer) const;
    const SaleRecord& sale() const { return world_.orders.sales.begin()->second; }
    const Item& terms(const ItemId& item) const;
    void broke(const Ask& ask, const Answer& answer, const std::string& why);

    World& world_;
    std::map<PurchaseId, uint64_t> promised_;  // every yes that left the process, and its sequence
};

}  // namespace doorbuster::sim
