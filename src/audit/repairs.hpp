// What would mend a difference: proposed from the same records that showed it.
//
// A proposal is pure: nothing is read, nothing done. The store carries it out, under the
// conditions that it names, or finds that the records have changed meanwhile.
//
// A machine takes away only what is unpaid, and decides nothing about money that it can ask the
// provider about. What it cannot decide (a paid order that nobody accepted, a gap in the ledger)
// it leaves: somebody looks at it and acknowledges it by its key.
#pragma once

#include <map>
#include <vector>

#include "audit/difference.hpp"
#include "audit/records.hpp"
#include "store/audit_store.hpp"

namespace doorbuster::audit {

class Repairs {
public:
    // REQUIRES: the records outlive this.
    explicit Repairs(const Records&);

    // Its key is the difference's.
    Repair propose(const Difference&, Instant now) const;

private:
    const OrderRecord* order(const Difference&) const;
    const PaymentRecord* payment(const Difference&) const;

    Repair shift_units(const Difference&) const;
    Repair place(const Difference&) const;
    Repair cancel_unexplained(const Difference&) const;
    Repair cancel_purchase(const Difference&) const;
    Repair settle_payment(const Difference&, Instant now) const;
    Repair ask_about_missing(const OrderRecord&, Instant now) const;
    Repair refund_capture(const Difference&, Instant now) const;
    Repair cancel_newest(const Difference&) const;
    Repair release(const Difference&) const;
    Repair after_release(const Difference&) const;
    Repair sell(const Difference&) const;

    const Records& records_;
    std::map<OrderId, const OrderRecord*> orders_;
    std::map<PurchaseId, const OrderRecord*> orders_by_purchase_;
    std::map<BuyerId, std::vector<const OrderRecord*>> orders_of_;
    std::map<OrderId, std::vector<const PaymentRecord*>> payments_;
    std::map<uint64_t, const LedgerRecord*> ledger_;
};

inline constexpr std::string_view reason_not_accepted = "no record of its acceptance was found";
inline constexpr std::string_view reason_over_limit = "it was beyond the buyer's limit";
inline constexpr std::string_view reason_order_lost = "its order was lost";
inline constexpr std::string_view reason_never_paid = "no payment for it was found";

}  // namespace doorbuster::audit
