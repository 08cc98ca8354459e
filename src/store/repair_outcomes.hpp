// What those who keep the records in memory have to hear of a repair, whichever store carried it out.
#pragma once

#include "store/audit_store.hpp"

namespace doorbuster {

inline const RepairOutcome changed_meanwhile{.repaired = Repaired::changed_meanwhile};

// A record of the ledger was placed after all.
inline RepairOutcome outcome_of(const LedgerEntry& entry, Placed placed) {
    RepairOutcome outcome{.changed = entry.replaces.value_or(entry.acceptance.purchase)};
    switch (placed) {
        case Placed::ordered:
            outcome.tell = TakeRecord{entry, false};
            outcome.made_order = true;
            return outcome;
        case Placed::reinstated:
            outcome.tell = TakeRecord{entry, true};
            outcome.step = {OrderState::reinstating, OrderState::paid};
            return outcome;
        case Placed::cancelled:
            outcome.tell = ReleasePurchase{entry.sale, entry.item, entry.acceptance.purchase};
            return outcome;
        case Placed::late:  // it waits for the next SEAL, or is cancelled; its unit was never taken
            return outcome;
        case Placed::known_before:
        case Placed::sealed:
            break;
    }
    return changed_meanwhile;
}

// An order was moved.
inline RepairOutcome outcome_of(const OrderMove& move) {
    RepairOutcome outcome{.step = RepairOutcome::Step{move.before.state, move.after.state},
                          .changed = move.after.purchase};
    const bool is_released =
        move.before.hold != HoldState::finished && move.after.hold == HoldState::finished;
    const bool is_sold = move.before.hold != HoldState::sold && move.after.hold == HoldState::sold;
    if (is_released) outcome.tell = ReleasePurchase{move.after.sale, move.after.item, move.after.holder};
    if (is_sold) outcome.tell = SellPurchase{move.after.sale, move.after.item, move.after.holder};
    return outcome;
}

}  // namespace doorbuster
